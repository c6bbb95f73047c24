// samplers.mjs FILE RATIO...: prints how many of the traces in FILE, one id a line, OpenTelemetry's sampler for JavaScript keeps
// with each ratio.
import { readFileSync } from "node:fs";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-base";

const [file, ...ratios] = process.argv.slice(2);
const ids = readFileSync(file, "latin1").trimEnd().split("\n");
const kept = ratios.map((ratio) => {
    const sampler = new TraceIdRatioBasedSampler(Number(ratio));
    return ids.filter((id) => sampler.shouldSample(undefined, id).decision === SamplingDecision.RECORD_AND_SAMPLED).length;
});
console.log(JSON.stringify(kept));
