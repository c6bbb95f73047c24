// Ids from libtxid by koffi, for programs with txid-agent on their host: npm install koffi; node ids.mjs [DIRECTORY [COUNT]]

import { pathToFileURL } from "node:url";
import koffi from "koffi";

const MESSAGE_LEN = 1024;
const NODE_LEASED = -1;
const lib = koffi.load("libtxid.so.2");
const clockMs = lib.func("int64_t txid_clock_ms()");
const coarseMs = lib.func("int64_t txid_clock_coarse_ms()");
const fillNow = lib.func("void txid_fill_now(uint8_t *buf, int64_t clock_ms)");
const openSnowflakes = lib.func("int32_t txid_snowflake_open(const char *layout, size_t layout_len, int64_t node, const char *path, "
    + "size_t path_len, uint64_t max_drift_ms, _Out_ void **generator, uint8_t *message)");
const nextSnowflake = lib.func("int64_t txid_snowflake_next(void *generator, int64_t clock_ms, uint8_t *message)");
const openSegment = lib.func("int32_t txid_segment_open(const char *path, size_t path_len, _Out_ void **segment, "
    + "uint8_t *message)");
const nextOfSegment = lib.func("int64_t txid_segment_next(void *segment, uint8_t *message)");

// JavaScript runs one call at a time, so all may share these.
const text = Buffer.alloc(20);
const message = Buffer.alloc(MESSAGE_LEN);

function checked(result) {
    if (result < 0) {
        throw new Error(message.toString("utf8", 0, message.indexOf(0)));
    }
    return result;
}

export function txid() {
    fillNow(text, clockMs());
    return text.toString("latin1");
}

// A function that returns the next id, a BigInt: only those of the layout snowflake53 fit a Number.
export function snowflakes(path, layout = "snowflake") {
    const handle = [null];
    checked(openSnowflakes(layout, Buffer.byteLength(layout), NODE_LEASED, path, Buffer.byteLength(path), 10000, handle, message));
    return () => BigInt(checked(nextSnowflake(handle[0], coarseMs(), message)));
}

// A function that returns the next number.
export function segment(path) {
    const handle = [null];
    checked(openSegment(path, Buffer.byteLength(path), handle, message));
    return () => BigInt(checked(nextOfSegment(handle[0], message)));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [directory = "/run/txid", count = "1"] = process.argv.slice(2);
    try {
        const [order, invoice] = [snowflakes(`${directory}/orders`), segment(`${directory}/invoices.segment`)];
        for (let i = 0; i < count; i++) {
            console.log(`${txid()} ${order()} ${invoice()}`);
        }
    } catch (error) {
        console.error(`ids.mjs: ${error.message}`);
        process.exitCode = 1;
    }
}
