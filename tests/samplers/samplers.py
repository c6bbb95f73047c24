"""Whether others' samplers decide as txid_sample does, and whether their libraries read its decision."""

import json
import math
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gateways"))
import servers
from ddtrace.propagation.http import HTTPPropagator
from opentelemetry import trace
from opentelemetry.sdk.trace import _sampling_experimental as sampling
from servers import ROOT, Case, ask, free_port
from through_nginx import logged

COUNT = int(os.environ.get("COUNT", 1_000_000))
REQUESTS = 100_000
NGINX = os.environ["TXID_NGINX"]
NODE = pathlib.Path(os.environ["TXID_NODE"])
RATIOS = {"100%": 1, "50%": 0.5, "1/3": 1 / 3, "25%": 0.25, "10%": 0.1, "1%": 0.01, "0.1%": 0.001}
LOGGED = "$txid_trace_id,$txid_trace_sampled,$txid_tracestate"


def by_python(ratio, traces):
    """The traces about which OpenTelemetry's sampler for Python says something else."""
    sampler = sampling.composite_sampler(sampling.composable_traceid_ratio_based(ratio))
    for line in traces:
        an_id, decision, state = line.split(",")
        # The random value, where there is one, is that of the parent.
        value = state[state.find("rv:"):] if "rv:" in state else None
        parent = trace.TraceState([("ot", value)]) if value else None
        result = sampler.should_sample(None, int(an_id, 16), "", trace_state=parent)
        own = result.trace_state.get("ot") if result.trace_state else None
        if result.decision.is_sampled() != (decision == "1") or (f"ot={own}" if own else "-") != state:
            yield f"{line}: {result.decision}, {own}"


def by_javascript(ratio, traces, directory):
    file = directory / "traces"
    file.write_text("\n".join(traces) + "\n")
    words = ["node", str(NODE / "decide.mjs"), str(file), repr(ratio)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


class Decisions(Case, unittest.TestCase):
    def check(self, ratio, traces):
        self.assertEqual(list(by_python(ratio, traces))[:10], [])
        self.assertEqual(by_javascript(ratio, traces, self.directory)[:10], [])

    def test_the_same_decision_for_each_id_at_each_ratio(self):
        for text, ratio in RATIOS.items():
            for ids in ["random", "sorted_seconds", "sorted"] if text == "50%" else ["random"]:
                with self.subTest(text, ids=ids):
                    directives = f"txid_trace traceparent; txid_trace_ids {ids}; txid_sample {text};"
                    traces = logged(ROOT, NGINX, {text: (directives, LOGGED)}, COUNT)[text]
                    self.check(ratio, traces)
                    kept = sum(line.split(",")[1] == "1" for line in traces)
                    print(f"{text} of {COUNT:,} {ids}: {kept:,}", end="; ", flush=True)

    def test_the_same_decision_where_the_id_is_not_random(self):
        port, log = free_port(), self.directory / "not-random.log"
        self.nginx("not-random", f"""
log_format traces '{LOGGED}';
server {{
    listen 127.0.0.1:{port};
    access_log {log} traces;
    txid_accept all; txid_trace traceparent aws; txid_trace_id_header X-Trace-Id; txid_sample 25%;
    return 204;
}}""")
        for number in range(1, 1001):
            an_id = f"{number:032x}"
            ask(port, f"X-Trace-Id: {an_id}" if number % 2 else f"X-Amzn-Trace-Id: Root=1-{an_id[:8]}-{an_id[8:]}")
        traces = log.read_text().splitlines()
        self.assertEqual(sum("rv:" in line for line in traces), 1000)
        self.check(0.25, traces)
        # Five standard deviations.
        self.assertLess(abs(sum(",1," in line for line in traces) - 250), 5 * math.sqrt(1000 * 0.25 * 0.75))


class Services(Case, unittest.TestCase):
    def count(self, *command):
        """How many requests a service counts, by what it exports."""
        port, front = free_port(), free_port()
        self.start(*command, str(port), log=f"{port}.log", ready=lambda: servers.answers(port))
        self.nginx(f"front-of-{port}", f"""
upstream service {{ server 127.0.0.1:{port}; keepalive 16; }}
server {{
    listen 127.0.0.1:{front};
    txid_trace traceparent; txid_sample 1%;
    location / {{
        proxy_set_header traceparent $txid_traceparent;
        proxy_set_header tracestate $txid_tracestate;
        proxy_set_header Connection "";
        proxy_http_version 1.1;
        proxy_pass http://service;
    }}
}}""")
        subprocess.run(["h2load", "--h1", "-n", str(REQUESTS), "-c", "8", f"http://127.0.0.1:{front}/"], check=True,
            stdout=subprocess.DEVNULL)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/exported") as answer:
            states = json.load(answer)
        self.assertEqual(set(states), {"ot=th:fd70a3d70a3d71"})
        return len(states) * 2**56 / (2**56 - 0xFD70A3D70A3D71)

    def check(self, *command):
        deviation = math.sqrt(REQUESTS * 0.01 * 0.99) / 0.01
        # One count in 370 is further away by chance.
        for _ in range(2):
            counted = self.count(*command)
            off = (counted - REQUESTS) / deviation
            print(f"{counted:,.0f} of {REQUESTS:,} requests counted, {off:+.1f} standard deviations", end="; ", flush=True)
            if abs(off) <= 3:
                return
        self.fail(f"{off} standard deviations")

    def test_in_python(self):
        self.check(sys.executable, str(pathlib.Path(__file__).parent / "service.py"))

    def test_in_javascript(self):
        self.check("node", str(NODE / "service.mjs"))


class Libraries(Case, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = free_port()
        names = {
            "traceparent": "traceparent", "X-B3-TraceId": "trace_id", "X-B3-SpanId": "span_id", "X-B3-Sampled": "b3_sampled",
            "X-Datadog-Trace-Id": "datadog_trace_id", "X-Datadog-Parent-Id": "datadog_parent_id",
            "X-Datadog-Sampling-Priority": "datadog_sampling_priority", "X-Datadog-Tags": "datadog_tags",
        }
        lines = "\n".join(f"proxy_set_header {name} $txid_{variable};" for name, variable in names.items())
        cls.nginx("libraries", f"""
server {{
    listen 127.0.0.1:{cls.port};
    txid_trace traceparent b3 datadog; txid_sample 25%;
    location / {{ {lines} proxy_pass http://127.0.0.1:{cls.upstream.port}; }}
}}""")
        for _ in range(200):
            ask(cls.port)
        cls.sent = [dict(headers) for headers in cls.upstream.seen["/"]]
        cls.expected = [(headers["traceparent"][3:35], headers["traceparent"][-2:] == "03") for headers in cls.sent]
        assert len({is_sampled for _, is_sampled in cls.expected}) == 2

    def test_datadogs(self):
        for headers, (an_id, is_sampled) in zip(self.sent, self.expected):
            context = HTTPPropagator.extract({name: value for name, value in headers.items() if name.startswith("x-datadog-")})
            self.assertEqual((f"{context.trace_id:032x}", context.sampling_priority), (an_id, int(is_sampled)))
            self.assertEqual((context._meta["_dd.p.ksr"], context._meta.get("_dd.p.dm")), ("0.25", "-1" if is_sampled else None))
            self.assertNotIn("_dd.propagation_error", context._meta)

    def test_zipkins(self):
        lists = "".join(json.dumps(list(headers.items())) + "\n" for headers in self.sent)
        words = ["node", str(NODE / "zipkin.mjs")]
        said = subprocess.run(words, input=lists, check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(said, [f"{an_id} {int(is_sampled)}" for an_id, is_sampled in self.expected])
