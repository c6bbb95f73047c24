"""samplers.py ROOT NGINX NODE_DIRECTORY: has nginx make traces, asks the samplers, and writes README.md, here."""

import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from through_nginx import WORKERS, logged

COUNT = int(os.environ.get("COUNT", 1_000_000))
RATIOS = [0.01, 0.1, 0.5]
SIGMAS = 4

# As a control: a right half that is not random, with a variant in it.
BENT = ["UUID v7"]
KINDS = {
    "random": ("txid_trace_ids random;", "$txid_traceparent"),
    "sorted_seconds": ("txid_trace_ids sorted_seconds;", "$txid_traceparent"),
    "sorted": ("txid_trace_ids sorted;", "$txid_traceparent"),
    "UUID v7": ("", "00-$txid_uuid_v7-$txid_span_id-03"),
}


def by_python(ids):
    samplers = [TraceIdRatioBased(ratio) for ratio in RATIOS]
    numbers = [int(an_id, 16) for an_id in ids]
    return [sum(sampler.should_sample(None, number, "").decision.is_sampled() for number in numbers) for sampler in samplers]


def by_javascript(ids, node):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("\n".join(ids))
        file.flush()
        words = ["node", f"{node}/samplers.mjs", file.name, *map(str, RATIOS)]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def by_left_half(ids):
    """What OpenTelemetry's sampler for C++ does, by its source: compare the first 64 bits."""
    return [sum(int(an_id[:16], 16) <= ratio * (2**64 - 1) for an_id in ids) for ratio in RATIOS]


def deviation(kept, ratio):
    return (kept - COUNT * ratio) / math.sqrt(COUNT * ratio * (1 - ratio))


def main(root, nginx, node):
    traces = logged(root, nginx, KINDS, COUNT)
    rows, wrong = [], []
    for kind, ids in traces.items():
        for sampler, kept in [
            ("Python", by_python(ids)), ("JavaScript", by_javascript(ids, node)), ("left half", by_left_half(ids)),
        ]:
            deviations = [deviation(number, ratio) for number, ratio in zip(kept, RATIOS)]
            cells = " | ".join(f"{number:,} ({sigmas:+,.1f})" for number, sigmas in zip(kept, deviations))
            rows.append(f"| {kind} | {sampler} | {cells} |")
            is_bent = any(abs(sigmas) > SIGMAS for sigmas in deviations)
            # JavaScript's is hardly bent by anything, so it shows nothing about those.
            is_asked = sampler == "Python" or sampler == "JavaScript" and kind not in BENT
            if is_asked and is_bent != (kind in BENT):
                wrong.append(f"{kind} by {sampler}: {deviations}")
    document = pathlib.Path(__file__).parent / "README.md"
    head, _, rest = document.read_text().partition("<!-- measured -->\n")
    _, _, tail = rest.partition("<!-- /measured -->\n")
    versions = f"opentelemetry-sdk {importlib.metadata.version('opentelemetry-sdk')} of PyPI and @opentelemetry/sdk-trace-base " \
        f"{json.loads(pathlib.Path(node, 'node_modules/@opentelemetry/sdk-trace-base/package.json').read_text())['version']} of npm"
    ratios = " | ".join(f"{ratio:g}" for ratio in RATIOS)
    table = "\n".join([f"| ids | sampler | {ratios} |", f"|---|---|{'--:|' * len(RATIOS)}", *rows])
    document.write_text(f"""{head}<!-- measured -->
Written by `bench/studies/samplers/run.sh` on {datetime.date.today()}: {COUNT:,} traces of each kind from {WORKERS} workers of nginx, and how many of them the
samplers of {versions} keep; in parentheses, how far that is
from the ratio, in standard deviations. The rows "left half" are computed: as C++ compares the first 64 bits.

{table}
<!-- /measured -->
{tail}""")
    print(table)
    if wrong:
        sys.exit(f"samplers: not what was expected of {SIGMAS} standard deviations: " + "; ".join(wrong))


main(*sys.argv[1:])
