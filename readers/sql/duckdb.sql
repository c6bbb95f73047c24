-- Reads the time in ids, and gives the first and last id of a time. For DuckDB 1.3 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a TIMESTAMP in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--
-- t is a DATE, a TIMESTAMP in UTC or a TIMESTAMPTZ.
-- The macros that begin with txid_reader_ are parts of the others.


-- The number that ten digits are, from `place` on. `digits` are from that of 1, that of 0 after them, and those of the other case.
CREATE OR REPLACE MACRO txid_reader_ten(id, place, base, digits) AS
    (((((((((instr(digits, substr(id, place, 1)) % base) * base
    + instr(digits, substr(id, place + 1, 1)) % base) * base
    + instr(digits, substr(id, place + 2, 1)) % base) * base
    + instr(digits, substr(id, place + 3, 1)) % base) * base
    + instr(digits, substr(id, place + 4, 1)) % base) * base
    + instr(digits, substr(id, place + 5, 1)) % base) * base
    + instr(digits, substr(id, place + 6, 1)) % base) * base
    + instr(digits, substr(id, place + 7, 1)) % base) * base
    + instr(digits, substr(id, place + 8, 1)) % base) * base
    + instr(digits, substr(id, place + 9, 1)) % base;

-- The digits of a number: `width` bits each, the first of them `bits` up.
CREATE OR REPLACE MACRO txid_reader_text(number, bits, width, digits) AS nullif(array_to_string([
    substr(digits, 1 + ((number >> txid_reader_shift) & (length(digits) - 1))::INTEGER, 1)
    FOR txid_reader_shift IN range(bits, -1, -width)
], ''), '');

-- How many units there are from the first to t, or NULL if t is not in these microseconds.
CREATE OR REPLACE MACRO txid_reader_units(t, first_us, last_us, unit_us) AS
    CASE WHEN epoch_us(t) BETWEEN first_us AND last_us THEN (epoch_us(t) - first_us) // unit_us END;


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |
CREATE OR REPLACE MACRO txid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Va-v]{19}[0Gg]') THEN (txid_reader_ten(id, 1, 32, '123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV') >> 8)
END;
CREATE OR REPLACE MACRO txid_time(id) AS epoch_ms(txid_ms(id));
CREATE OR REPLACE MACRO txid_first(t) AS
    txid_reader_text(txid_reader_units(t, 0, 4398046511103999, 1000) * 8, 40, 5, '0123456789abcdefghijklmnopqrstuv') || '00000000000';
CREATE OR REPLACE MACRO txid_last(t) AS
    txid_reader_text(txid_reader_units(t, 0, 4398046511103999, 1000) * 8 + 7, 40, 5, '0123456789abcdefghijklmnopqrstuv') || 'vvvvvvvvvvg';

-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |
CREATE OR REPLACE MACRO uuid_v1_ms(id) AS CASE
    WHEN regexp_full_match(id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-1[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}') THEN TRY_CAST('0x' || substr(id::VARCHAR, 16, 3) || substr(id::VARCHAR, 10, 4) || substr(id::VARCHAR, 1, 8) AS BIGINT) // 10000 - 12219292800000
END;
CREATE OR REPLACE MACRO uuid_v1_time(id) AS epoch_ms(uuid_v1_ms(id));

-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |
CREATE OR REPLACE MACRO uuid_v6_ms(id) AS CASE
    WHEN regexp_full_match(id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-6[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}') THEN TRY_CAST('0x' || substr(id::VARCHAR, 1, 8) || substr(id::VARCHAR, 10, 4) || substr(id::VARCHAR, 16, 3) AS BIGINT) // 10000 - 12219292800000
END;
CREATE OR REPLACE MACRO uuid_v6_time(id) AS epoch_ms(uuid_v6_ms(id));
CREATE OR REPLACE MACRO uuid_v6_first(t) AS
    (printf('%012x', ((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000) >> 12)) || '6' || printf('%03x', (txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000) & 4095) || '8000000000000000')::UUID;
CREATE OR REPLACE MACRO uuid_v6_last(t) AS
    (printf('%012x', ((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000 + 9999) >> 12)) || '6' || printf('%03x', (txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000 + 9999) & 4095) || 'bfffffffffffffff')::UUID;

-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |
CREATE OR REPLACE MACRO uuid_v7_ms(id) AS CASE
    WHEN regexp_full_match(id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}') THEN TRY_CAST('0x' || substr(id::VARCHAR, 1, 8) || substr(id::VARCHAR, 10, 4) AS BIGINT)
END;
CREATE OR REPLACE MACRO uuid_v7_time(id) AS epoch_ms(uuid_v7_ms(id));
CREATE OR REPLACE MACRO uuid_v7_first(t) AS
    (printf('%012x', txid_reader_units(t, 0, 281474976710655999, 1000)) || '70008000000000000000')::UUID;
CREATE OR REPLACE MACRO uuid_v7_last(t) AS
    (printf('%012x', txid_reader_units(t, 0, 281474976710655999, 1000)) || '7fffbfffffffffffffff')::UUID;

-- ULID: | time : 48 | random : 80 |
CREATE OR REPLACE MACRO ulid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}') THEN txid_reader_ten(id, 1, 32, '123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz')
END;
CREATE OR REPLACE MACRO ulid_time(id) AS epoch_ms(ulid_ms(id));
CREATE OR REPLACE MACRO ulid_first(t) AS
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || '0000000000000000';
CREATE OR REPLACE MACRO ulid_last(t) AS
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || 'ZZZZZZZZZZZZZZZZ';

-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |
CREATE OR REPLACE MACRO xid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-v]{19}[0g]') THEN (txid_reader_ten(id, 1, 32, '123456789abcdefghijklmnopqrstuv0') >> 18) * 1000
END;
CREATE OR REPLACE MACRO xid_time(id) AS epoch_ms(xid_ms(id));
CREATE OR REPLACE MACRO xid_first(t) AS
    txid_reader_text(txid_reader_units(t, 0, 4294967295999999, 1000000) * 8, 30, 5, '0123456789abcdefghijklmnopqrstuv') || '0000000000000';
CREATE OR REPLACE MACRO xid_last(t) AS
    txid_reader_text(txid_reader_units(t, 0, 4294967295999999, 1000000) * 8 + 7, 30, 5, '0123456789abcdefghijklmnopqrstuv') || 'vvvvvvvvvvvvg';

-- ObjectId: | time : 32 | random : 40 | counter : 24 |
CREATE OR REPLACE MACRO objectid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Fa-f]{24}') THEN TRY_CAST('0x' || substr(id, 1, 8) AS BIGINT) * 1000
END;
CREATE OR REPLACE MACRO objectid_time(id) AS epoch_ms(objectid_ms(id));
CREATE OR REPLACE MACRO objectid_first(t) AS
    printf('%08x', txid_reader_units(t, 0, 4294967295999999, 1000000)) || '0000000000000000';
CREATE OR REPLACE MACRO objectid_last(t) AS
    printf('%08x', txid_reader_units(t, 0, 4294967295999999, 1000000)) || 'ffffffffffffffff';

-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |
CREATE OR REPLACE MACRO cuid_ms(id) AS CASE
    WHEN regexp_full_match(id, 'c[0-9a-z]{24}') THEN txid_reader_ten(id, 2, 36, '123456789abcdefghijklmnopqrstuvwxyz0') // 1296
END;
CREATE OR REPLACE MACRO cuid_time(id) AS epoch_ms(cuid_ms(id));

-- push id: | time : 48 | random : 72 |
CREATE OR REPLACE MACRO pushid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Z_a-z-]{20}') THEN (txid_reader_ten(id, 1, 64, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-') >> 12)
END;
CREATE OR REPLACE MACRO pushid_time(id) AS epoch_ms(pushid_ms(id));
CREATE OR REPLACE MACRO pushid_first(t) AS
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 42, 6, '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') || '------------';
CREATE OR REPLACE MACRO pushid_last(t) AS
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 42, 6, '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') || 'zzzzzzzzzzzz';

-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |
CREATE OR REPLACE MACRO unique_id_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Z_a-z-]{26}[048AEIMQUYcgkosw]') THEN (txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A') >> 28) * 1000
    WHEN regexp_full_match(id, '[0-9@-Za-z-]{26}[048AEIMQUYcgkosw]') THEN (txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A') >> 28) * 1000
END;
CREATE OR REPLACE MACRO unique_id_time(id) AS epoch_ms(unique_id_ms(id));

-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |
CREATE OR REPLACE MACRO unique_id_short_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9@-Za-z-]{24}') THEN (txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A') >> 28) * 1000
END;
CREATE OR REPLACE MACRO unique_id_short_time(id) AS epoch_ms(unique_id_short_ms(id));

-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |
CREATE OR REPLACE MACRO trace_id_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{32}') THEN (TRY_CAST('0x' || substr(id, 1, 11) AS BIGINT) >> 3)
END;
CREATE OR REPLACE MACRO trace_id_time(id) AS epoch_ms(trace_id_ms(id));
CREATE OR REPLACE MACRO trace_id_first(t) AS
    printf('%011x', txid_reader_units(t, 0, 2199023255551999, 1000) * 8) || '000000000000000000000';
CREATE OR REPLACE MACRO trace_id_last(t) AS
    printf('%011x', txid_reader_units(t, 0, 2199023255551999, 1000) * 8 + 7) || 'fffffffffffffffffffff';

-- X-Ray trace id: | time : 32 | random : 96 |
CREATE OR REPLACE MACRO xray_ms(id) AS CASE
    WHEN regexp_full_match(id, '1-[0-9a-f]{8}-[0-9a-f]{24}') AND id <> '1-00000000-000000000000000000000000' THEN TRY_CAST('0x' || substr(id, 3, 8) AS BIGINT) * 1000
    WHEN regexp_full_match(id, '[0-9a-f]{32}') AND id <> '00000000000000000000000000000000' THEN TRY_CAST('0x' || substr(id, 1, 8) AS BIGINT) * 1000
END;
CREATE OR REPLACE MACRO xray_time(id) AS epoch_ms(xray_ms(id));
CREATE OR REPLACE MACRO xray_first(t) AS
    '1-' || printf('%08x', txid_reader_units(t, 0, 4294967295999999, 1000000)) || '-000000000000000000000000';
CREATE OR REPLACE MACRO xray_last(t) AS
    '1-' || printf('%08x', txid_reader_units(t, 0, 4294967295999999, 1000000)) || '-ffffffffffffffffffffffff';

-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |
CREATE OR REPLACE MACRO datadog_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{8}0{8}[0-9a-f]{16}') AND id <> '00000000000000000000000000000000' THEN TRY_CAST('0x' || substr(id, 1, 8) AS BIGINT) * 1000
END;
CREATE OR REPLACE MACRO datadog_time(id) AS epoch_ms(datadog_ms(id));
CREATE OR REPLACE MACRO datadog_first(t) AS
    printf('%08x', txid_reader_units(t, 0, 4294967295999999, 1000000)) || '000000000000000000000000';
CREATE OR REPLACE MACRO datadog_last(t) AS
    printf('%08x', txid_reader_units(t, 0, 4294967295999999, 1000000)) || '00000000ffffffffffffffff';

-- EagleId: | address : 32 | time : 44 | sequence : 14 |
CREATE OR REPLACE MACRO eagleid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{8}[0-9]{17}e') THEN TRY_CAST(substr(id, 9, 13) AS BIGINT)
END;
CREATE OR REPLACE MACRO eagleid_time(id) AS epoch_ms(eagleid_ms(id));

-- The end of what it writes.


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. A BIGINT holds 63 bits: a greater time gives NULL.
CREATE OR REPLACE MACRO flake_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Za-z]{22}') AND id < '3tX16dB2jpss4tZORYcqo4' THEN ((
        (txid_reader_ten(id, 1, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0') // 218340105584896)::HUGEINT * 704423425546998022968330264616370176
        + txid_reader_ten(id, 3, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0')::HUGEINT * 839299365868340224
        + txid_reader_ten(id, 13, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0')
    ) >> 64)::BIGINT
END;
-- The bound is the last flake that a TIMESTAMP can hold.
CREATE OR REPLACE MACRO flake_time(id) AS CASE WHEN id < '00EyRy3Q6UcNMwGjw95jSS' THEN epoch_ms(flake_ms(id)) END;
-- The text of 128 bits.
CREATE OR REPLACE MACRO flake_text(bits) AS nullif(array_to_string([
    substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + (bits // place % 62)::INTEGER, 1)
    FOR place IN [
        43674252383913877424036476406214950912, 704423425546998022968330264616370176,
        11361668153983839080134359106715648, 183252712161029662582812243656704, 2955688905823059073916326510592,
        47672401706823533450263330816, 768909704948766668552634368, 12401769434657526912139264,
        200028539268669788905472, 3226266762397899821056, 52036560683837093888, 839299365868340224,
        13537086546263552, 218340105584896, 3521614606208, 56800235584, 916132832, 14776336, 238328, 3844, 62, 1
    ]
], ''), '');
CREATE OR REPLACE MACRO flake_first(t) AS
    flake_text(txid_reader_units(t, 0, 9223372036854775807, 1000)::HUGEINT * 18446744073709551616);
CREATE OR REPLACE MACRO flake_last(t) AS
    flake_text(txid_reader_units(t, 0, 9223372036854775807, 1000)::HUGEINT * 18446744073709551616 + 18446744073709551615);


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Without a layout, Twitter's.
CREATE OR REPLACE MACRO snowflake_ms(id, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS CASE
    WHEN id >> (time_bits + low_bits) = 0 THEN (id >> low_bits) * unit_ms + epoch_ms
END;
CREATE OR REPLACE MACRO snowflake_time(id, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS
    epoch_ms(snowflake_ms(id, time_bits := time_bits, low_bits := low_bits, unit_ms := unit_ms, epoch_ms := epoch_ms));
CREATE OR REPLACE MACRO snowflake_first(t, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS CASE
    WHEN txid_reader_units(t, epoch_ms * 1000, 9223372036854775807, unit_ms * 1000) >> time_bits = 0
    THEN txid_reader_units(t, epoch_ms * 1000, 9223372036854775807, unit_ms * 1000) << low_bits
END;
CREATE OR REPLACE MACRO snowflake_last(t, time_bits := 41, low_bits := 22, unit_ms := 1, epoch_ms := 1288834974657) AS
    snowflake_first(t, time_bits := time_bits, low_bits := low_bits, unit_ms := unit_ms, epoch_ms := epoch_ms)
    | ((1::BIGINT << low_bits) - 1);
