-- Reads the time in ids, gives the first and last id of a time, and makes ids. For PostgreSQL 14 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a timestamptz, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--   ..._new()       a new id of txid, uuid_v7 or ulid: the time, and random bits as gen_random_uuid() has them
--
-- No function is STRICT: PostgreSQL would not inline it, and inlined it is several times as fast. NULL gives NULL all the same.
-- The functions that begin with txid_reader_ are parts of the others.


-- The number that ten digits are, from `place` on. `digits` are from that of 1, that of 0 after them, and those of the other case.
CREATE OR REPLACE FUNCTION txid_reader_ten(id text, place int, base int, digits text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN (((((((((strpos(digits, substr(id, place, 1) COLLATE "C") % base)::bigint * base
    + strpos(digits, substr(id, place + 1, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 2, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 3, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 4, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 5, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 6, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 7, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 8, 1) COLLATE "C") % base) * base
    + strpos(digits, substr(id, place + 9, 1) COLLATE "C") % base;

-- The digits of a number: `width` bits each, the first of them `bits` up.
CREATE OR REPLACE FUNCTION txid_reader_text(number bigint, bits int, width int, digits text) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg(substr(digits, 1 + (number >> shift & length(digits) - 1)::int, 1), '' ORDER BY shift DESC)
    FROM generate_series(0, bits, width) AS shift
);

CREATE OR REPLACE FUNCTION txid_reader_time(ms bigint) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(ms / 1000::float8)::timestamptz(3);

-- How many units there are from the first to t, or NULL if t is not in these milliseconds.
CREATE OR REPLACE FUNCTION txid_reader_units(t timestamptz, first_ms bigint, last_ms bigint, unit_ms bigint) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN NOT isfinite(t) THEN NULL
    WHEN floor((extract(epoch FROM t - timestamptz '2000-01-01Z') + 946684800) * 1000) BETWEEN first_ms AND last_ms
    THEN (floor((extract(epoch FROM t - timestamptz '2000-01-01Z') + 946684800) * 1000)::bigint - first_ms) / unit_ms
END;


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |
CREATE OR REPLACE FUNCTION txid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 20 AND id ~ '^[0-9A-Va-v]+[0Gg]$' THEN (txid_reader_ten(id, 1, 32, '123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV') >> 8)
END;
CREATE OR REPLACE FUNCTION txid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(txid_ms(id));
CREATE OR REPLACE FUNCTION txid_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 4398046511103, 1) * 8, 40, 5, '0123456789abcdefghijklmnopqrstuv') || '00000000000';
CREATE OR REPLACE FUNCTION txid_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 4398046511103, 1) * 8 + 7, 40, 5, '0123456789abcdefghijklmnopqrstuv') || 'vvvvvvvvvvg';

-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |
CREATE OR REPLACE FUNCTION uuid_v1_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 36 AND id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-1[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]+$' THEN ('x' || substr(id, 16, 3) || substr(id, 10, 4) || substr(id, 1, 8))::bit(60)::bigint / 10000 - 12219292800000
END;
CREATE OR REPLACE FUNCTION uuid_v1_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(uuid_v1_ms(id));
CREATE OR REPLACE FUNCTION uuid_v1_ms(id uuid) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN strpos('1', substr(id::text, 15, 1)) > 0 AND strpos('89ABab', substr(id::text, 20, 1)) > 0 THEN ('x' || substr(id::text, 16, 3) || substr(id::text, 10, 4) || substr(id::text, 1, 8))::bit(60)::bigint / 10000 - 12219292800000
END;
CREATE OR REPLACE FUNCTION uuid_v1_time(id uuid) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(uuid_v1_ms(id));

-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |
CREATE OR REPLACE FUNCTION uuid_v6_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 36 AND id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-6[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]+$' THEN ('x' || substr(id, 1, 8) || substr(id, 10, 4) || substr(id, 16, 3))::bit(60)::bigint / 10000 - 12219292800000
END;
CREATE OR REPLACE FUNCTION uuid_v6_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(uuid_v6_ms(id));
CREATE OR REPLACE FUNCTION uuid_v6_ms(id uuid) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN strpos('6', substr(id::text, 15, 1)) > 0 AND strpos('89ABab', substr(id::text, 20, 1)) > 0 THEN ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4) || substr(id::text, 16, 3))::bit(60)::bigint / 10000 - 12219292800000
END;
CREATE OR REPLACE FUNCTION uuid_v6_time(id uuid) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(uuid_v6_ms(id));
CREATE OR REPLACE FUNCTION uuid_v6_first(t timestamptz) RETURNS uuid IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(((txid_reader_units(t, -12219292800000, 103072857660683, 1) * 10000) >> 12)), 12, '0') || '6' || lpad(to_hex((txid_reader_units(t, -12219292800000, 103072857660683, 1) * 10000) & 4095), 3, '0') || '8000000000000000')::uuid;
CREATE OR REPLACE FUNCTION uuid_v6_last(t timestamptz) RETURNS uuid IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(((txid_reader_units(t, -12219292800000, 103072857660683, 1) * 10000 + 9999) >> 12)), 12, '0') || '6' || lpad(to_hex((txid_reader_units(t, -12219292800000, 103072857660683, 1) * 10000 + 9999) & 4095), 3, '0') || 'bfffffffffffffff')::uuid;

-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |
CREATE OR REPLACE FUNCTION uuid_v7_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 36 AND id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]+$' THEN ('x' || substr(id, 1, 8) || substr(id, 10, 4))::bit(48)::bigint
END;
CREATE OR REPLACE FUNCTION uuid_v7_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(uuid_v7_ms(id));
CREATE OR REPLACE FUNCTION uuid_v7_ms(id uuid) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN strpos('7', substr(id::text, 15, 1)) > 0 AND strpos('89ABab', substr(id::text, 20, 1)) > 0 THEN ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint
END;
CREATE OR REPLACE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(uuid_v7_ms(id));
CREATE OR REPLACE FUNCTION uuid_v7_first(t timestamptz) RETURNS uuid IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(txid_reader_units(t, 0, 281474976710655, 1)), 12, '0') || '70008000000000000000')::uuid;
CREATE OR REPLACE FUNCTION uuid_v7_last(t timestamptz) RETURNS uuid IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex(txid_reader_units(t, 0, 281474976710655, 1)), 12, '0') || '7fffbfffffffffffffff')::uuid;

-- ULID: | time : 48 | random : 80 |
CREATE OR REPLACE FUNCTION ulid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 26 AND id ~ '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]+$' THEN txid_reader_ten(id, 1, 32, '123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz')
END;
CREATE OR REPLACE FUNCTION ulid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(ulid_ms(id));
CREATE OR REPLACE FUNCTION ulid_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 281474976710655, 1), 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || '0000000000000000';
CREATE OR REPLACE FUNCTION ulid_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 281474976710655, 1), 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || 'ZZZZZZZZZZZZZZZZ';

-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |
CREATE OR REPLACE FUNCTION xid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 20 AND id ~ '^[0-9a-v]+[0g]$' THEN (txid_reader_ten(id, 1, 32, '123456789abcdefghijklmnopqrstuv0') >> 18) * 1000
END;
CREATE OR REPLACE FUNCTION xid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(xid_ms(id));
CREATE OR REPLACE FUNCTION xid_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 4294967295999, 1000) * 8, 30, 5, '0123456789abcdefghijklmnopqrstuv') || '0000000000000';
CREATE OR REPLACE FUNCTION xid_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 4294967295999, 1000) * 8 + 7, 30, 5, '0123456789abcdefghijklmnopqrstuv') || 'vvvvvvvvvvvvg';

-- ObjectId: | time : 32 | random : 40 | counter : 24 |
CREATE OR REPLACE FUNCTION objectid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 24 AND id ~ '^[0-9A-Fa-f]+$' THEN ('x' || substr(id, 1, 8))::bit(32)::bigint * 1000
END;
CREATE OR REPLACE FUNCTION objectid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(objectid_ms(id));
CREATE OR REPLACE FUNCTION objectid_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN lpad(to_hex(txid_reader_units(t, 0, 4294967295999, 1000)), 8, '0') || '0000000000000000';
CREATE OR REPLACE FUNCTION objectid_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN lpad(to_hex(txid_reader_units(t, 0, 4294967295999, 1000)), 8, '0') || 'ffffffffffffffff';

-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |
CREATE OR REPLACE FUNCTION cuid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 25 AND id ~ '^c[0-9a-z]+$' THEN txid_reader_ten(id, 2, 36, '123456789abcdefghijklmnopqrstuvwxyz0') / 1296
END;
CREATE OR REPLACE FUNCTION cuid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(cuid_ms(id));

-- push id: | time : 48 | random : 72 |
CREATE OR REPLACE FUNCTION pushid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 20 AND id ~ '^[0-9A-Z_a-z-]+$' THEN (txid_reader_ten(id, 1, 64, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-') >> 12)
END;
CREATE OR REPLACE FUNCTION pushid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(pushid_ms(id));
CREATE OR REPLACE FUNCTION pushid_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 281474976710655, 1), 42, 6, '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') || '------------';
CREATE OR REPLACE FUNCTION pushid_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN txid_reader_text(txid_reader_units(t, 0, 281474976710655, 1), 42, 6, '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') || 'zzzzzzzzzzzz';

-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |
CREATE OR REPLACE FUNCTION unique_id_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 27 AND id ~ '^[0-9A-Z_a-z-]+[048AEIMQUYcgkosw]$' THEN (txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A') >> 28) * 1000
    WHEN length(id) = 27 AND id ~ '^[0-9@-Za-z-]+[048AEIMQUYcgkosw]$' THEN (txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A') >> 28) * 1000
END;
CREATE OR REPLACE FUNCTION unique_id_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(unique_id_ms(id));

-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |
CREATE OR REPLACE FUNCTION unique_id_short_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 24 AND id ~ '^[0-9@-Za-z-]+$' THEN (txid_reader_ten(id, 1, 64, 'BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A') >> 28) * 1000
END;
CREATE OR REPLACE FUNCTION unique_id_short_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(unique_id_short_ms(id));

-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |
CREATE OR REPLACE FUNCTION trace_id_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 32 AND id ~ '^[0-9a-f]+$' THEN (('x' || substr(id, 1, 11))::bit(44)::bigint >> 3)
END;
CREATE OR REPLACE FUNCTION trace_id_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(trace_id_ms(id));
CREATE OR REPLACE FUNCTION trace_id_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN lpad(to_hex(txid_reader_units(t, 0, 2199023255551, 1) * 8), 11, '0') || '000000000000000000000';
CREATE OR REPLACE FUNCTION trace_id_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN lpad(to_hex(txid_reader_units(t, 0, 2199023255551, 1) * 8 + 7), 11, '0') || 'fffffffffffffffffffff';

-- X-Ray trace id: | time : 32 | random : 96 |
CREATE OR REPLACE FUNCTION xray_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 35 AND id ~ '^1-[0-9a-f]{8}-[0-9a-f]+$' AND id <> '1-00000000-000000000000000000000000' THEN ('x' || substr(id, 3, 8))::bit(32)::bigint * 1000
    WHEN length(id) = 32 AND id ~ '^[0-9a-f]+$' AND id <> '00000000000000000000000000000000' THEN ('x' || substr(id, 1, 8))::bit(32)::bigint * 1000
END;
CREATE OR REPLACE FUNCTION xray_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(xray_ms(id));
CREATE OR REPLACE FUNCTION xray_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN '1-' || lpad(to_hex(txid_reader_units(t, 0, 4294967295999, 1000)), 8, '0') || '-000000000000000000000000';
CREATE OR REPLACE FUNCTION xray_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN '1-' || lpad(to_hex(txid_reader_units(t, 0, 4294967295999, 1000)), 8, '0') || '-ffffffffffffffffffffffff';

-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |
CREATE OR REPLACE FUNCTION datadog_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 32 AND id ~ '^[0-9a-f]{8}0{8}[0-9a-f]+$' AND id <> '00000000000000000000000000000000' THEN ('x' || substr(id, 1, 8))::bit(32)::bigint * 1000
END;
CREATE OR REPLACE FUNCTION datadog_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(datadog_ms(id));
CREATE OR REPLACE FUNCTION datadog_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN lpad(to_hex(txid_reader_units(t, 0, 4294967295999, 1000)), 8, '0') || '000000000000000000000000';
CREATE OR REPLACE FUNCTION datadog_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN lpad(to_hex(txid_reader_units(t, 0, 4294967295999, 1000)), 8, '0') || '00000000ffffffffffffffff';

-- EagleId: | address : 32 | time : 44 | sequence : 14 |
CREATE OR REPLACE FUNCTION eagleid_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 26 AND id ~ '^[0-9a-f]{8}[0-9]+e$' THEN substr(id, 9, 13)::bigint
END;
CREATE OR REPLACE FUNCTION eagleid_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(eagleid_ms(id));

-- The end of what it writes.


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. A bigint holds 63 bits: a greater time gives NULL.
CREATE OR REPLACE FUNCTION flake_ms(id text) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length(id) = 22 AND id ~ '^[0-9A-Za-z]+$' AND id COLLATE "C" < '3tX16dB2jpss4tZORYcqo4' THEN
    div(
        (
            (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 1, 1)) - 1) * 62
            + strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 2, 1)) - 1
        ) * 704423425546998022968330264616370176
        + txid_reader_ten(id, 3, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0')::numeric * 839299365868340224
        + txid_reader_ten(id, 13, 62, '123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0'),
        18446744073709551616
    )::bigint
END;
-- The bound is 2^53 ms, in the year 287396: a float8 holds no more of them exactly.
CREATE OR REPLACE FUNCTION flake_time(id text) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id COLLATE "C" < '00EcgoPcZP3rGyG6JPVsIK' THEN txid_reader_time(flake_ms(id)) END;
-- The text of 128 bits.
CREATE OR REPLACE FUNCTION flake_text(bits numeric) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + mod(div(bits, 62::numeric ^ place), 62)::int, 1),
                      '' ORDER BY place DESC)
    FROM generate_series(0, 21) AS place
);
CREATE OR REPLACE FUNCTION flake_first(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN flake_text(txid_reader_units(t, 0, 9223372036854775807, 1)::numeric * 18446744073709551616);
CREATE OR REPLACE FUNCTION flake_last(t timestamptz) RETURNS text IMMUTABLE PARALLEL SAFE
RETURN flake_text(txid_reader_units(t, 0, 9223372036854775807, 1)::numeric * 18446744073709551616 + 18446744073709551615);


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Without a layout, Twitter's.
CREATE OR REPLACE FUNCTION snowflake_ms(
    id bigint, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id >> (time_bits + low_bits) = 0 THEN (id >> low_bits) * unit_ms + epoch_ms END;
CREATE OR REPLACE FUNCTION snowflake_time(
    id bigint, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
RETURN txid_reader_time(snowflake_ms(id, time_bits, low_bits, unit_ms, epoch_ms));
CREATE OR REPLACE FUNCTION snowflake_first(
    t timestamptz, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN txid_reader_units(t, epoch_ms, 9223372036854775807, unit_ms) >> time_bits = 0 THEN
    txid_reader_units(t, epoch_ms, 9223372036854775807, unit_ms) << low_bits
END;
CREATE OR REPLACE FUNCTION snowflake_last(
    t timestamptz, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS bigint IMMUTABLE PARALLEL SAFE
RETURN snowflake_first(t, time_bits, low_bits, unit_ms, epoch_ms) | (1::bigint << low_bits) - 1;


-- New ids. Two of one millisecond are in any order. Of a UUID v4, 48 bits at either end are random.
CREATE OR REPLACE FUNCTION txid_new() RETURNS text VOLATILE PARALLEL SAFE
RETURN (
    SELECT txid_reader_text(ms << 3 | (high & 7), 40, 5, '0123456789abcdefghijklmnopqrstuv')
           || txid_reader_text(high >> 3 << 5 | (low & 31), 45, 5, '0123456789abcdefghijklmnopqrstuv') || substr('0g', 1 + (low >> 5 & 1)::int, 1)
    FROM (
        SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms,
               ('x' || left(hex, 12))::bit(48)::bigint AS high, ('x' || right(hex, 12))::bit(48)::bigint AS low
        FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS hex) AS random
    ) AS drawn
);
CREATE OR REPLACE FUNCTION ulid_new() RETURNS text VOLATILE PARALLEL SAFE
RETURN (
    SELECT txid_reader_text(ms, 45, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')
           || txid_reader_text(high, 35, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ') || txid_reader_text(low, 35, 5, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')
    FROM (
        SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms,
               ('x' || left(hex, 12))::bit(48)::bigint AS high, ('x' || right(hex, 12))::bit(48)::bigint AS low
        FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS hex) AS random
    ) AS drawn
);
CREATE OR REPLACE FUNCTION uuid_v7_new() RETURNS uuid VOLATILE PARALLEL SAFE
RETURN (
    lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || '7' || right(replace(gen_random_uuid()::text, '-', ''), 19)
)::uuid;
