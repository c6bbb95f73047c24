-- Reads the time in ids, and gives the first and last id of a time. For ClickHouse 23.10 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a DateTime64(3) in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--
-- t is a Date, a DateTime, a DateTime64 or a text in UTC. The functions that begin with txid_reader_ are parts of the others.

CREATE OR REPLACE FUNCTION us_of_time AS (t) -> toUnixTimestamp64Micro(toDateTime64(t, 6, 'UTC'));

-- The number that ten digits are, from `place` on. `digits` are from that of 1, that of 0 after them, and those of the other case.
CREATE OR REPLACE FUNCTION txid_reader_ten AS (id, place, base, digits) ->
    toInt64((((((((((position(digits, substring(id, place, 1)) % base) * base
    + position(digits, substring(id, place + 1, 1)) % base) * base
    + position(digits, substring(id, place + 2, 1)) % base) * base
    + position(digits, substring(id, place + 3, 1)) % base) * base
    + position(digits, substring(id, place + 4, 1)) % base) * base
    + position(digits, substring(id, place + 5, 1)) % base) * base
    + position(digits, substring(id, place + 6, 1)) % base) * base
    + position(digits, substring(id, place + 7, 1)) % base) * base
    + position(digits, substring(id, place + 8, 1)) % base) * base
    + position(digits, substring(id, place + 9, 1)) % base);

-- The digits of a number: `width` bits each, the first of them `bits` up.
CREATE OR REPLACE FUNCTION txid_reader_text AS (number, bits, width, digits) -> nullIf(arrayStringConcat(arrayMap(
    txid_reader_shift -> substring(digits, 1 + bitAnd(bitShiftRight(number, txid_reader_shift), length(digits) - 1), 1),
    range(bits, -1, -width)
)), '');

-- How many units there are from the first to t, or NULL if t is not in these microseconds.
CREATE OR REPLACE FUNCTION txid_reader_units AS (t, first_us, last_us, unit_us) ->
    if(us_of_time(t) BETWEEN first_us AND last_us, intDiv(us_of_time(t) - first_us, unit_us), NULL);

-- A DateTime64 begins with 1900 and ends with 2299.
CREATE OR REPLACE FUNCTION txid_reader_time AS (ms) ->
    if(ms BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(ms, 'UTC'), NULL);


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |
CREATE OR REPLACE FUNCTION txid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Va-v]{19}[0Gg]$') THEN bitShiftRight(txid_reader_ten(id, 1, 32, '123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV'), 8)
END;
CREATE OR REPLACE FUNCTION txid_time AS (id) -> txid_reader_time(txid_ms(id));
CREATE OR REPLACE FUNCTION txid_first AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 4398046511103999, 1000) * 8, 40, 5, '0123456789abcdefghijklmnopqrstuv') || '00000000000';
CREATE OR REPLACE FUNCTION txid_last AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 4398046511103999, 1000) * 8 + 7, 40, 5, '0123456789abcdefghijklmnopqrstuv') || 'vvvvvvvvvvg';

-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |
CREATE OR REPLACE FUNCTION uuid_v1_ms AS (id) -> CASE
    WHEN match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-1[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$') THEN intDiv(toInt64(reinterpretAsUInt64(reverse(unhex('0' || substring(toString(id), 16, 3) || substring(toString(id), 10, 4) || substring(toString(id), 1, 8))))), 10000) - 12219292800000
END;
CREATE OR REPLACE FUNCTION uuid_v1_time AS (id) -> txid_reader_time(uuid_v1_ms(id));

-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |
CREATE OR REPLACE FUNCTION uuid_v6_ms AS (id) -> CASE
    WHEN match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-6[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$') THEN intDiv(toInt64(reinterpretAsUInt64(reverse(unhex('0' || substring(toString(id), 1, 8) || substring(toString(id), 10, 4) || substring(toString(id), 16, 3))))), 10000) - 12219292800000
END;
CREATE OR REPLACE FUNCTION uuid_v6_time AS (id) -> txid_reader_time(uuid_v6_ms(id));
CREATE OR REPLACE FUNCTION uuid_v6_first AS (t) ->
    lower(right(hex(4294967296 + bitShiftRight((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000), 28)), 8)) || '-' || lower(right(hex(65536 + bitAnd(bitShiftRight((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000), 12), 65535)), 4)) || '-6' || lower(right(hex(4096 + bitAnd((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000), 4095)), 3)) || '-8000-000000000000';
CREATE OR REPLACE FUNCTION uuid_v6_last AS (t) ->
    lower(right(hex(4294967296 + bitShiftRight((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000 + 9999), 28)), 8)) || '-' || lower(right(hex(65536 + bitAnd(bitShiftRight((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000 + 9999), 12), 65535)), 4)) || '-6' || lower(right(hex(4096 + bitAnd((txid_reader_units(t, -12219292800000000, 103072857660683999, 1000) * 10000 + 9999), 4095)), 3)) || '-bfff-ffffffffffff';

-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |
CREATE OR REPLACE FUNCTION uuid_v7_ms AS (id) -> CASE
    WHEN match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$') THEN toInt64(reinterpretAsUInt64(reverse(unhex('0000' || substring(toString(id), 1, 8) || substring(toString(id), 10, 4)))))
END;
CREATE OR REPLACE FUNCTION uuid_v7_time AS (id) -> txid_reader_time(uuid_v7_ms(id));
CREATE OR REPLACE FUNCTION uuid_v7_first AS (t) ->
    lower(right(hex(4294967296 + bitShiftRight(txid_reader_units(t, 0, 281474976710655999, 1000), 16)), 8)) || '-' || lower(right(hex(65536 + bitAnd(txid_reader_units(t, 0, 281474976710655999, 1000), 65535)), 4)) || '-7000-8000-000000000000';
CREATE OR REPLACE FUNCTION uuid_v7_last AS (t) ->
    lower(right(hex(4294967296 + bitShiftRight(txid_reader_units(t, 0, 281474976710655999, 1000), 16)), 8)) || '-' || lower(right(hex(65536 + bitAnd(txid_reader_units(t, 0, 281474976710655999, 1000), 65535)), 4)) || '-7fff-bfff-ffffffffffff';

-- ULID: | time : 48 | random : 80 |
CREATE OR REPLACE FUNCTION ulid_ms AS (id) -> CASE
    WHEN match(id, '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$') THEN txid_reader_ten(id, 1, 32, '123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz')
END;
CREATE OR REPLACE FUNCTION ulid_time AS (id) -> txid_reader_time(ulid_ms(id));
CREATE OR REPLACE FUNCTION ulid_first AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || '0000000000000000';
CREATE OR REPLACE FUNCTION ulid_last AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || 'ZZZZZZZZZZZZZZZZ';

-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |
CREATE OR REPLACE FUNCTION xid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-v]{19}[0g]$') THEN bitShiftRight(txid_reader_ten(id, 1, 32, '123456789abcdefghijklmnopqrstuv0'), 18) * 1000
END;
CREATE OR REPLACE FUNCTION xid_time AS (id) -> txid_reader_time(xid_ms(id));
CREATE OR REPLACE FUNCTION xid_first AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 4294967295999999, 1000000) * 8, 30, 5, '0123456789abcdefghijklmnopqrstuv') || '0000000000000';
CREATE OR REPLACE FUNCTION xid_last AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 4294967295999999, 1000000) * 8 + 7, 30, 5, '0123456789abcdefghijklmnopqrstuv') || 'vvvvvvvvvvvvg';

-- ObjectId: | time : 32 | random : 40 | counter : 24 |
CREATE OR REPLACE FUNCTION objectid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Fa-f]{24}$') THEN toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 1, 8))))) * 1000
END;
CREATE OR REPLACE FUNCTION objectid_time AS (id) -> txid_reader_time(objectid_ms(id));
CREATE OR REPLACE FUNCTION objectid_first AS (t) ->
    lower(right(hex(4294967296 + txid_reader_units(t, 0, 4294967295999999, 1000000)), 8)) || '0000000000000000';
CREATE OR REPLACE FUNCTION objectid_last AS (t) ->
    lower(right(hex(4294967296 + txid_reader_units(t, 0, 4294967295999999, 1000000)), 8)) || 'ffffffffffffffff';

-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |
CREATE OR REPLACE FUNCTION cuid_ms AS (id) -> CASE
    WHEN match(id, '^c[0-9a-z]{24}$') THEN intDiv(txid_reader_ten(id, 2, 36, '123456789abcdefghijklmnopqrstuvwxyz0'), 1296)
END;
CREATE OR REPLACE FUNCTION cuid_time AS (id) -> txid_reader_time(cuid_ms(id));

-- push id: | time : 48 | random : 72 |
CREATE OR REPLACE FUNCTION pushid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Z_a-z-]{20}$') THEN bitShiftRight(txid_reader_ten(id, 1, 64, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-'), 12)
END;
CREATE OR REPLACE FUNCTION pushid_time AS (id) -> txid_reader_time(pushid_ms(id));
CREATE OR REPLACE FUNCTION pushid_first AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 42, 6, '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') || '------------';
CREATE OR REPLACE FUNCTION pushid_last AS (t) ->
    txid_reader_text(txid_reader_units(t, 0, 281474976710655999, 1000), 42, 6, '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') || 'zzzzzzzzzzzz';

-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |
CREATE OR REPLACE FUNCTION unique_id_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Z_a-z-]{26}[048AEIMQUYcgkosw]$') THEN bitShiftRight(txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A'), 28) * 1000
    WHEN match(id, '^[0-9@-Za-z-]{26}[048AEIMQUYcgkosw]$') THEN bitShiftRight(txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A'), 28) * 1000
END;
CREATE OR REPLACE FUNCTION unique_id_time AS (id) -> txid_reader_time(unique_id_ms(id));

-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |
CREATE OR REPLACE FUNCTION unique_id_short_ms AS (id) -> CASE
    WHEN match(id, '^[0-9@-Za-z-]{24}$') THEN bitShiftRight(txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A'), 28) * 1000
END;
CREATE OR REPLACE FUNCTION unique_id_short_time AS (id) -> txid_reader_time(unique_id_short_ms(id));

-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |
CREATE OR REPLACE FUNCTION trace_id_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-f]{32}$') THEN bitShiftRight(toInt64(reinterpretAsUInt64(reverse(unhex('00000' || substring(id, 1, 11))))), 3)
END;
CREATE OR REPLACE FUNCTION trace_id_time AS (id) -> txid_reader_time(trace_id_ms(id));
CREATE OR REPLACE FUNCTION trace_id_first AS (t) ->
    lower(right(hex(17592186044416 + txid_reader_units(t, 0, 2199023255551999, 1000) * 8), 11)) || '000000000000000000000';
CREATE OR REPLACE FUNCTION trace_id_last AS (t) ->
    lower(right(hex(17592186044416 + txid_reader_units(t, 0, 2199023255551999, 1000) * 8 + 7), 11)) || 'fffffffffffffffffffff';

-- X-Ray trace id: | time : 32 | random : 96 |
CREATE OR REPLACE FUNCTION xray_ms AS (id) -> CASE
    WHEN match(id, '^1-[0-9a-f]{8}-[0-9a-f]{24}$') AND id <> '1-00000000-000000000000000000000000' THEN toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 3, 8))))) * 1000
    WHEN match(id, '^[0-9a-f]{32}$') AND id <> '00000000000000000000000000000000' THEN toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 1, 8))))) * 1000
END;
CREATE OR REPLACE FUNCTION xray_time AS (id) -> txid_reader_time(xray_ms(id));
CREATE OR REPLACE FUNCTION xray_first AS (t) ->
    '1-' || lower(right(hex(4294967296 + txid_reader_units(t, 0, 4294967295999999, 1000000)), 8)) || '-000000000000000000000000';
CREATE OR REPLACE FUNCTION xray_last AS (t) ->
    '1-' || lower(right(hex(4294967296 + txid_reader_units(t, 0, 4294967295999999, 1000000)), 8)) || '-ffffffffffffffffffffffff';

-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |
CREATE OR REPLACE FUNCTION datadog_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-f]{8}0{8}[0-9a-f]{16}$') AND id <> '00000000000000000000000000000000' THEN toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 1, 8))))) * 1000
END;
CREATE OR REPLACE FUNCTION datadog_time AS (id) -> txid_reader_time(datadog_ms(id));
CREATE OR REPLACE FUNCTION datadog_first AS (t) ->
    lower(right(hex(4294967296 + txid_reader_units(t, 0, 4294967295999999, 1000000)), 8)) || '000000000000000000000000';
CREATE OR REPLACE FUNCTION datadog_last AS (t) ->
    lower(right(hex(4294967296 + txid_reader_units(t, 0, 4294967295999999, 1000000)), 8)) || '00000000ffffffffffffffff';

-- EagleId: | address : 32 | time : 44 | sequence : 14 |
CREATE OR REPLACE FUNCTION eagleid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-f]{8}[0-9]{17}e$') THEN toInt64(substring(id, 9, 13))
END;
CREATE OR REPLACE FUNCTION eagleid_time AS (id) -> txid_reader_time(eagleid_ms(id));

-- The end of what it writes.


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. An Int64 holds 63 bits: a greater time gives NULL.
CREATE OR REPLACE FUNCTION flake_ms AS (id) -> if(
    match(id, '^[0-9A-Za-z]{22}$') AND id < '3tX16dB2jpss4tZORYcqo4',
    toInt64(bitShiftRight(
        toUInt128(txid_reader_ten(id, 1, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0')) * toUInt128('3226266762397899821056')
        + toUInt128(txid_reader_ten(id, 11, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0')) * 3844
        + toUInt128(txid_reader_ten(id, 13, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0') % 3844),
        64
    )),
    NULL
);
CREATE OR REPLACE FUNCTION flake_time AS (id) -> txid_reader_time(flake_ms(id));
-- The text of 128 bits: two halves of 11 digits, because a literal has at most 64 bits. An arrayFold would not be a constant.
CREATE OR REPLACE FUNCTION flake_text AS (bits) -> nullIf(arrayStringConcat(arrayMap(
    half -> arrayStringConcat(arrayMap(
        place -> substring('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + intDiv(half, place) % 62, 1),
        [
            839299365868340224, 13537086546263552, 218340105584896, 3521614606208, 56800235584, 916132832, 14776336,
            238328, 3844, 62, 1
        ]
    )),
    [intDiv(toUInt256(bits), toUInt256('52036560683837093888')), toUInt256(bits) % toUInt256('52036560683837093888')]
)), '');
CREATE OR REPLACE FUNCTION flake_first AS (t) ->
    flake_text(bitShiftLeft(toUInt128(txid_reader_units(t, 0, 9223372036854775807, 1000)), 64));
CREATE OR REPLACE FUNCTION flake_last AS (t) ->
    flake_text(bitShiftLeft(toUInt128(txid_reader_units(t, 0, 9223372036854775807, 1000)), 64) + 18446744073709551615);


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Twitter's is 41, 22, 1, 1288834974657.
CREATE OR REPLACE FUNCTION snowflake_ms AS (id, time_bits, low_bits, unit_ms, epoch_ms) -> if(
    bitShiftRight(toUInt64(id), time_bits + low_bits) = 0,
    toInt64(bitShiftRight(toUInt64(id), low_bits)) * unit_ms + epoch_ms,
    NULL
);
CREATE OR REPLACE FUNCTION snowflake_time AS (id, time_bits, low_bits, unit_ms, epoch_ms) ->
    txid_reader_time(snowflake_ms(id, time_bits, low_bits, unit_ms, epoch_ms));
CREATE OR REPLACE FUNCTION snowflake_first AS (t, time_bits, low_bits, unit_ms, epoch_ms) -> if(
    bitShiftRight(txid_reader_units(t, epoch_ms * 1000, 9223372036854775807, unit_ms * 1000), time_bits) = 0,
    toInt64(bitShiftLeft(txid_reader_units(t, epoch_ms * 1000, 9223372036854775807, unit_ms * 1000), low_bits)),
    NULL
);
CREATE OR REPLACE FUNCTION snowflake_last AS (t, time_bits, low_bits, unit_ms, epoch_ms) ->
    bitOr(snowflake_first(t, time_bits, low_bits, unit_ms, epoch_ms), toInt64(bitShiftLeft(toUInt64(1), low_bits) - 1));
