"""The spans that gateways log, and those of a service behind them that has OpenTelemetry's SDK: each has its parent, and its time in that
of the parent. OpenTelemetry's own parser reads each line, and its Collector ships them. With TXID_REQUESTS, of so many requests each."""

import base64
import contextlib
import glob
import json
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import envoy
import pages
import servers
from servers import ENVOY, Case, cluster, envoy_configuration, free_port, txid_filter

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    json_format = None

# The SDK says what is wrong with a tracestate.
logging.disable(logging.WARNING)
REQUESTS = int(os.environ.get("TXID_REQUESTS", 150))
COLLECTOR = next(glob.iglob(f"{sys.prefix}/lib/python3*/site-packages/otel_collector/bin/otelcol-contrib*"), None)
# Bytes that would end a text, a line or a file; half a character; and long ones.
PATHS = [b"/", b'/"\\', b"/\xff\xc3", "/\u2028é".encode(), b"/%00%0a", b"/" + b"a" * 5000, b"/500", b"/retried", b"/slow"]


def serve(handler):
    handler.log_message = lambda *_: None
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # Clients that have gone are no error.
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def service():
    """A service, and the spans that it ends before it answers."""
    exporter, provider, propagator = InMemorySpanExporter(), TracerProvider(), TraceContextTextMapPropagator()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("service")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            with tracer.start_as_current_span("work", propagator.extract({name.lower(): value for name, value in self.headers.items()})):
                time.sleep(0.05 if self.path == "/slow" else 0)
            with contextlib.suppress(OSError):
                self.send_response(500 if self.path in ("/500", "/retried") else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

    return serve(Handler), exporter


@unittest.skipUnless(json_format, "without OpenTelemetry's packages")
class Spans(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service, cls.exporter = service()
        cls.addClassCleanup(cls.service.shutdown)
        cls.log = cls.directory / "spans.log"
        # Each host samples otherwise.
        cls.http1, cls.http2 = free_port(), free_port()
        cls.start_gateway()

    def send(self, number):
        path, host = PATHS[number % len(PATHS)], ["all", "half", "few", "variable"][number // len(PATHS) % 4]
        share = random.choice([b"0", b"50%", b"100%"])
        parent = b"traceparent: 00-%032x-%016x-01\r\ntracestate: a=\xff\r\n" % (random.getrandbits(128) | 1, random.getrandbits(64) | 1)
        head = b"GET %b HTTP/1.1\r\nHost: %b\r\nX-Share: %b\r\nUser-Agent: \xff\"\t\r\n%bConnection: close\r\n\r\n"
        with servers.connect(self.http1, "127.0.0.2") as connection:
            connection.sendall(head % (path, host.encode(), share, parent if number % 3 == 0 else b""))
            # Some do not wait for an answer.
            while number % 10 != 9 and connection.recv(65536):
                pass

    def spans(self):
        """By their ids, of all lines."""
        spans = {}
        for line in self.log.read_bytes().splitlines():
            found = json_format.Parse(line.decode(), ExportTraceServiceRequest(), ignore_unknown_fields=False)
            [[[span]]] = [[scope.spans for scope in of.scope_spans] for of in found.resource_spans]
            # As protobuf takes them for Base64.
            ids = [base64.b64encode(id).decode() for id in (span.trace_id, span.span_id)]
            self.assertRegex(" ".join(ids), "^[0-9a-f]{32} [0-9a-f]{16}$")
            self.assertNotIn(ids[1], spans, "a span is logged once")
            spans[ids[1]] = (ids[0], span)
        return spans

    def test_each_span_has_its_parent(self):
        threads = [threading.Thread(target=lambda first=first: [self.send(number) for number in range(first, REQUESTS, 4)]) for first in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        subprocess.run(["h2load", "-n", str(REQUESTS // 5), "-c", "4", "-t", "1", f"http://127.0.0.1:{self.http2}/"], check=True, stdout=subprocess.DEVNULL)
        # Where half are sampled, it may take some.
        last = lambda: servers.ask(self.http1, common=("Host: all", "Connection: close"), path="/last") and b"/last" in self.log.read_bytes()
        servers.wait_for(last, "the last line")
        servers.wait_for(lambda: all(f"{span.parent.span_id:016x}" in self.log.read_text() for span in self.exporter.get_finished_spans() if span.parent), "the parents")
        spans, children = self.spans(), self.exporter.get_finished_spans()
        self.assertGreater(len(children), REQUESTS // 4)
        self.assertGreater(len(spans), REQUESTS // 4)
        for child in children:
            self.assertIsNotNone(child.parent, "the gateway has sent a trace")
            trace_id, parent = spans[f"{child.parent.span_id:016x}"]
            self.assertEqual(trace_id, f"{child.context.trace_id:032x}")
            self.assertGreaterEqual(child.start_time, parent.start_time_unix_nano)
            status = {attribute.key: attribute.value.int_value for attribute in parent.attributes}.get("http.response.status_code", 0)
            # A gateway ends with a client that has gone, and the service then ends later.
            if status not in (0, 499):
                self.assertLessEqual(child.end_time, parent.end_time_unix_nano)


class NativeSpans(Spans, unittest.TestCase):
    modules = [os.environ.get("TXID_NGINX_MODULE", servers.ROOT / "target/nginx/ngx_http_txid_module.so")]
    BEGINNING = "log_format otlp escape=none $txid_otlp; txid_accept 127.0.0.2/32; txid_trace traceparent; txid_handle on;"
    LINE = "$txid_otlp"
    SHARES = {"all": "", "half": "txid_sample 50%;", "few": "txid_sample 1%;", "variable": "txid_sample $http_x_share;"}

    @classmethod
    def start_gateway(cls):
        up = f"server 127.0.0.1:{cls.service.server_address[1]} max_fails=0;"
        listen = f"listen 127.0.0.1:{cls.http1}; listen 127.0.0.1:{cls.http2} http2;"
        passes = "location / { proxy_pass http://up; } location = /retried { proxy_next_upstream http_500; proxy_pass http://up; }"
        hosts = "".join(f"server {{ {listen} server_name {name}; access_log {cls.log} otlp if={cls.LINE}; {share} {passes} }}\n" for name, share in cls.SHARES.items())
        cls.nginx("gateway", f"upstream up {{ {up} {up} }}\n{cls.BEGINNING}\n{hosts}", True, cls.modules)

    @unittest.skipUnless(COLLECTOR, "without the Collector")
    def test_the_files_of_the_page_ship_each_line(self):
        got = set()

        class Store(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                got.update(record["body"]["stringValue"] for of in body["resourceLogs"] for scope in of["scopeLogs"] for record in scope["logRecords"])
                self.send_response(200)
                self.end_headers()

        store = serve(Store)
        self.addClassCleanup(store.shutdown)
        port, service, logs = free_port(), self.service.server_address[1], self.directory / "page/logs"
        page = (servers.ROOT / "docs/spans.md").read_text()
        [collector] = pages.blocks("spans.md")
        http, collector = re.search(r"^http \{\n(.*?)^\}$", page, re.M | re.S)[1], json.dumps(collector)
        for theirs, ours in [("listen 8080", f"listen 127.0.0.1:{port}"), (":3000", f":{service}"), ("/var/log/nginx", "logs"), ("txid_sample 10%;", "")]:
            self.assertIn(theirs, http)
            http = http.replace(theirs, ours)
        self.nginx("page", http, True, self.modules)
        for theirs, ours in [("/var/log/nginx", str(logs)), ("http://tempo:4318", f"http://127.0.0.1:{store.server_address[1]}")]:
            self.assertIn(theirs, collector)
            collector = collector.replace(theirs, ours)
        collector = json.loads(collector)
        # That of PyPI has no connector, so the store gets lines.
        del collector["connectors"]
        collector["exporters"]["otlphttp"].update(encoding="json", compression="none")
        collector["service"] = {"telemetry": {"metrics": {"level": "none"}}, "pipelines": {"logs": {"receivers": ["filelog"], "exporters": ["otlphttp"]}}}
        path = self.write("collector.json", json.dumps(collector))
        self.start(COLLECTOR, "--config", path, log="collector.log", ready=lambda: "Everything is ready" in (self.directory / "collector.log").read_text())
        for turn in range(3):
            for _ in range(REQUESTS // 6):
                for path in ("/", "/orders/7"):
                    servers.ask(port, path=path)
            # As logrotate does, a day after it was read.
            servers.wait_for(lambda turn=turn: len(got) >= REQUESTS // 6 * 2 * turn, "the lines of the file before")
            if turn > 0:
                shutil.move(logs / "spans.log.1", logs / f"old.{turn}")
            shutil.move(logs / "spans.log", logs / "spans.log.1")
            os.kill(int((logs / "nginx.pid").read_text()), signal.SIGUSR1)
            servers.wait_for((logs / "spans.log").exists, "the new file")
        lines = lambda: [line for path in [*logs.glob("spans.log*"), *logs.glob("old.*")] for line in path.read_text().splitlines()]
        servers.wait_for(lambda: len(got) == len(lines()) == REQUESTS // 6 * 6, "all lines in the store")
        self.assertEqual(sorted(got), sorted(lines()))
        self.assertEqual(len(got) // 2, sum('"name":"GET /orders/{id}"' in line for line in got))


class LuaSpans(NativeSpans):
    modules, LINE = [], "$span_line"
    SHARES = dict.fromkeys(["all", "half", "few", "variable"], "")
    BEGINNING = """
init_by_lua_block { require("resty.txid.request").configure { accept = { "127.0.0.2/32" }, trace = "traceparent", sample = "$share" } }
map $host $share { all 100%; half 50%; few 1%; variable $http_x_share; }
map "" $span_line { default ""; }
log_format otlp escape=none $span_line;
rewrite_by_lua_block { require("resty.txid.request").handle() }
log_by_lua_block {
    ngx.var.span_line = require("resty.txid.request").span_line { service = "shop", attributes = { ["http.route"] = "/", n = 5 } } or ""
}
"""
    test_the_files_of_the_page_ship_each_line = None


@unittest.skipUnless(ENVOY and json_format, "without Envoy")
class EnvoySpans(Spans, envoy.EnvoyCase):
    @classmethod
    def start_gateway(cls):
        [log] = pages.example("spans.yml")["access_log"]
        log["typed_config"]["path"] = str(cls.log)
        retry = {"retry_on": "5xx", "num_retries": 1}
        routes = [{"match": {"path": "/retried"}, "route": {"cluster": "up", "retry_policy": retry}}, *envoy.PROXY]
        filters = [txid_filter('{ accept = { "127.0.0.2/32" }, trace = { "traceparent" }, sample = "50%" }')]
        text = envoy_configuration([cls.http1, cls.http2], [cluster("up", cls.service.server_address[1])], routes, filters, access_log=[log])
        cls.envoy("spans", text, cls.http1)


if __name__ == "__main__":
    unittest.main()
