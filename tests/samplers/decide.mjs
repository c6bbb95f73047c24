// decide.mjs FILE RATIO: decides about each trace in FILE, whose lines are ID,DECISION,TRACESTATE, with OpenTelemetry's sampler for
// JavaScript. Prints the lines about which it says something else.
import { readFileSync } from "node:fs";
import { ROOT_CONTEXT, TraceFlags, createTraceState, trace } from "@opentelemetry/api";
import { createComposableProbabilitySampler, createCompositeSampler } from "@opentelemetry/sampler-composite";
import { SamplingDecision } from "@opentelemetry/sdk-trace-base";

const [file, ratio] = process.argv.slice(2);
const sampler = createCompositeSampler(createComposableProbabilitySampler(Number(ratio)));
for (const line of readFileSync(file, "latin1").trimEnd().split("\n")) {
    const [id, decision, state] = line.split(",");
    // The random value, where there is one, is that of the parent.
    const value = /rv:\w+/.exec(state);
    const parent = value && { traceId: id, spanId: "1".repeat(16), traceFlags: TraceFlags.NONE, traceState: createTraceState(`ot=${value}`) };
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const result = sampler.shouldSample(context, id, "", 0, {}, []);
    const says = result.decision === SamplingDecision.RECORD_AND_SAMPLED ? "1" : "0";
    const own = result.traceState?.get("ot");
    if (says !== decision || (own ? `ot=${own}` : "-") !== state) {
        console.log(`${line}: ${says}, ${own}`);
    }
}
