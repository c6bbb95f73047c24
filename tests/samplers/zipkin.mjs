// zipkin.mjs: reads lists of headers from standard input, one list of [name, value] a line, as a server with Zipkin's library for
// JavaScript, and prints the id of each trace and 1 if it is recorded.
import { createInterface } from "node:readline";
import zipkin from "zipkin";

const { ExplicitContext, Instrumentation, Tracer, option } = zipkin;
const tracer = new Tracer({ ctxImpl: new ExplicitContext(), recorder: { record() {} }, localServiceName: "service" });
const server = new Instrumentation.HttpServer({ tracer, port: 80 });
for await (const line of createInterface({ input: process.stdin })) {
    const headers = Object.fromEntries(JSON.parse(line));
    const read = (name) => (name.toLowerCase() in headers ? new option.Some(headers[name.toLowerCase()]) : option.None);
    const id = server.recordRequest("GET", "/", read);
    console.log(`${id.traceId} ${id.sampled.getOrElse("none") === true ? 1 : 0}`);
}
