// What web/txid.js does otherwise than tests/vectors/ says, in Node and in a browser. `txid` is what the module exports, and
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
        const bits = test.bits && BigInt("0x" + test.bits).toString();
        compare(test, [id.text, id.ms?.toString(), sorted(id.fields), id.bits?.toString()],
            [test.written ?? test.text, test.ms, sorted(test.fields), bits]);
        // Without being told, it is among those that the text can be. A decision alone is not an id.
        const formats = txid.read(test.text, test).map((other) => other.format);
        const isAnId = test.format !== "b3" || test.fields.trace_id !== undefined;
        const isEarly = id.ms === null || id.ms < 4102444800000n;
        if (isAnId && isEarly) {
            compare(test, formats.includes(test.format), true);
        }
    }
    for (const test of vectors.formats.invalid) {
        const error = attempt(test);
        const position = error.position?.toString();
        if (test.format === "snowflake") {
            compare(test, error.reason, test.reason);
        } else {
            compare(test, [error.reason, position, error.message], [test.reason, test.position, test.message]);
        }
        compare(test, txid.read(test.text, test).some((id) => id.format === test.format), false);
    }
    for (const test of vectors.formats.order) {
        const bits = test.texts.map((text) => attempt(test, text).bits);
        const areSorted = bits.every((value, index) => index === 0 || bits[index - 1] < value);
        compare(test, [test.texts, areSorted], [[...new Set(test.texts)].sort(), true]);
    }
    for (const test of vectors.times.calendar) {
        compare(test, txid.date(test.ms), test.time ?? null);
    }
    for (const test of vectors.times.bounds) {
        compare(test, txid.bounds(test.format, test.ms, test), [test.first, test.last]);
    }
    return wrong;
}
