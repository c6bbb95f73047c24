// Reads ids, in browsers and in Node: import { read } from "./txid.js". docs/formats.md describes the formats.
//
// An id has `format`, `text` (as it is written), `ms` (since 1970, a number, or its digits if that cannot hold it, or null), `fields`
// (by name), and, if it is one number, `bits` (in hexadecimal) and `layout` (names and widths from the highest bits on).


export class FormatError extends Error {
    // `reason` is "length", "character", "last_character" or "value"; `position` counts from 1.
    constructor(reason, message, position = null) {
        super(message);
        Object.assign(this, { name: "FormatError", reason, position });
    }
}


const HEX = "0123456789abcdef";
const DECIMAL = "0123456789";
const BASE32 = "0123456789abcdefghijklmnopqrstuv";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const OLDER = BASE64 + "@-";
const NEWER = BASE64 + "-_";

const GREGORIAN_MS = -12219292800000n;

// The last ones of the calendar in RFC 3339.
const FIRST_MS = -62167219200000n;
const LAST_MS = 253402300799999n;


function mask(width) {
    return (1n << BigInt(width)) - 1n;
}


// A byte as messages show it.
function shown(character) {
    const escapes = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "'": "\\'", '"': '\\"', "\\": "\\\\" };
    const code = character.codePointAt(0);
    const isPrinted = code >= 0x20 && code < 0x7f || code > 0xff;
    return escapes[character] ?? (isPrinted ? character : "\\x" + code.toString(16).padStart(2, "0"));
}


function wrongCharacter(text, index, expected) {
    const message = `character ${index + 1} is '${shown(text[index])}', not ${expected}`;
    return new FormatError("character", message, index + 1);
}


function checkLength(text, fits, expected) {
    if (!fits) {
        throw new FormatError("length", `${expected} characters, not ${text.length}`);
    }
}


// The number that digits of this alphabet write, from one index to another.
function digits(text, alphabet, expected, start = 0, end = text.length) {
    const base = BigInt(alphabet.length);
    let value = 0n;
    for (let index = start; index < end; index++) {
        const digit = alphabet.indexOf(text[index]);
        if (digit < 0) {
            throw wrongCharacter(text, index, expected);
        }
        value = value * base + BigInt(digit);
    }
    return value;
}


function hexadecimal(text, start = 0, end = text.length) {
    return digits(text, HEX, "lower-case hexadecimal", start, end);
}


function nonzero(text, start, end, what) {
    const value = hexadecimal(text, start, end);
    if (value === 0n) {
        throw new FormatError("value", `${what} must not be all zeros`);
    }
    return value;
}


function decimal(text, start, end, width, tooLarge) {
    if (start === end) {
        throw new FormatError("value", "a number is missing");
    }
    const value = digits(text, DECIMAL, "a digit", start, end);
    if (value > mask(width)) {
        throw new FormatError("value", tooLarge);
    }
    return value;
}


function expect(text, index, wanted, expected) {
    if (text[index] !== wanted) {
        throw wrongCharacter(text, index, expected);
    }
}


function written(value, alphabet, length) {
    const base = BigInt(alphabet.length);
    let text = "";
    for (let count = 0; count < length; count++) {
        text = alphabet[Number(value % base)] + text;
        value /= base;
    }
    return text;
}


function writtenHex(value, width) {
    return value.toString(16).padStart(width / 4, "0");
}


function dotted(word) {
    return [24n, 16n, 8n, 0n].map((shift) => word >> shift & 255n).join(".");
}


// The values of consecutive fields, by name.
function split(bits, layout) {
    const values = {};
    for (const [name, width] of layout.toReversed()) {
        values[name] = bits & mask(width);
        bits >>= BigInt(width);
    }
    return values;
}


function widthOf(layout) {
    return layout.reduce((sum, [, width]) => sum + width, 0);
}


const TXID = [["time", 42], ["random", 54]];


function readTxid(text) {
    if (text.length !== 20) {
        throw new FormatError("length", `an id has 20 characters, not ${text.length}`);
    }
    // Not toLowerCase, which changes other letters as well.
    const lower = text.replace(/[A-V]/g, (letter) => letter.toLowerCase());
    const bits = digits(lower, BASE32, "base32hex");
    if (bits & 15n) {
        const message = `character 20 is '${text[19]}', but the last one must be '0' or 'g'`;
        throw new FormatError("last_character", message, 20);
    }
    const { time, random } = split(bits >> 4n, TXID);
    return { text: lower, ms: time, fields: { random: writtenHex(random, 56) }, bits: bits >> 4n, layout: TXID };
}


const UUID = {
    1: [["low", 32], ["mid", 16], ["version", 4], ["high", 12], ["variant", 2], ["sequence", 14], ["node", 48]],
    4: [["random", 48], ["version", 4], ["random", 12], ["variant", 2], ["random", 62]],
    6: [["high", 32], ["mid", 16], ["version", 4], ["low", 12], ["variant", 2], ["sequence", 14], ["node", 48]],
    7: [["time", 48], ["version", 4], ["random", 12], ["variant", 2], ["random", 62]],
};
const UUID_BITS = [["bits", 128]];


function readUuid(text) {
    checkLength(text, text.length === 36, "a UUID has 36");
    for (let index = 0; index < 36; index++) {
        if ([8, 13, 18, 23].includes(index)) {
            expect(text, index, "-", "a dash");
        } else if (!/[0-9a-fA-F]/.test(text[index])) {
            throw wrongCharacter(text, index, "hexadecimal");
        }
    }
    const lower = text.toLowerCase();
    return uuidOf(hexadecimal(lower.replaceAll("-", "")), lower);
}


function uuidOf(bits, text) {
    const version = Number(bits >> 76n & 15n);
    const top = Number(bits >> 61n & 7n);
    const variant = top < 4 ? "ncs" : top < 6 ? "rfc9562" : top < 7 ? "microsoft" : "future";
    const layout = variant === "rfc9562" && UUID[version] || UUID_BITS;
    const { time, high, mid, low } = split(bits, layout);
    let ms = time ?? null;
    if (layout === UUID[1]) {
        ms = (high << 48n | mid << 32n | low) / 10000n + GREGORIAN_MS;
    } else if (layout === UUID[6]) {
        ms = (high << 28n | mid << 12n | low) / 10000n + GREGORIAN_MS;
    }
    return {
        format: layout === UUID_BITS ? "uuid" : `uuid_v${version}`,
        text, ms, fields: { version: String(version), variant }, bits, layout,
    };
}


const FLAKE = [["time", 64], ["node", 48], ["sequence", 16]];


function readFlake(text) {
    checkLength(text, text.length === 22, "a flake has 22");
    const bits = digits(text, BASE62, "base62");
    if (bits > mask(128)) {
        throw new FormatError("value", "its value has more than 128 bits");
    }
    const { time, node, sequence } = split(bits, FLAKE);
    const fields = { node: writtenHex(node, 48).match(/../g).join(":"), sequence: String(sequence) };
    return { text, ms: time, fields, bits, layout: FLAKE };
}


const XID = [["time", 32], ["machine", 24], ["pid", 16], ["counter", 24]];


function readXid(text) {
    checkLength(text, text.length === 20, "an xid has 20");
    const bits = digits(text, BASE32, "lower-case base32hex");
    if (bits & 15n) {
        throw new FormatError("value", "the last character is neither '0' nor 'g'");
    }
    const { time, machine, pid, counter } = split(bits >> 4n, XID);
    const fields = { machine: writtenHex(machine, 24), pid: String(pid), counter: String(counter) };
    return { text, ms: time * 1000n, fields, bits: bits >> 4n, layout: XID };
}


// 128 bits in the digits of Crockford, from `start` on.
function crockford(text, start, lower, expected) {
    const bits = digits(text.slice(0, start) + lower, CROCKFORD, expected, start);
    if (bits > mask(128)) {
        throw new FormatError("value", "its value has more than 128 bits");
    }
    return bits;
}


const ULID = [["time", 48], ["random", 80]];


function readUlid(text) {
    checkLength(text, text.length === 26, "a ULID has 26");
    const wrong = text.search(/[^0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]/);
    if (wrong >= 0) {
        throw wrongCharacter(text, wrong, "Crockford's base32");
    }
    const bits = crockford(text, 0, text.toLowerCase(), "");
    const { time, random } = split(bits, ULID);
    return { text: text.toUpperCase(), ms: time, fields: { random: writtenHex(random, 80) }, bits, layout: ULID };
}


const TYPEID = [["time", 48], ["version", 4], ["random", 12], ["variant", 2], ["random", 62]];


function readTypeId(text) {
    const at = text.length - 26;
    checkLength(text, at === 0 || at > 1 && at <= 64, "a TypeID has 26, or 28 to 90");
    const prefix = text.slice(0, Math.max(at - 1, 0));
    const wrong = prefix.search(/[^a-z_]/);
    if (wrong >= 0) {
        throw wrongCharacter(text, wrong, "a lower-case letter");
    }
    if (at > 0) {
        expect(text, at - 1, "_", "'_'");
    }
    if (prefix.startsWith("_") || prefix.endsWith("_")) {
        throw new FormatError("value", "the prefix begins or ends with '_'");
    }
    const bits = crockford(text, at, text.slice(at), "lower-case base32 of Crockford");
    const uuid = writtenHex(bits, 128).replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    const { ms, layout } = uuidOf(bits, uuid);
    return { text, ms, fields: { prefix, uuid }, bits, layout: layout === UUID[7] ? TYPEID : [["uuid", 128]] };
}


const KSUID = [["time", 32], ["payload", 128]];


function readKsuid(text) {
    checkLength(text, text.length === 27, "a KSUID has 27");
    const bits = digits(text, BASE62, "base62");
    if (bits > mask(160)) {
        throw new FormatError("value", "its value has more than 160 bits");
    }
    const { time, payload } = split(bits, KSUID);
    return { text, ms: (time + 1400000000n) * 1000n, fields: { payload: writtenHex(payload, 128) }, bits, layout: KSUID };
}


const OBJECT_ID = [["time", 32], ["random", 40], ["counter", 24]];


function readObjectId(text) {
    checkLength(text, text.length === 24, "an ObjectId has 24");
    const wrong = text.search(/[^0-9a-fA-F]/);
    if (wrong >= 0) {
        throw wrongCharacter(text, wrong, "hexadecimal");
    }
    const bits = hexadecimal(text.toLowerCase());
    const { time, random, counter } = split(bits, OBJECT_ID);
    const fields = { random: writtenHex(random, 40), counter: String(counter) };
    return { text: text.toLowerCase(), ms: time * 1000n, fields, bits, layout: OBJECT_ID };
}


function readCuid(text) {
    checkLength(text, text.length === 25, "a CUID has 25");
    expect(text, 0, "c", "'c'");
    digits(text, BASE36, "lower-case base36", 1);
    const fields = { counter: text.slice(9, 13), fingerprint: text.slice(13, 17), random: text.slice(17) };
    return { text, ms: digits(text, BASE36, "", 1, 9), fields };
}


function readNanoId(text) {
    checkLength(text, text.length === 21, "a Nano ID has 21");
    const wrong = text.search(/[^A-Za-z0-9_-]/);
    if (wrong >= 0) {
        throw wrongCharacter(text, wrong, "one of A-Za-z0-9_-");
    }
    return { text, ms: null, fields: {} };
}


const UNIQUE_ID = [["time", 32], ["random", 80], ["counter", 16], ["thread", 32]];
const UNIQUE_ID_SHORT = [["time", 32], ["address", 32], ["process", 32], ["counter", 16], ["thread", 32]];


function readUniqueId(text) {
    const isShort = text.length === 24;
    checkLength(text, isShort || text.length === 27, "a UNIQUE_ID has 24 or 27");
    const isOlder = isShort || text.includes("@");
    let bits = digits(text, isOlder ? OLDER : NEWER, "of Apache's base64");
    const layout = isShort ? UNIQUE_ID_SHORT : UNIQUE_ID;
    if (!isShort) {
        if (bits & 3n) {
            throw new FormatError("value", "the last character has bits that must be zero");
        }
        text = written(bits, NEWER, 27);
        bits >>= 2n;
    }
    const { time, address, process, random, counter, thread } = split(bits, layout);
    const maker = isShort ? { address: dotted(address), pid: String(process) } : { random: writtenHex(random, 80) };
    const fields = { ...maker, counter: String(counter), thread: String(thread) };
    return { format: isShort ? "unique_id_short" : "unique_id", text, ms: time * 1000n, fields, bits, layout };
}


const TRACE_ID = [["time", 41], ["sequence", 23], ["random", 64]];
const TRACE_HOST_ID = [["time", 41], ["sequence", 23], ["host", 32], ["random", 32]];


function readTraceId(text, { epoch = 0n }) {
    checkLength(text, text.length === 32, "a trace id has 32");
    const bits = hexadecimal(text);
    const { time, sequence, random } = split(bits, TRACE_ID);
    const fields = { sequence: String(sequence), random: writtenHex(random, 64) };
    return { text, ms: time + BigInt(epoch), fields, bits, layout: TRACE_ID };
}


function readTraceHostId(text, options) {
    const { ms, bits } = readTraceId(text, options);
    const { sequence, host, random } = split(bits, TRACE_HOST_ID);
    const fields = { sequence: String(sequence), host: dotted(host), random: writtenHex(random, 32) };
    return { text, ms, fields, bits, layout: TRACE_HOST_ID };
}


function readRandom(width, what) {
    const length = width / 4;
    return function (text) {
        checkLength(text, text.length === length, `${what} has ${length}`);
        return { text, ms: null, fields: {}, bits: nonzero(text, 0, length, what), layout: [["random", width]] };
    };
}


const XRAY = [["time", 32], ["random", 96]];


function writtenXray(bits) {
    return writtenHex(bits, 128).replace(/^(.{8})/, "1-$1-");
}


function readXray(text) {
    checkLength(text, text.length === 35 || text.length === 32, "an X-Ray trace id has 35 or 32");
    if (text.length === 35) {
        expect(text, 0, "1", "'1'");
        expect(text, 1, "-", "a dash");
        expect(text, 10, "-", "a dash");
        hexadecimal(text, 2, 10);
        hexadecimal(text, 11);
    }
    const plain = text.length === 35 ? text.slice(2, 10) + text.slice(11) : text;
    const bits = nonzero(plain, 0, 32, "a trace id");
    const { time, random } = split(bits, XRAY);
    return { text: writtenXray(bits), ms: time * 1000n, fields: { random: writtenHex(random, 96) }, bits, layout: XRAY };
}


const DATADOG = [["time", 32], ["zero", 32], ["random", 64]];


function readDatadog(text) {
    checkLength(text, text.length === 32, "a trace id has 32");
    const bits = nonzero(text, 0, 32, "a trace id");
    const { time, zero, random } = split(bits, DATADOG);
    if (zero !== 0n) {
        throw new FormatError("value", "the characters 9 to 16 are not zeros");
    }
    const layout = [["time", 32], ["0", 32], ["random", 64]];
    return { text, ms: time * 1000n, fields: { random: writtenHex(random, 64) }, bits, layout };
}


function readEagleId(text) {
    checkLength(text, text.length === 26, "an EagleId has 26");
    const address = dotted(hexadecimal(text, 0, 8));
    const [ms, sequence] = [[8, 21], [21, 25]].map(([start, end]) => digits(text, DECIMAL, "a digit", start, end));
    expect(text, 25, "e", "'e'");
    return { text, ms, fields: { address, sequence: String(sequence) } };
}


function readSofa(text) {
    checkLength(text, text.length >= 26 && text.length <= 35, "a SOFATracer id has 26 to 35");
    const address = dotted(hexadecimal(text, 0, 8));
    const ms = digits(text, DECIMAL, "a digit", 8, 21);
    const sequence = digits(text, DECIMAL, "a digit", 21, 25);
    if (sequence < 1000n || sequence > 9000n) {
        throw new FormatError("value", "the sequence is not from 1000 to 9000");
    }
    const pid = decimal(text, 25, text.length, 32, "the process id has more than 32 bits");
    return { text: text.slice(0, 25) + pid, ms, fields: { address, sequence: String(sequence), pid: String(pid) } };
}


function readSkyWalking(text) {
    checkLength(text, text.length >= 36 && text.length <= 64, "a SkyWalking id has 36 to 64");
    hexadecimal(text, 0, 32);
    expect(text, 32, ".", "a dot");
    const dot = text.indexOf(".", 33);
    if (dot < 0) {
        throw new FormatError("value", "a dot is missing");
    }
    const thread = decimal(text, 33, dot, 32, "the thread has more than 32 bits");
    const time = decimal(text, dot + 1, text.length, 64, "a number has more than 64 bits");
    const instance = text.slice(0, 32);
    return {
        text: `${instance}.${thread}.${time}`, ms: time / 10000n,
        fields: { instance, thread: String(thread), sequence: String(time % 10000n) },
    };
}


function readTraceparent(text) {
    checkLength(text, text.length >= 55, "a traceparent has 55 or more");
    const version = hexadecimal(text, 0, 2);
    expect(text, 2, "-", "a dash");
    if (version === 255n) {
        throw new FormatError("value", "version ff is not valid");
    }
    checkLength(text, version > 0n || text.length === 55, "a traceparent of version 00 has 55");
    nonzero(text, 3, 35, "a trace id");
    expect(text, 35, "-", "a dash");
    nonzero(text, 36, 52, "a parent id");
    expect(text, 52, "-", "a dash");
    const flags = hexadecimal(text, 53, 55);
    if (text.length > 55) {
        expect(text, 55, "-", "a dash");
    }
    const [traceId, spanId] = [text.slice(3, 35), text.slice(36, 52)];
    // Only the sampled flag is sure to have the same meaning in later versions.
    const [sampled, random] = [(flags & 1n) !== 0n, version === 0n && (flags & 2n) !== 0n];
    return {
        text: `00-${traceId}-${spanId}-0${sampled + 2 * random}`, ms: null,
        fields: { trace_id: traceId, span_id: spanId, sampled, random },
    };
}


function readB3(text) {
    const trace = { 1: 0, 33: 16, 35: 16, 52: 16, 49: 32, 51: 32, 68: 32 }[text.length];
    checkLength(text, trace !== undefined, "a b3 header has 1, 33, 35, 49, 51, 52 or 68");
    const decision = (index) => {
        if (!"01d".includes(text[index])) {
            throw wrongCharacter(text, index, "one of 0, 1 and d");
        }
        return text[index];
    };
    if (trace === 0) {
        return { text, ms: null, fields: { sampled: decision(0) } };
    }
    nonzero(text, 0, trace, "a trace id");
    expect(text, trace, "-", "a dash");
    nonzero(text, trace + 1, trace + 17, "a span id");
    const fields = { trace_id: text.slice(0, trace), span_id: text.slice(trace + 1, trace + 17) };
    if (text.length > trace + 17) {
        expect(text, trace + 17, "-", "a dash");
        fields.sampled = decision(trace + 18);
    }
    if (text.length > trace + 19) {
        expect(text, trace + 19, "-", "a dash");
        nonzero(text, trace + 20, trace + 36, "a span id");
        fields.parent_span_id = text.slice(trace + 20);
    }
    return { text, ms: null, fields };
}


const PRESETS = {
    snowflake: "time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=1288834974657",
    leaf: "time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=1288834974657",
    sonyflake: "time_bits=39,sequence_bits=8,node_bits=16,unit_ms=10,epoch=1409529600000",
    uid: "time_bits=28,node_bits=22,sequence_bits=13,unit_ms=1000,epoch=1463673600000",
    snowflake53: "time_bits=38,node_bits=10,sequence_bits=5,unit_ms=10,epoch=1420070400000",
    discord: "time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=1420070400000",
    instagram: "time_bits=40,node_bits=13,sequence_bits=10,unit_ms=1,epoch=1314220021721",
    mastodon: "time_bits=47,node_bits=0,sequence_bits=16,unit_ms=1,epoch=0",
};
export const layouts = Object.keys(PRESETS);


// The parts of a layout, and their values.
const PARTS = {
    time_bits: [1n, 63n], node_bits: [0n, 63n], sequence_bits: [0n, 63n],
    unit_ms: [1n, 1n << 32n], epoch: [-(1n << 53n), 1n << 53n],
};
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{3})?Z)?$/;


// The value of a part, or null if it is not valid.
function valueOf(name, text) {
    if (name === "epoch" && DATE.test(text)) {
        const ms = Date.parse(text);
        // A day that its month does not have is read as one of the next month.
        return Number.isNaN(ms) || !date(ms).startsWith(text.slice(0, 10)) ? null : BigInt(ms);
    }
    const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : null;
    const [least, most] = PARTS[name];
    return value === null || value < least || value > most ? null : value;
}


// A layout of 64-bit ids, from its name or its parts.
function layoutOf(text) {
    const values = {};
    let isOne = true;
    for (const part of (Object.hasOwn(PRESETS, text) ? PRESETS[text] : text).split(",")) {
        const [name, value] = part.split(/=(.*)/s);
        isOne &&= value !== undefined && Object.hasOwn(PARTS, name) && !Object.hasOwn(values, name);
        values[name] = isOne ? valueOf(name, value) : null;
        isOne &&= values[name] !== null;
    }
    const widths = Object.entries(values).filter(([name]) => name.endsWith("_bits"));
    const layout = widths.map(([name, width]) => [name.replace("_bits", ""), Number(width)]);
    if (!isOne || layout.length !== 3 || layout[0][0] !== "time" || widthOf(layout) > 63) {
        throw new RangeError(`'${text}' is not a layout`);
    }
    return { layout, unit: values.unit_ms ?? 1n, epoch: values.epoch ?? 0n };
}


function readSnowflake(text, options) {
    const { layout, unit, epoch } = layoutOf(options.layout ?? "snowflake");
    checkLength(text, text !== "", "a 64-bit id has 1 or more");
    const bits = digits(text, DECIMAL, "a digit");
    if (bits > mask(widthOf(layout))) {
        throw new FormatError("value", "its value has more bits than the layout");
    }
    const { time, node, sequence } = split(bits, layout);
    const fields = { node: String(node), sequence: String(sequence) };
    return { text: String(bits), ms: time * unit + epoch, fields, bits, layout: [["0", 64 - widthOf(layout)], ...layout] };
}


// What docs/formats.md calls the weight of an id without a letter in upper case.
const withoutUpperCase = (weight) => ({ text }) => weight + (/[A-Z]/.test(text) ? 0 : 20);


// By the name of the format: its title, the shortest and the longest id, how to read it, its weight, and the first time.
const FORMATS = {
    txid: { title: "txid", lengths: [20, 20], read: readTxid, weight: 92, since: "2015" },
    uuid_v7: { title: "UUID version 7", lengths: [36, 36], read: readUuid, weight: 112, since: "1970" },
    uuid_v6: { title: "UUID version 6", lengths: [36, 36], read: readUuid, weight: 122, since: "1582-10-15" },
    uuid_v1: { title: "UUID version 1", lengths: [36, 36], read: readUuid, weight: 122, since: "1582-10-15" },
    uuid_v4: { title: "UUID version 4", lengths: [36, 36], read: readUuid, weight: 122 },
    uuid: { title: "UUID", lengths: [36, 36], read: readUuid, weight: 122 },
    flake: { title: "flake", lengths: [22, 22], read: readFlake, weight: 102, since: "2012" },
    ulid: { title: "ULID", lengths: [26, 26], read: readUlid, weight: 118, since: "2016" },
    ksuid: { title: "KSUID", lengths: [27, 27], read: readKsuid, weight: 156, since: "2014-05-13T16:53:20Z" },
    xid: { title: "xid", lengths: [20, 20], read: readXid, weight: 92, since: "2012" },
    objectid: { title: "ObjectId", lengths: [24, 24], read: readObjectId, weight: 93, since: "2009" },
    typeid: {
        title: "TypeID", lengths: [26, 90], read: readTypeId, since: "1970",
        weight: ({ fields: { prefix, uuid } }) => prefix !== "" || /^.{14}7.{4}[89ab]/.test(uuid) ? 112 : 144,
    },
    cuid: { title: "CUID", lengths: [25, 25], read: readCuid, weight: 121, since: "2012" },
    nanoid: { title: "Nano ID", lengths: [21, 21], read: readNanoId, weight: 126 },
    unique_id: { title: "Apache UNIQUE_ID", lengths: [27, 27], read: readUniqueId, weight: withoutUpperCase(156), since: "2017-10-01" },
    unique_id_short: { title: "Apache UNIQUE_ID", lengths: [24, 24], read: readUniqueId, weight: withoutUpperCase(140), since: "1998" },
    traceparent: { title: "W3C traceparent", lengths: [55, Infinity], read: readTraceparent, weight: 192 },
    b3: { title: "b3", lengths: [1, 68], read: readB3, weight: 192 },
    sofa: { title: "SOFATracer id", lengths: [26, 35], read: readSofa, weight: 105, since: "2012" },
    skywalking: { title: "SkyWalking id", lengths: [36, 64], read: readSkyWalking, weight: 180, since: "2015" },
    trace_id: {
        title: "time-ordered trace id", lengths: [32, 32], read: readTraceId, since: "2015",
        // A random id rarely has such a small sequence.
        weight: ({ fields }) => Number(fields.sequence) < 4096 ? 117 : 130,
    },
    otel_trace_id: { title: "OpenTelemetry trace id", lengths: [32, 32], read: readRandom(128, "a trace id"), weight: 128 },
    trace_host_id: {
        title: "time-ordered trace id with a host", lengths: [32, 32], read: readTraceHostId, weight: 131, since: "2015",
    },
    xray: {
        title: "X-Ray trace id", lengths: [32, 35], read: readXray, since: "2016-12-01",
        weight: (_, { length }) => length === 35 ? 124 : 129,
    },
    datadog: { title: "Datadog trace id", lengths: [32, 32], read: readDatadog, weight: 91, since: "2022" },
    eagleid: { title: "EagleId", lengths: [26, 26], read: readEagleId, weight: 83, since: "2012" },
    snowflake: { title: "snowflake", lengths: [1, Infinity], read: readSnowflake, weight: 60, since: "2010-06-01" },
    span_id: { title: "span id", lengths: [16, 16], read: readRandom(64, "a span id"), weight: 64 },
};
export const formats = Object.entries(FORMATS).map(([name, { title }]) => ({ name, title }));


// Reads the text as this format; throws a FormatError that says what is wrong with it. The options are `layout` for
// snowflakes, and `epoch` for trace ids: milliseconds that their time counts from.
export function parse(format, text, options = {}) {
    if (!Object.hasOwn(FORMATS, format)) {
        throw new RangeError(`'${format}' is not a format`);
    }
    const id = { format, title: FORMATS[format].title, ...FORMATS[format].read(text, options) };
    const { ms, bits } = id;
    // JSON has no BigInt.
    id.ms = ms === null || !Number.isSafeInteger(Number(ms)) ? ms && String(ms) : Number(ms);
    return bits === undefined ? id : { ...id, bits: writtenHex(bits, widthOf(id.layout)) };
}


const HOUR_MS = 3600000;
const DAY_MS = 24 * HOUR_MS;


// Adds to an id how likely it is: `unlikely` is "too_early" or "too_late", or null, and `weight` is lower for likelier ones.
function weighed(id, text, now) {
    const { since, weight } = FORMATS[id.format];
    const ms = Number(id.ms);
    const before = Date.parse(since) - ms;
    const hasTime = id.ms !== null;
    const unlikely = hasTime && before > 0 ? "too_early" : hasTime && ms > now + DAY_MS ? "too_late" : null;
    const bonus = unlikely ? 32 : hasTime && Math.abs(ms - now) <= HOUR_MS ? -16 : 0;
    const wrongBy = unlikely === "too_early" ? before : unlikely ? ms : 0;
    return { ...id, unlikely, weight: (typeof weight === "number" ? weight : weight(id, text)) + bonus, wrongBy };
}


// Every reading of the text, the likeliest first, as docs/formats.md says; an empty list if there is none. `now` is the clock's
// time. A number is read in each layout, `preset`, if none is given.
export function read(text, options = {}) {
    const now = Number(options.now ?? Date.now());
    const ids = [];
    const attempt = (format, more) => {
        try {
            const id = parse(format, text, { ...options, ...more });
            // All UUIDs have one reader.
            if (id.format === format) {
                ids.push(weighed(more ? { ...id, preset: more.layout } : id, text, now));
            }
        } catch (error) {
            if (!(error instanceof FormatError)) {
                throw error;
            }
        }
    };
    for (const format in FORMATS) {
        const [shortest, longest] = FORMATS[format].lengths;
        if (text.length < shortest || text.length > longest) {
            continue;
        }
        if (format !== "snowflake" || options.layout !== undefined) {
            attempt(format);
        } else if (/^(\d{15,19}|0*[1-9]\d{14,18})$/.test(text)) {
            layouts.filter((layout) => layout !== "leaf").forEach((layout) => attempt(format, { layout }));
        }
    }
    ids.sort((one, other) => one.weight - other.weight || one.wrongBy - other.wrongBy || other.ms - one.ms);
    return ids.map(({ weight, wrongBy, ...id }) => id);
}


// What ids look like in other text: a run, a UUID, words with dots or dashes between them, a word, and one with a prefix.
const SHAPES = [
    "[\\w@-]+",
    "W{8}(?:-W{4}){3}-W{12}",
    "W{32}\\.\\d+\\.\\d+",
    "W-W{8}-W{24}",
    "(?<!_)\\w{1,63}_W{26}",
    "W+",
].map((shape) => new RegExp(`(?<!W)${shape}(?!W)`.replaceAll("W", "[0-9A-Za-z]"), "g"));


// Every id in a line of a log, or in many: where it begins and ends, and what it can be. What has such a shape is tried from left
// to right, and of what begins at one place the longest first. What reads as an id hides all that begins within it.
export function find(text, options = {}) {
    const all = text.trim();
    // Nothing shorter is an id, unless somebody says so.
    const shortest = options.layout === undefined ? 15 : 1;
    const places = [{ word: all, start: text.indexOf(all) }];
    for (const shape of SHAPES) {
        for (const { 0: word, index } of text.matchAll(shape)) {
            places.push({ word, start: index });
        }
    }
    places.sort((one, other) => one.start - other.start || other.word.length - one.word.length);
    const found = [];
    let end = 0;
    for (const { word, start } of places) {
        if (start < end || word.length < shortest) {
            continue;
        }
        const ids = read(word, options);
        // A word of a text is often as long as an id.
        if (ids.length > 0 && (ids[0].unlikely === null && ids[0].format !== "nanoid" || word === all)) {
            end = start + word.length;
            found.push({ start, end, ids });
        }
    }
    return found;
}


// The lowest and the highest id of the millisecond, or of the layout's unit of time, as texts that sort with all others; null
// for a format whose texts do not sort by time.
export function bounds(format, ms, options = {}) {
    let time = BigInt(ms);
    const ends = (rest, write) => [write(time << BigInt(rest)), write(time << BigInt(rest) | mask(rest))];
    switch (format) {
    case "txid":
        time &= mask(42);
        return ends(54, (bits) => written(bits << 4n, BASE32, 20));
    case "uuid_v7": {
        const begin = writtenHex(time & mask(48), 48).replace(/^.{8}/, "$&-");
        return [`${begin}-7000-8000-000000000000`, `${begin}-7fff-bfff-ffffffffffff`];
    }
    case "flake":
        return ends(64, (bits) => written(bits, BASE62, 22));
    case "ulid":
        return ends(80, (bits) => written(bits, CROCKFORD, 26).toUpperCase());
    case "typeid":
        return [[0n, 0n], [mask(12), mask(62)]].map(([a, b]) => written((time << 16n | 7n << 12n | a) << 64n | 2n << 62n | b, CROCKFORD, 26));
    case "cuid":
        return ["0", "z"].map((rest) => "c" + written(time, BASE36, 8) + rest.repeat(16));
    case "ksuid":
        time = time / 1000n - 1400000000n;
        return ends(128, (bits) => written(bits, BASE62, 27));
    case "xid":
        time /= 1000n;
        return ends(64, (bits) => written(bits << 4n, BASE32, 20));
    case "objectid":
        time /= 1000n;
        return ends(64, (bits) => writtenHex(bits, 96));
    case "xray":
        time /= 1000n;
        return ends(96, writtenXray);
    case "datadog":
        return [0n, mask(64)].map((rest) => writtenHex(time / 1000n << 96n | rest, 128));
    case "trace_id":
    case "trace_host_id":
        time = time - BigInt(options.epoch ?? 0) & mask(41);
        return ends(87, (bits) => writtenHex(bits, 128));
    case "snowflake": {
        const { layout, unit, epoch } = layoutOf(options.layout ?? "snowflake");
        time = (time - epoch) / unit;
        return ends(widthOf(layout.slice(1)), String);
    }
    default:
        return null;
    }
}


// The date in RFC 3339, or null if it is outside the calendar.
export function date(ms) {
    ms = BigInt(ms);
    return ms < FIRST_MS || ms > LAST_MS ? null : new Date(Number(ms)).toISOString();
}
