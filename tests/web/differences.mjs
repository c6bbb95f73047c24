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
        compare(test, formats.includes(test.format), isAnId);
    }
    for (const test of vectors.formats.invalid) {
        const error = attempt(test);
        const position = error.position?.toString();
        // Those of snowflakes have no message.
        const message = test.message && error.message;
        compare(test, [error.reason, position, message], [test.reason, test.position, test.message]);
        compare(test, txid.read(test.text, test).some((id) => id.format === test.format), false);
    }
    for (const test of vectors.formats.order) {
        const bits = test.texts.map((text) => attempt(test, text).bits);
        const areSorted = bits.every((value, index) => index === 0 || bits[index - 1] < value);
        compare(test, [test.texts, areSorted], [[...new Set(test.texts)].sort(), true]);
    }
    for (const test of vectors.formats.layouts) {
        const { ms: epoch, layout } = attempt({ ...test, format: "snowflake" }, "0");
        const widths = layout?.slice(1) ?? [];
        const below = widths.slice(1).reduce((sum, [, width]) => sum + width, 0);
        const unit = attempt({ ...test, format: "snowflake" }, String(1n << BigInt(below))).ms - epoch;
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

    for (const [line, ids] of [
        ["GET /?id=4om9qi54la8ffr4bd9sg HTTP/1.1 - 200", ["txid"]],
        ['{"id":"017F22E2-79B0-7CC3-98C4-DC0C0C07398F"}', ["uuid_v7"]],
        ["access-4om9qi54la8ffr4bd9sg-x, 0ad1348f1403169275002100356696.", ["txid", "sofa"]],
        ["traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ["traceparent"]],
        ["b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042. b13f65bff40000010123456789abcdef", ["skywalking", "trace_id"]],
        ["at 2018-04-01T01:21:28.552Z from 10.0.0.1:8080, 1160090501362225152", ["snowflake"]],
        ["internationalization of characteristically uncharacteristical 0 1 d", []],
        ["  zzzzzzzzzzzzzzzzzzzzz  ", []],
        [" 6zzzzzzzzzzzzzzzzzzzzz ", ["flake"]],
        ["of 6zzzzzzzzzzzzzzzzzzzzz", []],
    ]) {
        compare(line, txid.find(line).map(({ ids: [id] }) => id.format), ids);
    }
    return wrong;
}
