// Reads ids, in browsers and in Node: import { read } from "./txid.js". No format is known here: what ids hold is in formats.js,
// which is written from the table of all formats. docs/formats.md describes them.
//
// An id has `format`, `title`, `text` (as it is written), `ms` (since 1970, a number, or its digits if that cannot hold it, or null),
// `fields` (by name), and, if it is one number, `bits` (in hexadecimal) and `layout` (names and widths from the highest bits on).

import table from "./formats.js";

export class FormatError extends Error {
    // `reason` is "length", "character", "last_character" or "value"; `position` counts from 1.
    constructor(reason, message, position = null) {
        super(message);
        Object.assign(this, { name: "FormatError", reason, position });
    }
}

const wrongLength = (text, expected) => new FormatError("length", `${expected} characters, not ${text.length}`);
const wrongValue = (message) => new FormatError("value", message);

// Throws what `error` makes, unless something holds.
function must(holds, error) {
    if (!holds) {
        throw error();
    }
}

// A byte as messages show it.
function shown(character) {
    const escapes = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "'": "\\'", '"': '\\"', "\\": "\\\\" };
    const code = character.codePointAt(0);
    const isPrinted = code >= 0x20 && code < 0x7f || code > 0xff;
    return escapes[character] ?? (isPrinted ? character : "\\x" + code.toString(16).padStart(2, "0"));
}

const wrongCharacter = (text, index, expected) => (
    new FormatError("character", `character ${index + 1} is '${shown(text[index])}', not ${expected}`, index + 1));

const mask = (width) => (1n << BigInt(width)) - 1n;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

// The alphabets, each with the value of each character.
const DIGITS = Object.fromEntries(Object.entries(table.digits).map(([name, digits]) => {
    const cases = (character) => digits.both_cases ? [character.toLowerCase(), character.toUpperCase()] : [character];
    const values = [...digits.alphabet].flatMap((character, value) => cases(character).map((one) => [one, BigInt(value)]));
    return [name, { ...digits, base: BigInt(digits.alphabet.length), values: new Map(values) }];
}));

// A field with its place.
function placed([name, width, kind, more], place) {
    return { name, width, kind, ...more, place: BigInt(place), mask: mask(width) };
}

function preparedFields({ list, shown: others = [], clock, ...fields }) {
    let place = sum(list.map(([, width]) => width));
    const placedList = list.map((field) => placed(field, place -= field[1]));
    const times = placedList.filter(({ kind }) => kind === "time");
    const { unit_ms: unit, per_unit: perUnit = 1, epoch = 0, rest } = clock ?? {};
    return {
        ...fields, list: placedList, shown: others.map(([at, field]) => placed(field, at)), timeBits: sum(times.map(({ width }) => width)),
        clock: clock && { unit: BigInt(unit), perUnit: BigInt(perUnit), epoch: BigInt(epoch), rest },
    };
}

const preparedPart = (part) => part.fields ? { ...part, fields: part.fields.map(preparedFields) } : part;
const preparedText = ({ parts, ...text }) => ({ ...text, parts: parts.map(preparedPart) });
const FORMATS = new Map(table.formats.map((format) => [format.name, { ...format, texts: format.texts.map(preparedText) }]));
export const formats = table.formats.map(({ name, title, rule }) => ({ name, title, takesLayout: rule === "layout" }));
export const layouts = Object.keys(table.layouts);

// The parts of a layout of 64-bit ids, and their values.
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

// What 64 bits are in a layout, which is a name or its parts.
function fieldsOfLayout(text) {
    const parts = (Object.hasOwn(table.layouts, text) ? table.layouts[text] : text).split(",").map((part) => part.split(/=(.*)/s));
    const values = Object.fromEntries(parts.map(([name, value = ""]) => [name, Object.hasOwn(PARTS, name) ? valueOf(name, value) : null]));
    const isOne = Object.keys(values).length === parts.length && !Object.values(values).includes(null);
    const widths = Object.entries(values).filter(([name]) => name.endsWith("_bits"));
    const list = widths.map(([name, width]) => [name.replace("_bits", ""), Number(width), name === "time_bits" ? "time" : "int"]);
    const unused = 64 - sum(list.map(([, width]) => width));
    must(isOne && list.length === 3 && list[0][0] === "time" && unused > 0, () => new RangeError(`'${text}' is not a layout`));
    return { list: [["0", unused, "is", { constant: 0 }], ...list], clock: { unit_ms: values.unit_ms ?? 1, epoch: values.epoch } };
}

// The format of this name; that of numbers in this layout.
function formatOf(name, layout = layouts[0]) {
    const format = FORMATS.get(name);
    must(format, () => new RangeError(`'${name}' is not a format`));
    if (format.rule !== "layout") {
        return format;
    }
    const [{ parts: [number], ...text }] = format.texts;
    const fields = [preparedFields(fieldsOfLayout(layout))];
    const parts = [{ ...number, fields, no_fields: "its value has more bits than the layout" }];
    return { ...format, texts: [{ ...text, parts, lengths: [1, null] }] };
}

// How ids of the format are written that are as long as this text.
function formOf({ texts, rule, usual }, text, isChosen) {
    const { length } = text;
    const isUsual = (count) => usual[0] <= count && count <= usual[1];
    // Without a chosen layout, a number of few digits is no id. Zeros before it do not count.
    const isId = rule !== "layout" || isChosen || isUsual(length) || isUsual(text.replace(/^0+/, "").length);
    return isId ? texts.find(({ lengths: [least, most] }) => least <= length && length <= (most ?? Infinity)) : undefined;
}

function checkForm(form, format, text) {
    const isOther = ({ name, title, texts }) => name !== format.name && title === format.title && formOf({ texts }, text);
    must(form || ![...FORMATS.values()].some(isOther),
        () => wrongValue("ids of this length have another layout, which has a name of its own"));
    must(form, () => wrongLength(text, format.length));
    if (format.rule === "traceparent") {
        must(!text.startsWith("ff"), () => wrongValue("version ff is not valid"));
        const [least] = form.lengths;
        must(!text.startsWith("00") || text.length === least, () => wrongLength(text, `a ${format.name} of version 00 has ${least}`));
    }
}

// The number that the digits of a part write. Its other characters are those of its pattern.
function digitsIn({ digits: name, pattern }, text, start, end) {
    const [character, other] = DIGITS[name]?.other ?? [];
    const { base, values, expected } = DIGITS[character && text.slice(start, end).includes(character) ? other : name] ?? {};
    let bits = 0n;
    for (let index = start; index < end && index - start < (pattern ?? text).length; index++) {
        const wanted = pattern?.[index - start] ?? ".";
        if (values && wanted === ".") {
            const value = values.get(text[index]);
            must(value !== undefined, () => wrongCharacter(text, index, expected));
            // Whatever follows, so much is too large for all numbers.
            bits = bits >> 256n ? bits : bits * base + value;
        } else {
            must(text[index] === wanted, () => wrongCharacter(text, index, { "-": "a dash", ".": "a dot" }[wanted] ?? `'${wanted}'`));
        }
    }
    return bits;
}

function numberOf(part, text, start, end) {
    must(start < end, () => wrongValue("a number is missing"));
    const { pad: [pad, lastOnes] = [0], nonzero, bits: width, too_large: tooLarge } = part;
    const digits = digitsIn(part, text, start, end);
    const last = `character ${end} is '${text[end - 1]}', but the last one must be ${lastOnes}`;
    must(!(digits & mask(pad)), () => new FormatError("last_character", last, end));
    const bits = digits >> BigInt(pad);
    must(bits > 0n || !nonzero, () => wrongValue(nonzero));
    must(bits <= mask(width), () => wrongValue(tooLarge));
    return bits;
}

const valueIn = (bits, { place, mask: ones }) => bits >> place & ones;
const timeIn = (bits, { list }) => list.filter(({ kind }) => kind === "time")
    .reduce((time, field) => time | valueIn(bits, field) << BigInt(field.low ?? 0), 0n);

// What the bits of a number are: the first fields whose constants it has.
function fieldsOf({ fields, no_fields: none }, bits) {
    const found = fields.find(({ list }) => list.every((field) => field.kind !== "is" || valueIn(bits, field) === BigInt(field.constant)));
    must(found, () => wrongValue(none));
    for (const field of found.list.filter(({ range }) => range)) {
        const [least, most, error] = field.range;
        must(least <= valueIn(bits, field) && valueIn(bits, field) <= most, () => wrongValue(error));
    }
    return found;
}

// The parts of a text, each with its characters; a number has its bits, and what they are.
function partsIn(parts, text) {
    let start = 0;
    return parts.map((part) => {
        const begin = start;
        start = part.ends_at ? text.indexOf(part.ends_at, begin) : part.ends_before === undefined
            ? begin + part.lengths[0] : text.length - part.ends_before;
        must(start >= 0, () => wrongValue("a dot is missing"));
        const word = text.slice(begin, start);
        if (part.fields) {
            const bits = numberOf(part, text, begin, start);
            return { part, word, bits, fields: fieldsOf(part, bits) };
        }
        digitsIn(part, text, begin, start);
        const [character, error] = part.not_around ?? [];
        must(!character || !word.startsWith(character) && !word.endsWith(character), () => wrongValue(error));
        return { part, word };
    });
}

function written({ digits, lengths: [least, most], pattern, pad: [pad] = [0] }, bits) {
    const { alphabet, base } = DIGITS[digits];
    const count = least !== most ? 1 : pattern ? pattern.split(".").length - 1 : least;
    let text = "";
    for (let rest = bits << BigInt(pad); rest > 0n || text.length < count; rest /= base) {
        text = alphabet[Number(rest % base)] + text;
    }
    let at = 0;
    return pattern ? pattern.replace(/\./g, () => text[at++]) : text;
}

const writtenHex = (value, width) => value.toString(16).padStart(Math.ceil(width / 4), "0");

// The fields of other kinds are in the picture alone.
const SHOW = {
    int: (value) => String(value),
    hex: writtenHex,
    ip: (value) => [24n, 16n, 8n, 0n].map((shift) => value >> shift & 255n).join("."),
    mac: (value, width) => writtenHex(value, width).match(/../g).join(":"),
    flag: (value) => value !== 0n,
    digits: (value, width, text) => text,
    variant: (value) => value < 4n ? "ncs" : value < 6n ? "rfc9562" : value < 7n ? "microsoft" : "future",
    uuid: (value, width) => writtenHex(value, width).replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
};

// What a part shows, by name.
function shownOf({ part, word, bits, fields }) {
    if (!fields) {
        return part.word ? { [part.word]: word } : {};
    }
    const { list, shown: others, clock } = fields;
    const values = [...list, ...others].filter(({ kind }) => kind in SHOW)
        .map((field) => [field.name, SHOW[field.kind](valueIn(bits, field), field.width, word)]);
    return { ...Object.fromEntries(values), ...(clock?.rest && { [clock.rest]: String(timeIn(bits, fields) % clock.perUnit) }) };
}

// What the bits of a number add to the weight: Infinity for what is rather an id of another format.
function weightOf({ bits, fields: { list, more = 0, is_elsewhere: isElsewhere } }) {
    const isRare = (field) => field.rarely_above && valueIn(bits, field) > field.rarely_above[0];
    return isElsewhere ? Infinity : more + sum(list.filter(isRare).map((field) => field.rarely_above[1]));
}

const epochOf = ({ takes_epoch: isTaken }, clock, options) => clock.epoch + BigInt(isTaken && options.epoch || 0);

// Whether it is a word rather than an id of this weight: words in both cases have as few bits a character as those in one.
function isByChance({ parts: [{ fields, digits }, ...others] }, text, weight) {
    const { base, both_cases: both } = fields && others.length === 0 ? DIGITS[digits] : {};
    const isInOneCase = /[@-_]/.test(text) !== /[a-z]/.test(text);
    return base >= 62n ? 2 * weight > text.length * (isInOneCase || !/\d|[@-_]{2}/.test(text) ? 11 : 12) : Boolean(both) && base >= 32n && !isInOneCase;
}

// Reads a text as a format: the id, its weight, and whether it is rather a word.
function readAs(format, text, options) {
    const form = formOf(format, text, options.layout !== undefined);
    checkForm(form, format, text);
    const found = partsIn(form.parts, text);
    const numbers = found.filter(({ fields }) => fields);
    const writtenParts = found.map(({ part, word, bits }) => part.fields ? written(part, bits) : part.rest ? "" : word);
    const id = {
        format: format.name, title: format.title,
        text: form.is_another ? written(format.texts[0].parts[0], numbers[0].bits) : writtenParts.join(""),
        ms: null, fields: Object.assign({}, ...found.map(shownOf)),
    };
    for (const { bits, fields } of numbers.filter((number) => number.fields.clock)) {
        const ms = timeIn(bits, fields) / fields.clock.perUnit * fields.clock.unit + epochOf(format, fields.clock, options);
        // JSON has no BigInt.
        id.ms = Number.isSafeInteger(Number(ms)) ? Number(ms) : String(ms);
    }
    if (numbers.length === 1) {
        const [{ part, bits, fields: { list } }] = numbers;
        Object.assign(id, { bits: writtenHex(bits, part.bits), layout: list.map(({ name, width }) => [name, width]) });
    }
    if (format.rule === "traceparent") {
        // Only the sampled flag is sure to have the same meaning in later versions.
        id.fields.random &&= text.startsWith("00");
        id.text = `00${id.text.slice(2, -2)}0${id.fields.sampled + 2 * id.fields.random}`;
    }
    const weight = form.weight + sum(numbers.map(weightOf));
    return { id, weight, isByChance: isByChance(form, text, weight) };
}

// Reads the text as this format; throws a FormatError that says what is wrong with it. The options are `layout` for 64-bit ids, and
// `epoch` for ids that can count from another time: milliseconds since 1970.
export function parse(format, text, options = {}) {
    return readAs(formatOf(format, options.layout), text, options).id;
}

const [HOUR_MS, DAY_MS] = [3600000, 86400000];

// How likely an id is: `unlikely` is "too_early", "too_late" or "by_chance", or null, and `weight` is lower for likelier ones.
function rankOf({ ms }, weight, isByChance, since, now) {
    const before = ms === null ? 0 : Number(since) - ms;
    const isNew = ms !== null && Math.abs(ms - now) <= HOUR_MS;
    const unlikely = before > 0 ? "too_early" : ms !== null && ms > now + DAY_MS ? "too_late" : isByChance && !isNew ? "by_chance" : null;
    const bonus = unlikely ? 32 : isNew ? -16 : 0;
    return { unlikely, weight: weight + bonus, wrongBy: unlikely === "too_early" ? before : unlikely === "too_late" ? Number(ms) : 0 };
}

// The layouts that a number may have: of equal ones, the first.
const LIKELY_LAYOUTS = layouts.filter((name, index) => Object.values(table.layouts).indexOf(table.layouts[name]) === index);

// Every reading of the text, the likeliest first, as docs/formats.md says; an empty list if there is none. `now` is the clock's
// time. A number is read in each layout, `preset`, if none is given.
export function read(text, options = {}) {
    const now = Number(options.now ?? Date.now());
    const readings = [];
    for (const known of FORMATS.values()) {
        const format = options.layout === undefined ? known : formatOf(known.name, options.layout);
        const isNumber = format.rule === "layout";
        const fits = formOf(format, text, options.layout !== undefined) && !(isNumber && /\D/.test(text));
        const presets = isNumber && options.layout === undefined ? LIKELY_LAYOUTS : [undefined];
        for (const preset of fits ? presets : []) {
            try {
                const { id, weight, isByChance } = readAs(preset ? formatOf(format.name, preset) : format, text, options);
                const { unlikely, ...rank } = rankOf(id, weight, isByChance, format.since, now);
                readings.push({ rank, id: { ...id, ...(preset && { preset }), unlikely } });
            } catch (error) {
                must(error instanceof FormatError, () => error);
            }
        }
    }
    return readings.filter(({ rank }) => rank.weight < Infinity)
        .sort((one, other) => one.rank.weight - other.rank.weight || one.rank.wrongBy - other.rank.wrongBy || other.id.ms - one.id.ms)
        .map(({ id }) => id);
}

// What ids look like in other text: a run, a UUID, words with dots or dashes between them, a word, and one with a prefix, after
// what is no letter and no digit, or after an escape: \n, \x22, \u0022, %2F, or a color.
const ESCAPE = "(?:\\\\(?:[nrt]|xH{2}|uH{4})|%H{2}|(?:\\x1b|\\\\(?:x1[bB]|u001[bB]|033|e))\\[[\\d;]*[A-Za-z])";
const pattern = (text) => (
    new RegExp(text.replaceAll("E", ESCAPE).replaceAll("H", "[0-9A-Fa-f]").replaceAll("W", "[0-9A-Za-z]"), "g"));
const ESCAPES = pattern("E");
const SHAPES = ["[\\w@-]+", "W{8}(?:-W{4}){3}-W{12}", "W{32}\\.\\d+\\.\\d+", "W-W{8}-W{24}", "W+", "(?<=(?:E|(?<!\\w))(\\w{1,64}?))W{26}"]
    .flatMap((shape) => [`(?<!W)${shape}(?!W)`, `(?<=E)${shape}(?!W)`].map(pattern));

// Every id in a line of a log, or in many: where it begins and ends, and what it can be. What has such a shape is tried from left
// to right, and of what begins at one place the longest first. What reads as an id hides all that begins within it.
export function find(text, options = {}) {
    const all = text.trim();
    // Nothing shorter is an id, unless somebody says so.
    const shortest = options.layout === undefined ? 15 : 1;
    // A word of a text is often as long as an id that holds nothing.
    const holdsSome = ({ ms, bits, fields }) => ms !== null || bits !== undefined || Object.keys(fields).length > 0;
    const shaped = SHAPES.flatMap((shape) => [...text.matchAll(shape)]
        .map(({ 0: word, 1: prefix = "", index }) => ({ word: prefix + word, start: index - prefix.length })));
    // A % may be one of a pattern of SQL: then, what begins with two digits is tried first as it is, and what does not, last.
    const escapes = new Set([...text.matchAll(ESCAPES)].filter(({ 0: [first] }) => first !== "%").flatMap(({ 0: { length }, index }) => Array.from({ length: length - 1 }, (_, at) => index + 1 + at)));
    const places = [{ word: all, start: text.indexOf(all) }, ...shaped.filter(({ start }) => !escapes.has(start))];
    const late = ({ start }) => /^%(?!\d\d)[0-9A-Fa-f]{2}/.test(text.slice(start - 1, start + 2)) ? 2 : 0;
    places.sort((one, other) => one.start + late(one) - other.start - late(other) || late(one) - late(other)
        || other.word.length - one.word.length);
    const found = [];
    let end = 0;
    for (const { word, start } of places.filter(({ word }) => word.length >= shortest)) {
        const ids = start < end ? [] : read(word, options);
        if (ids.length > 0 && (ids[0].unlikely === null && holdsSome(ids[0]) || word === all)) {
            end = start + word.length;
            found.push({ start, end, ids });
        }
    }
    return found;
}

// The highest number that its digits and its bits have.
function highest({ digits, lengths: [least, most], bits }) {
    const ofDigits = least === most ? DIGITS[digits].base ** BigInt(most) - 1n : mask(bits);
    return ofDigits < mask(bits) ? ofDigits : mask(bits);
}

// The lowest or the highest number with this time, or of all if it has no time.
function boundOf(number, time, isLast) {
    const [{ clock, list }] = number.fields;
    if (!clock) {
        return isLast ? highest(number) : 0n;
    }
    return list.reduce((bits, { kind, low = 0, constant, place, mask: ones }) => {
        const field = kind === "time" ? time >> BigInt(low) & ones : kind === "is" ? BigInt(constant) : isLast ? ones : 0n;
        return bits | field << place;
    }, 0n);
}

// The lowest and the highest id of the millisecond, or of the format's unit of time, as texts that sort with all others; null
// for a format whose texts do not sort by time, and for a time that its ids cannot hold.
export function bounds(name, ms, options = {}) {
    const format = formatOf(name, options.layout);
    const [{ parts }] = format.texts;
    const number = format.sorts && parts.find((part) => part.fields?.[0].clock);
    if (!number) {
        return null;
    }
    const [{ clock, clock: { unit, perUnit }, timeBits }] = number.fields;
    const since = BigInt(ms) - epochOf(format, clock, options);
    const units = format.wraps ? since & mask(timeBits) : since / unit;
    // If units are not counted one by one, the last one is not whole.
    const last = (highest(number) & mask(timeBits)) / perUnit - (perUnit > 1n ? 1n : 0n);
    if (!format.wraps && since < 0n || units > last) {
        return null;
    }
    return [false, true].map((isLast) => {
        const time = units * perUnit + (isLast ? perUnit - 1n : 0n);
        return parts.map((part) => part.fields ? written(part, boundOf(part, time, isLast)) : part.digits ? "" : part.pattern).join("");
    });
}

// The last ones of the calendar in RFC 3339.
const [FIRST_MS, LAST_MS] = [-62167219200000n, 253402300799999n];

// The date in RFC 3339, or null if it is outside the calendar.
export function date(ms) {
    ms = BigInt(ms);
    return ms < FIRST_MS || ms > LAST_MS ? null : new Date(Number(ms)).toISOString();
}
