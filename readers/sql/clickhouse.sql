-- Reads the time in ids, and gives the first and last id of a time. For ClickHouse 23.10 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a DateTime64(3) in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--
-- t is a Date, a DateTime, a DateTime64 or a text in UTC.

CREATE OR REPLACE FUNCTION us_of_time AS (t) -> toUnixTimestamp64Micro(toDateTime64(t, 6, 'UTC'));


-- txid: | ms : 42 | random : 54 | in base32hex. The first 9 characters are 45 bits.

CREATE OR REPLACE FUNCTION txid_ms AS (id) -> if(
    match(id, '^[0-9A-Va-v]{19}[0Gg]$'),
      bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 1, 1))) - 1), 37)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 2, 1))) - 1), 32)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 3, 1))) - 1), 27)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 4, 1))) - 1), 22)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 5, 1))) - 1), 17)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 6, 1))) - 1), 12)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 7, 1))) - 1), 7)
    + bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 8, 1))) - 1), 2)
    + bitShiftRight(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 9, 1))) - 1), 3),
    NULL
);

CREATE OR REPLACE FUNCTION txid_time AS (id) -> fromUnixTimestamp64Milli(txid_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION txid_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4398046511103999,
    arrayStringConcat(arrayMap(
        bits -> substring(
            '0123456789abcdefghijklmnopqrstuv', 1 + bitAnd(bitShiftRight(intDiv(us_of_time(t), 1000) * 8, bits), 31), 1
        ),
        [40, 35, 30, 25, 20, 15, 10, 5, 0]
    )) || '00000000000',
    NULL
);

-- The last character with bits of the time has 3 bits of the rest.
CREATE OR REPLACE FUNCTION txid_last AS (t) ->
    left(txid_first(t), 8) || translate(substring(txid_first(t), 9, 1), '08go', '7fnv') || 'vvvvvvvvvvg';


-- UUID v7: | ms : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |, as a text or a UUID. The bounds are texts: a
-- column of the type UUID does not sort by time. docs/sql.md says how to sort by it.

CREATE OR REPLACE FUNCTION uuid_v7_ms AS (id) -> if(
    match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$'),
    toInt64(reinterpretAsUInt64(reverse(unhex(left(toString(id), 8) || substring(toString(id), 10, 4))))),
    NULL
);

CREATE OR REPLACE FUNCTION uuid_v7_time AS (id) ->
    if(uuid_v7_ms(id) < 10413792000000, fromUnixTimestamp64Milli(uuid_v7_ms(id), 'UTC'), NULL);

CREATE OR REPLACE FUNCTION uuid_v7_first AS (t) -> if(
    us_of_time(t) >= 0,
    lower(right(hex(4294967296 + bitShiftRight(intDiv(us_of_time(t), 1000), 16)), 8)) || '-'
        || lower(right(hex(65536 + bitAnd(intDiv(us_of_time(t), 1000), 65535)), 4)) || '-7000-8000-000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION uuid_v7_last AS (t) -> if(
    us_of_time(t) >= 0,
    lower(right(hex(4294967296 + bitShiftRight(intDiv(us_of_time(t), 1000), 16)), 8)) || '-'
        || lower(right(hex(65536 + bitAnd(intDiv(us_of_time(t), 1000), 65535)), 4)) || '-7fff-bfff-ffffffffffff',
    NULL
);


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. An Int64 holds 63 bits: a greater time gives NULL.

CREATE OR REPLACE FUNCTION flake_ms AS (id) -> if(
    match(id, '^[0-9A-Za-z]{22}$') AND id < '3tX16dB2jpss4tZORYcqo4',
    toInt64(bitShiftRight(
        arrayFold(
            (bits, c) -> bits * 62 + toUInt256(position('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', c) - 1),
            splitByString('', id),
            toUInt256(0)
        ),
        64
    )),
    NULL
);

CREATE OR REPLACE FUNCTION flake_time AS (id) ->
    if(flake_ms(id) < 10413792000000, fromUnixTimestamp64Milli(flake_ms(id), 'UTC'), NULL);

-- The text of 128 bits: two halves of 11 digits, because a literal has at most 64 bits. An arrayFold would not be a constant.
CREATE OR REPLACE FUNCTION flake_text AS (bits) -> arrayStringConcat(arrayMap(
    half -> arrayStringConcat(arrayMap(
        place -> substring('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + intDiv(half, place) % 62, 1),
        [
            839299365868340224, 13537086546263552, 218340105584896, 3521614606208, 56800235584, 916132832, 14776336,
            238328, 3844, 62, 1
        ]
    )),
    [intDiv(toUInt256(bits), toUInt256('52036560683837093888')), toUInt256(bits) % toUInt256('52036560683837093888')]
));

CREATE OR REPLACE FUNCTION flake_first AS (t) -> if(
    us_of_time(t) >= 0,
    flake_text(bitShiftLeft(toUInt128(intDiv(us_of_time(t), 1000)), 64)),
    NULL
);

CREATE OR REPLACE FUNCTION flake_last AS (t) -> if(
    us_of_time(t) >= 0,
    flake_text(bitShiftLeft(toUInt128(intDiv(us_of_time(t), 1000)), 64) + 18446744073709551615),
    NULL
);


-- Trace ids that sort by time: | ms : 41 | sequence : 23 | 64 other bits | in hexadecimal, with the host in it or not.

CREATE OR REPLACE FUNCTION trace_id_ms AS (id) -> if(
    match(id, '^[0-9a-f]{32}$'),
    toInt64(bitShiftRight(reinterpretAsUInt64(reverse(unhex(left(id, 16)))), 23)),
    NULL
);

CREATE OR REPLACE FUNCTION trace_id_time AS (id) -> fromUnixTimestamp64Milli(trace_id_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION trace_id_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 2199023255551999,
    lower(right(hex(17592186044416 + intDiv(us_of_time(t), 1000) * 8), 11)) || repeat('0', 21),
    NULL
);

CREATE OR REPLACE FUNCTION trace_id_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 2199023255551999,
    lower(right(hex(17592186044416 + intDiv(us_of_time(t), 1000) * 8 + 7), 11)) || repeat('f', 21),
    NULL
);


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Twitter's is 41, 22, 1, 1288834974657.

CREATE OR REPLACE FUNCTION snowflake_ms AS (id, time_bits, low_bits, unit_ms, epoch_ms) -> if(
    bitShiftRight(toUInt64(id), time_bits + low_bits) = 0,
    toInt64(bitShiftRight(toUInt64(id), low_bits)) * unit_ms + epoch_ms,
    NULL
);

CREATE OR REPLACE FUNCTION snowflake_time AS (id, time_bits, low_bits, unit_ms, epoch_ms) -> if(
    snowflake_ms(id, time_bits, low_bits, unit_ms, epoch_ms) < 10413792000000,
    fromUnixTimestamp64Milli(snowflake_ms(id, time_bits, low_bits, unit_ms, epoch_ms), 'UTC'),
    NULL
);

CREATE OR REPLACE FUNCTION snowflake_first AS (t, time_bits, low_bits, unit_ms, epoch_ms) -> if(
    us_of_time(t) >= epoch_ms * 1000 AND bitShiftRight(intDiv(intDiv(us_of_time(t), 1000) - epoch_ms, unit_ms), time_bits) = 0,
    toInt64(bitShiftLeft(intDiv(intDiv(us_of_time(t), 1000) - epoch_ms, unit_ms), low_bits)),
    NULL
);

CREATE OR REPLACE FUNCTION snowflake_last AS (t, time_bits, low_bits, unit_ms, epoch_ms) ->
    bitOr(snowflake_first(t, time_bits, low_bits, unit_ms, epoch_ms), toInt64(bitShiftLeft(toUInt64(1), low_bits) - 1));
