"""propagators.py NGINX NODE_DIRECTORY: asks all readers, names each difference, and writes README.md, here."""

import collections
import datetime
import importlib.metadata
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

from opentelemetry import trace
from opentelemetry.propagators.aws import AwsXRayPropagator
from opentelemetry.propagators.b3 import B3SingleFormat
from opentelemetry.propagators.cloud_trace_propagator import CloudTraceFormatPropagator
from opentelemetry.propagators.jaeger import JaegerPropagator
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import differences
import headers

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tests/peers"))
import spans  # noqa: E402

COUNT = int(os.environ.get("COUNT", 10_000))
SEED = int(os.environ.get("TXID_SEED", 1))
PYTHON = {
    "aws": ("X-Amzn-Trace-Id", AwsXRayPropagator()),
    "gcp": ("x-cloud-trace-context", CloudTraceFormatPropagator()),
    "traceparent": ("traceparent", TraceContextTextMapPropagator()),
    "b3_single": ("b3", B3SingleFormat()),
    "jaeger": ("uber-trace-id", JaegerPropagator()),
}
HERE = pathlib.Path(__file__).resolve().parent


def by_ddtrace(texts):
    """Datadog's own."""
    os.environ |= {"DD_TRACE_ENABLED": "false", "DD_INSTRUMENTATION_TELEMETRY_ENABLED": "false", "DD_REMOTE_CONFIGURATION_ENABLED": "false",
                   "DD_TRACE_PROPAGATION_STYLE": "datadog"}
    from ddtrace.propagation.http import HTTPPropagator

    def read(text):
        names = ["x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-tags"]
        values = zip(names, headers.fields("datadog", text))
        span = HTTPPropagator.extract({name: value for name, value in values if value is not None})
        if not span.trace_id:
            return None
        priority = span.sampling_priority
        return (f"{span.trace_id:032x}", f"{span.span_id or 0:016x}", "?" if priority is None else str(int(priority > 0)))

    return [read(text) for text in texts]


def by_python(kind, texts):
    if kind == "datadog":
        return by_ddtrace(texts)
    name, propagator = PYTHON[kind]

    def read(text):
        span = trace.get_current_span(propagator.extract({name: text})).get_span_context()
        return (f"{span.trace_id:032x}", f"{span.span_id:016x}", str(int(span.trace_flags.sampled))) if span.is_valid else None

    return [read(text) for text in texts]


def printed(lines):
    return [None if line == "-" else tuple(line.lower().split(" ")) for line in lines]


def by_javascript(kind, file, node):
    words = ["node", "--no-deprecation", f"{node}/javascript.mjs", file, kind]
    run = subprocess.run(words, check=True, capture_output=True, text=True)
    return printed(run.stdout.removesuffix("\n").split("\n"))


def by_kong(kind, file, nginx, source):
    """In the init_by_lua of an nginx that then ends."""
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "logs").mkdir()
        modules = subprocess.run(["sh", "-c", ". scripts/nginx.sh; echo $modules"], check=True, capture_output=True, text=True,
                                 cwd=HERE.parents[2], env=os.environ | {"wanted": "ndk_http_module ngx_http_lua_module"}).stdout.split()
        pathlib.Path(directory, "nginx.conf").write_text("".join(f"load_module {module};\n" for module in modules) + f"""daemon off;
events {{ }}
http {{
    lua_package_path '{HERE}/?.lua;;';
    init_by_lua_block {{ require("kong")("{source}", "{file}", "{kind}", "{directory}/out") os.exit(0) }}
}}
""")
        words = [nginx, "-p", f"{directory}/", "-c", "nginx.conf", "-e", "error.log"]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr + pathlib.Path(directory, "error.log").read_text())
        return printed(pathlib.Path(directory, "out").read_text().splitlines())


def versions(node, kong):
    python = [f"{name} {importlib.metadata.version(name)}" for name in
              ("opentelemetry-api", "opentelemetry-propagator-aws-xray", "opentelemetry-propagator-b3", "opentelemetry-propagator-gcp",
               "opentelemetry-propagator-jaeger", "ddtrace")]
    packages = json.loads(pathlib.Path(node, "package.json").read_text())["dependencies"]
    javascript = [f"{name} {version}" for name, version in packages.items()]
    lines = [f"Python: {', '.join(python)} of PyPI", f"JavaScript: {', '.join(javascript)} of npm"]
    if kong:
        lines.append("Kong: its extractors, in nginx, with stand-ins for Penlight, the log and OpenSSL's large numbers")
    if "XRAY_GO" in os.environ:
        lines.append("Go: `propagators/aws/xray/propagator.go` of opentelemetry-go-contrib")
    return "\n".join(textwrap.fill(f"- {line}.", 130, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


def main(nginx, node):
    kong = os.environ.get("KONG_SRC")
    logging.disable()
    sections, unnamed = [], []
    for kind in [*PYTHON, "datadog"]:
        texts = headers.headers(kind, COUNT, SEED)
        reader = spans.Reader(kind)
        read = [reader.read(*headers.fields(kind, text)) for text in texts]
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(text.encode("latin-1").hex() + "\n" for text in texts))
            file.flush()
            theirs = {"Python": by_python(kind, texts)}
            if kind != "datadog":
                theirs["JavaScript"] = by_javascript(kind, file.name, node)
            if kong:
                theirs["Kong"] = by_kong(kind, file.name, nginx, kong)
            if kind == "aws" and "XRAY_GO" in os.environ:
                run = subprocess.run([os.environ["XRAY_GO"], file.name], check=True, capture_output=True, text=True)
                theirs["Go"] = printed(run.stdout.splitlines())
        counts = collections.defaultdict(collections.Counter)
        for name, answers in theirs.items():
            assert len(answers) == len(texts), (name, kind)
            for text, mine, answer in zip(texts, read, answers):
                difference = differences.named(kind, text, name, mine, answer)
                if difference is None:
                    unnamed.append(f"{kind} {name}: {text!r}: {mine}, {answer}")
                else:
                    counts[difference][name] += 1
        same = counts.pop("the same")
        rows = [f"| | {' | '.join(theirs)} |", f"|---|{'--:|' * len(theirs)}",
                f"| **the same** | {' | '.join(f'{same[name]:,}' for name in theirs)} |"]
        for difference in sorted(counts, key=lambda difference: (-sum(counts[difference].values()), difference)):
            cells = [f"{counts[difference][name]:,}" if counts[difference][name] else "" for name in theirs]
            rows.append(f"| {difference} | {' | '.join(cells)} |")
        valid = sum(span is not None for span in read)
        sections.append(f"### `{kind}`\n\nWe read {valid:,} of {COUNT:,}.\n\n" + "\n".join(rows))
        print(sections[-1], "\n")
    if unnamed:
        sys.exit("\n".join([*unnamed[:int(os.environ.get("SHOW", 40))], f"{len(unnamed)} differences have no name"]))
    document = HERE / "README.md"
    head, _, rest = document.read_text().partition("<!-- measured -->\n")
    _, _, tail = rest.partition("<!-- /measured -->\n")
    document.write_text(f"""{head}<!-- measured -->
Written by `bench/studies/propagators/run.sh` on {datetime.date.today()}: {COUNT:,} headers of each kind, seed {SEED}, read by

{versions(node, kong)}

""" + "\n\n".join(sections) + f"\n<!-- /measured -->\n{tail}")


main(*sys.argv[1:])
