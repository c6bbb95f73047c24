// Reads ids, in browsers and in Node: import { read } from "./txid.js". docs/formats.md describes the formats.
//
// An id has `format`, `text` (as it is written), `ms` (since 1970, a BigInt, or null), `fields` (by name), and, if it is one
// number, `bits` (a BigInt) and `layout` (names and widths from the highest bits on).


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
    const bits = hexadecimal(lower.replaceAll("-", ""));
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
        text: lower, ms, fields: { version: String(version), variant }, bits, layout,
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


// By the name of the format: its title, the shortest and the longest id, and how to read it.
const FORMATS = {
    txid: { title: "txid", lengths: [20, 20], read: readTxid },
    uuid_v7: { title: "UUID version 7", lengths: [36, 36], read: readUuid },
    uuid_v6: { title: "UUID version 6", lengths: [36, 36], read: readUuid },
    uuid_v1: { title: "UUID version 1", lengths: [36, 36], read: readUuid },
    uuid_v4: { title: "UUID version 4", lengths: [36, 36], read: readUuid },
    uuid: { title: "UUID", lengths: [36, 36], read: readUuid },
    flake: { title: "flake", lengths: [22, 22], read: readFlake },
    unique_id: { title: "Apache UNIQUE_ID", lengths: [27, 27], read: readUniqueId },
    unique_id_short: { title: "Apache UNIQUE_ID", lengths: [24, 24], read: readUniqueId },
    traceparent: { title: "W3C traceparent", lengths: [55, Infinity], read: readTraceparent },
    b3: { title: "b3", lengths: [33, 68], read: readB3 },
    sofa: { title: "SOFATracer id", lengths: [26, 35], read: readSofa },
    skywalking: { title: "SkyWalking id", lengths: [36, 64], read: readSkyWalking },
    trace_id: { title: "time-ordered trace id", lengths: [32, 32], read: readTraceId },
    otel_trace_id: { title: "OpenTelemetry trace id", lengths: [32, 32], read: readRandom(128, "a trace id") },
    trace_host_id: { title: "time-ordered trace id with a host", lengths: [32, 32], read: readTraceHostId },
    snowflake: { title: "snowflake", lengths: [1, Infinity], read: readSnowflake },
    span_id: { title: "span id", lengths: [16, 16], read: readRandom(64, "a span id") },
};
export const formats = Object.entries(FORMATS).map(([name, { title }]) => ({ name, title }));


// Reads the text as this format; throws a FormatError that says what is wrong with it. The options are `layout` for
// snowflakes, and `epoch` for trace ids: milliseconds that their time counts from.
export function parse(format, text, options = {}) {
    if (!Object.hasOwn(FORMATS, format)) {
        throw new RangeError(`'${format}' is not a format`);
    }
    return { format, title: FORMATS[format].title, ...FORMATS[format].read(text, options) };
}


// Whether a text that is read as this id may be one at all, if nobody says so.
function isAnId(id, options) {
    switch (id.format) {
    case "b3":
        // A decision alone is not an id.
        return id.fields.trace_id !== undefined;
    case "snowflake":
        return options.layout !== undefined || /^\d{15,19}$/.test(id.text);
    default:
        return true;
    }
}


// Whether hardly any other text is read as such an id.
function isLikely({ format, ms, fields }) {
    const year2100 = 4102444800000n;
    switch (format) {
    case "flake":
    case "unique_id_short":
    case "unique_id":
    case "sofa":
        return ms < year2100;
    case "trace_id":
        // A random id looks like a time-ordered one, but rarely has such a small sequence.
        return BigInt(fields.sequence) < 0x10000n;
    case "trace_host_id":
        return false;
    default:
        return true;
    }
}


// Every format that the text can be of, the likeliest first; an empty list if there is none.
export function read(text, options = {}) {
    const ids = [];
    for (const format in FORMATS) {
        const [shortest, longest] = FORMATS[format].lengths;
        if (text.length < shortest || text.length > longest) {
            continue;
        }
        try {
            const id = parse(format, text, options);
            // All UUIDs have one reader.
            if (id.format === format && isAnId(id, options)) {
                ids.push(id);
            }
        } catch (error) {
            if (!(error instanceof FormatError)) {
                throw error;
            }
        }
    }
    return ids.sort((one, other) => isLikely(other) - isLikely(one));
}


// From the longest words to the shortest: a dot or a dash can be part of an id, and can be between two.
const WORDS = [/[0-9A-Za-z@_-]+(?:\.[0-9A-Za-z@_-]+)*/g, /[0-9A-Za-z@_-]+/g, /[0-9A-Za-z]+/g];


// Every id in a line of a log, or in many: where it begins and ends, and what it can be.
export function find(text, options = {}) {
    const found = [];
    const all = text.trim();
    // Nothing shorter is an id, unless somebody says so.
    const shortest = options.layout === undefined ? 15 : 1;
    const search = (part, offset, level) => {
        for (const { 0: word, index } of part.matchAll(WORDS[level])) {
            if (word.length < shortest) {
                continue;
            }
            const ids = read(word, options);
            const start = offset + index;
            // A word of a text is often as long as an id.
            if (ids.length > 0 && (isLikely(ids[0]) || word === all)) {
                found.push({ start, end: start + word.length, ids });
            } else if (level + 1 < WORDS.length) {
                search(word, start, level + 1);
            }
        }
    };
    search(text, 0, 0);
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
