"""service.py PORT: as service.mjs, with OpenTelemetry's SDK for Python and its default sampler, which follows the parent: 1.45.2 does not tell
those of _sampling_experimental the parent's tracestate."""

import http.server
import json
import sys

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

EXPORTER = InMemorySpanExporter()
PROVIDER = TracerProvider()
PROVIDER.add_span_processor(SimpleSpanProcessor(EXPORTER))
TRACER = PROVIDER.get_tracer("service")
PROPAGATOR = TraceContextTextMapPropagator()


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b""
        if self.path == "/exported":
            body = json.dumps([span.context.trace_state.to_header() for span in EXPORTER.get_finished_spans()]).encode()
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            TRACER.start_span("request", PROPAGATOR.extract(headers)).end()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
