-- Reads the time in ids, and gives the first and last id of a time. For DuckDB 1.3 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a TIMESTAMP in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--
-- t is a DATE, a TIMESTAMP in UTC or a TIMESTAMPTZ.


-- txid: | ms : 42 | random : 54 | in base32hex. The first 9 characters are 45 bits.

CREATE OR REPLACE MACRO txid_ms(id) AS CASE WHEN regexp_full_match(id, '[0-9A-Va-v]{19}[0Gg]') THEN
      ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 1, 1))) - 1) << 37)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 2, 1))) - 1) << 32)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 3, 1))) - 1) << 27)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 4, 1))) - 1) << 22)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 5, 1))) - 1) << 17)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 6, 1))) - 1) << 12)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 7, 1))) - 1) << 7)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 8, 1))) - 1) << 2)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 9, 1))) - 1) >> 3)
END;

CREATE OR REPLACE MACRO txid_time(id) AS epoch_ms(txid_ms(id));

CREATE OR REPLACE MACRO txid_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4398046511103999 THEN
    array_to_string([
        substr('0123456789abcdefghijklmnopqrstuv', 1 + (((epoch_us(t) // 1000 * 8) >> bits) & 31)::INTEGER, 1)
        FOR bits IN [40, 35, 30, 25, 20, 15, 10, 5, 0]
    ], '') || '00000000000'
END;

-- The last character with bits of the time has 3 bits of the rest.
CREATE OR REPLACE MACRO txid_last(t) AS
    left(txid_first(t), 8) || translate(substr(txid_first(t), 9, 1), '08go', '7fnv') || 'vvvvvvvvvvg';


-- UUID v7: | ms : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |, as a text or a UUID.

CREATE OR REPLACE MACRO uuid_v7_ms(id) AS CASE
    WHEN regexp_full_match(
        id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}'
    )
    THEN TRY_CAST('0x' || left(id::VARCHAR, 8) || substr(id::VARCHAR, 10, 4) AS BIGINT)
END;

CREATE OR REPLACE MACRO uuid_v7_time(id) AS epoch_ms(uuid_v7_ms(id));

CREATE OR REPLACE MACRO uuid_v7_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    (printf('%012x', epoch_us(t) // 1000) || '70008000000000000000')::UUID
END;

CREATE OR REPLACE MACRO uuid_v7_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    (printf('%012x', epoch_us(t) // 1000) || '7fffbfffffffffffffff')::UUID
END;


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. A BIGINT holds 63 bits: a greater time gives NULL.

CREATE OR REPLACE MACRO flake_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Za-z]{22}') AND id < '3tX16dB2jpss4tZORYcqo4'
    THEN (
        list_reduce(
            [
                (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', c) - 1)::HUGEINT
                FOR c IN string_split(id, '')
            ],
            lambda bits, digit: bits * 62 + digit
        ) >> 64
    )::BIGINT
END;

-- The bound is the last flake that a TIMESTAMP can hold.
CREATE OR REPLACE MACRO flake_time(id) AS CASE WHEN id < '00EyRy3Q6UcNMwGjw95jSS' THEN epoch_ms(flake_ms(id)) END;

-- The text of 128 bits.
CREATE OR REPLACE MACRO flake_text(bits) AS array_to_string([
    substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + (bits // place % 62)::INTEGER, 1)
    FOR place IN [
        43674252383913877424036476406214950912, 704423425546998022968330264616370176,
        11361668153983839080134359106715648, 183252712161029662582812243656704, 2955688905823059073916326510592,
        47672401706823533450263330816, 768909704948766668552634368, 12401769434657526912139264,
        200028539268669788905472, 3226266762397899821056, 52036560683837093888, 839299365868340224,
        13537086546263552, 218340105584896, 3521614606208, 56800235584, 916132832, 14776336, 238328, 3844, 62, 1
    ]
], '');

CREATE OR REPLACE MACRO flake_first(t) AS CASE WHEN epoch_us(t) >= 0 THEN
    flake_text((epoch_us(t) // 1000)::HUGEINT * 18446744073709551616)
END;

CREATE OR REPLACE MACRO flake_last(t) AS CASE WHEN epoch_us(t) >= 0 THEN
    flake_text((epoch_us(t) // 1000)::HUGEINT * 18446744073709551616 + 18446744073709551615)
END;


-- Trace ids that sort by time: | ms : 41 | sequence : 23 | 64 other bits | in hexadecimal, with the host in it or not.

CREATE OR REPLACE MACRO trace_id_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{32}') THEN TRY_CAST('0x' || left(id, 11) AS BIGINT) >> 3
END;

CREATE OR REPLACE MACRO trace_id_time(id) AS epoch_ms(trace_id_ms(id));

CREATE OR REPLACE MACRO trace_id_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 2199023255551999 THEN
    printf('%011x', epoch_us(t) // 1000 * 8) || repeat('0', 21)
END;

CREATE OR REPLACE MACRO trace_id_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 2199023255551999 THEN
    printf('%011x', epoch_us(t) // 1000 * 8 + 7) || repeat('f', 21)
END;


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Without a layout, Twitter's.

CREATE OR REPLACE MACRO snowflake_ms(id, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS CASE
    WHEN id >> (time_bits + low_bits) = 0 THEN (id >> low_bits) * unit_ms + epoch_ms
END;

CREATE OR REPLACE MACRO snowflake_time(id, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS
    epoch_ms(snowflake_ms(id, time_bits := time_bits, low_bits := low_bits, unit_ms := unit_ms, epoch_ms := epoch_ms));

CREATE OR REPLACE MACRO snowflake_first(t, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS CASE
    WHEN epoch_us(t) >= epoch_ms * 1000 AND ((epoch_us(t) // 1000 - epoch_ms) // unit_ms) >> time_bits = 0
    THEN ((epoch_us(t) // 1000 - epoch_ms) // unit_ms) << low_bits
END;

CREATE OR REPLACE MACRO snowflake_last(t, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS
    snowflake_first(t, time_bits := time_bits, low_bits := low_bits, unit_ms := unit_ms, epoch_ms := epoch_ms)
    | ((1::BIGINT << low_bits) - 1);
