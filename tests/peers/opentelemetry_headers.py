"""What OpenTelemetry's propagators extract from our headers, and what we read in those they inject."""

import random
import unittest

from opentelemetry import trace
from opentelemetry.propagators.aws import AwsXRayPropagator
from opentelemetry.propagators.b3 import B3MultiFormat, B3SingleFormat
from opentelemetry.propagators.cloud_trace_propagator import CloudTraceFormatPropagator
from opentelemetry.propagators.jaeger import JaegerPropagator
from opentelemetry.sdk.trace import RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import spans
from library import Maker, now_ms, read

W3C = TraceContextTextMapPropagator()
ROUNDS = 500


def extracted(propagator, headers):
    return trace.get_current_span(propagator.extract(headers)).get_span_context()


def injected(propagator, context):
    headers = {}
    propagator.inject(headers, trace.set_span_in_context(NonRecordingSpan(context)))
    return headers


def context():
    ids = RandomIdGenerator()
    flags = TraceFlags(random.choice([TraceFlags.DEFAULT, TraceFlags.SAMPLED]))
    return SpanContext(ids.generate_trace_id(), ids.generate_span_id(), is_remote=False, trace_flags=flags)


class Headers(unittest.TestCase):
    def test_our_traceparents_are_extracted(self):
        make = Maker("traceparent")
        for _ in range(ROUNDS):
            ours = make(now_ms())
            span = extracted(W3C, {"traceparent": ours})
            self.assertTrue(span.is_valid and span.trace_flags.sampled, ours)
            self.assertEqual(ours, f"00-{span.trace_id:032x}-{span.span_id:016x}-03")

    def test_their_traceparents_are_read_and_passed_on(self):
        make_span = Maker("span_id")
        for _ in range(ROUNDS):
            theirs = context()
            header = injected(W3C, theirs)["traceparent"]
            parts = read("traceparent", header)
            self.assertEqual(int(parts["trace_id"], 16), theirs.trace_id)
            self.assertEqual(int(parts["span_id"], 16), theirs.span_id)
            self.assertEqual(parts["sampled"], theirs.trace_flags.sampled)

            child = header[:36] + make_span(now_ms()) + header[52:]
            span = extracted(W3C, {"traceparent": child})
            self.assertEqual(span.trace_id, theirs.trace_id)
            self.assertNotEqual(span.span_id, theirs.span_id)
            self.assertEqual(span.trace_flags.sampled, theirs.trace_flags.sampled)

    def test_what_they_take_for_no_traceparent_we_do_not_take_for_one(self):
        good = injected(W3C, context())["traceparent"]
        for bad in [good + "-", "ff" + good[2:], good.replace("-", "_"), good[:-1], "", good[:3] + "0" * 32 + good[35:],
                    good[:36] + "0" * 16 + good[52:]]:
            self.assertFalse(extracted(W3C, {"traceparent": bad}).is_valid, bad)
            self.assertIsNone(read("traceparent", bad), bad)

    def test_trace_ids_of_every_kind_are_extracted(self):
        make_span = Maker("span_id")
        makers = [Maker("otel_trace_id"), Maker("trace_id"), Maker("trace_host_id", "address=10.0.0.7")]
        for _ in range(ROUNDS):
            span_id = make_span(now_ms())
            for trace_id in [make(now_ms()) for make in makers]:
                span = extracted(W3C, {"traceparent": f"00-{trace_id}-{span_id}-01"})
                self.assertEqual((f"{span.trace_id:032x}", f"{span.span_id:016x}"), (trace_id, span_id))
                span = extracted(B3SingleFormat(), {"b3": f"{trace_id}-{span_id}-1"})
                self.assertEqual((f"{span.trace_id:032x}", f"{span.span_id:016x}"), (trace_id, span_id))
                self.assertTrue(span.trace_flags.sampled)

    def test_their_b3_headers_are_read(self):
        for _ in range(ROUNDS):
            theirs = context()
            sampled = "1" if theirs.trace_flags.sampled else "0"
            single = injected(B3SingleFormat(), theirs)["b3"]
            several = injected(B3MultiFormat(), theirs)
            joined = f"{several['x-b3-traceid']}-{several['x-b3-spanid']}-{several['x-b3-sampled']}"
            for header in [single, joined]:
                parts = read("b3", header)
                self.assertIsNotNone(parts, header)
                self.assertEqual(int(parts["trace_id"], 16), theirs.trace_id)
                self.assertEqual(int(parts["span_id"], 16), theirs.span_id)
                self.assertEqual(parts["sampled"], sampled)

    def test_headers_of_others_go_on(self):
        for kind, name, propagator in [
            ("aws", "X-Amzn-Trace-Id", AwsXRayPropagator()), ("gcp", "x-cloud-trace-context", CloudTraceFormatPropagator()),
            ("jaeger", "uber-trace-id", JaegerPropagator()),
        ]:
            reader = spans.Reader(kind)
            for _ in range(ROUNDS):
                theirs = context()
                header = injected(propagator, theirs)[name]
                sampled = str(int(theirs.trace_flags.sampled))
                self.assertEqual(reader.read(header), (f"{theirs.trace_id:032x}", f"{theirs.span_id:016x}", sampled), header)

                ours = reader.span(header)
                again = extracted(propagator, {name: spans.written(ours, kind)})
                self.assertEqual((again.trace_id, f"{again.span_id:016x}"), (theirs.trace_id, ours.span_id.decode()), header)
                self.assertEqual(again.trace_flags.sampled, theirs.trace_flags.sampled)
