// javascript.mjs FILE KIND: prints what OpenTelemetry's propagators for JavaScript read in the headers in FILE, one in hexadecimal a
// line: a line of trace, parent and flags for each, or "-".
import { readFileSync } from "node:fs";
import { ROOT_CONTEXT, defaultTextMapGetter, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { B3Propagator } from "@opentelemetry/propagator-b3";
import { JaegerPropagator } from "@opentelemetry/propagator-jaeger";
import { AWSXRayPropagator } from "@opentelemetry/propagator-aws-xray";
import { CloudPropagator } from "@google-cloud/opentelemetry-cloud-trace-propagator";

const [file, kind] = process.argv.slice(2);
const [name, propagator] = {
    aws: ["x-amzn-trace-id", new AWSXRayPropagator()],
    gcp: ["x-cloud-trace-context", new CloudPropagator()],
    traceparent: ["traceparent", new W3CTraceContextPropagator()],
    b3_single: ["b3", new B3Propagator()],
    jaeger: ["uber-trace-id", new JaegerPropagator()],
}[kind];
const lines = readFileSync(file, "latin1").split("\n").slice(0, -1).map((line) => {
    const header = Buffer.from(line, "hex").toString("latin1");
    const context = propagator.extract(ROOT_CONTEXT, { [name]: header }, defaultTextMapGetter);
    const span = trace.getSpanContext(context);
    return span ? `${span.traceId} ${span.spanId} ${span.traceFlags & 1}` : "-";
});
console.log(lines.join("\n"));
