// service.mjs PORT: a service with OpenTelemetry's SDK for JavaScript. Its spans follow the parent's threshold, and /exported has the
// tracestates of those that it exports.
import { createServer } from "node:http";
import { ROOT_CONTEXT, defaultTextMapGetter } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import * as composite from "@opentelemetry/sampler-composite";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

const exporter = new InMemorySpanExporter();
const sampler = composite.createCompositeSampler(
    composite.createComposableParentThresholdSampler(composite.createComposableAlwaysOnSampler()));
const provider = new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("service");
const propagator = new W3CTraceContextPropagator();
createServer((request, response) => {
    if (request.url === "/exported") {
        response.end(JSON.stringify(exporter.getFinishedSpans().map((span) => span.spanContext().traceState?.serialize() ?? "")));
        return;
    }
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
    tracer.startSpan("request", {}, parent).end();
    response.end();
}).listen(Number(process.argv[2]), "127.0.0.1");
