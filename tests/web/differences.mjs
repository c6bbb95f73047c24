// The differences between readers/js/txid.js and tests/vectors/, in Node and in a browser. `txid` is what the module exports, and
// `vectors` has its files by name.

export function differences(txid, vectors) {
    const wrong = [];
    const compare = (test, found, expected) => {
        const [foundText, expectedText] = [found, expected].map((value) => JSON.stringify(value));
        if (foundText !== expectedText) {
            wrong.push(`${JSON.stringify(test)}\n    found ${foundText}, not ${expectedText}`);
        }
    };
    const sorted = (object) => Object.fromEntries(Object.entries(object).sort());
    const attempt = (test, text = test.text) => {
        try {
            return txid.parse(test.format, text, test);
        } catch (error) {
            return error;
        }
    };

    for (const test of vectors.formats.valid) {
        const id = attempt(test);
        if (id instanceof Error) {
            compare(test, id.message, "an id");
            continue;
        }
        compare(test, [id.text, id.ms?.toString(), sorted(id.fields), id.bits],
            [test.written ?? test.text, test.ms, sorted(test.fields), test.bits]);
        // Without being told, it is among those that the text can be, and all can be written as JSON.
        const formats = JSON.parse(JSON.stringify(txid.read(test.text, test))).map((other) => other.format);
        compare(test, formats.includes(test.format), true);
        const time = txid.date(id.ms ?? 0n);
        compare(test, id.ms !== null && time !== null ? new Date(id.ms).toISOString() : time, time);
    }
    for (const test of vectors.formats.invalid) {
        const error = attempt(test);
        const position = error.position?.toString();
        // Errors of snowflakes have no message.
        const message = test.message && error.message;
        compare(test, [error.reason, position, message], [test.reason, test.position, test.message]);
        compare(test, txid.read(test.text, test).some((id) => id.format === test.format), false);
    }
    for (const test of vectors.formats.order) {
        const keys = test.texts.map((text) => attempt(test, text)).map(({ bits, ms }) => bits ?? ms);
        const areSorted = keys.every((value, index) => index === 0 || keys[index - 1] <= value);
        compare(test, [test.texts, areSorted], [[...new Set(test.texts)].sort(), true]);
    }
    for (const test of vectors.formats.readings) {
        const found = txid.read(test.text, { now: test.now }).map(({ format, preset: layout, ms, unlikely }) => (
            { format, layout, ms: ms?.toString(), unlikely: unlikely ?? undefined }));
        compare(test, found, test.readings);
    }
    for (const test of vectors.formats.layouts) {
        const { ms: epoch, layout } = attempt({ ...test, format: "snowflake" }, "0");
        const widths = layout?.slice(1) ?? [];
        const below = widths.slice(1).reduce((sum, [, width]) => sum + width, 0);
        const unit = BigInt(attempt({ ...test, format: "snowflake" }, String(1n << BigInt(below))).ms) - BigInt(epoch);
        const parts = widths.map(([name, width]) => `${name}_bits=${width}`);
        compare(test, [...parts, `unit_ms=${unit}`, `epoch=${epoch}`].join(), test.written);
    }
    for (const test of vectors.formats.invalid_layouts) {
        compare(test, attempt({ ...test, format: "snowflake" }, "0").name, "RangeError");
    }
    for (const test of vectors.times.calendar) {
        compare(test, txid.date(test.ms), test.time ?? null);
    }
    for (const test of vectors.times.bounds) {
        compare(test, txid.bounds(test.format, test.ms, test), [test.first, test.last]);
    }

    for (const test of vectors.formats.found) {
        compare(test, txid.find(test.text).map(({ start, end, ids: [{ format }] }) => ({ format, text: test.text.slice(start, end) })), test.found);
    }
    for (const [line, ids] of [
        ["  zzzzzzzzzzzzzzzzzzzzz  ", ["nanoid"]],
        ["of zzzzzzzzzzzzzzzzzzzzz", []],
        [" 6zzzzzzzzzzzzzzzzzzzzz ", ["flake"]],
        ["of 6zzzzzzzzzzzzzzzzzzzzz", []],
    ]) {
        compare(line, txid.find(line).map(({ ids: [id] }) => id.format), ids);
    }
    const digits = "1".repeat(500_000);
    compare("so many digits", [txid.find(digits).length, txid.find(`${digits} `, { layout: "snowflake" }).length], [0, 0]);
    return wrong;
}
