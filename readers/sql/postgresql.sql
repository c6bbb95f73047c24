-- Reads the time in ids, gives the first and last id of a time, and makes ids. For PostgreSQL 14 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a timestamptz, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--   ..._new()       a new id of txid, uuid_v7 or ulid: the time, and random bits as gen_random_uuid() has them
--
-- No function is STRICT: PostgreSQL would not inline it, and inlined it is several times as fast. NULL gives NULL all the same.


-- txid: | ms : 42 | random : 54 | in base32hex. The first 9 characters are 45 bits.

CREATE OR REPLACE FUNCTION txid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length(id) = 20 AND id ~ '^[0-9A-Va-v]+[0Gg]$' THEN
      ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 1, 1) COLLATE "C")) - 1)::bigint << 37)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 2, 1) COLLATE "C")) - 1)::bigint << 32)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 3, 1) COLLATE "C")) - 1)::bigint << 27)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 4, 1) COLLATE "C")) - 1)::bigint << 22)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 5, 1) COLLATE "C")) - 1)::bigint << 17)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 6, 1) COLLATE "C")) - 1)::bigint << 12)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 7, 1) COLLATE "C")) - 1)::bigint << 7)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 8, 1) COLLATE "C")) - 1)::bigint << 2)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 9, 1) COLLATE "C")) - 1)::bigint >> 3)
END;

CREATE OR REPLACE FUNCTION txid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(txid_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION txid_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + (ms::bigint << 3 >> bits & 31)::int, 1), '' ORDER BY bits DESC)
           || '00000000000'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS stamp (ms), generate_series(0, 40, 5) AS bits
    WHERE ms BETWEEN 0 AND 4398046511103
);

-- The last character with bits of the time has 3 bits of the rest.
CREATE OR REPLACE FUNCTION txid_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN left(txid_first(t), 8) || translate(substr(txid_first(t), 9, 1), '08go', '7fnv') || 'vvvvvvvvvvg';


-- UUID v7: | ms : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |

CREATE OR REPLACE FUNCTION uuid_v7_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$' THEN
    ('x' || left(id, 8) || substr(id, 10, 4))::bit(48)::bigint
END;

CREATE OR REPLACE FUNCTION uuid_v7_ms(id uuid) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN substr(id::text, 15, 1) = '7' AND substr(id::text, 20, 1) IN ('8', '9', 'a', 'b') THEN
    ('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint
END;

CREATE OR REPLACE FUNCTION uuid_v7_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v7_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v7_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v7_first(t timestamptz) RETURNS uuid
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (lpad(to_hex(ms::bigint), 12, '0') || '70008000000000000000')::uuid
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS stamp (ms)
    WHERE ms BETWEEN 0 AND 281474976710655
);

CREATE OR REPLACE FUNCTION uuid_v7_last(t timestamptz) RETURNS uuid
IMMUTABLE PARALLEL SAFE
RETURN (left(uuid_v7_first(t)::text, 14) || '7fff-bfff-ffffffffffff')::uuid;


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. A bigint holds 63 bits: a greater time gives NULL.

CREATE OR REPLACE FUNCTION flake_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length(id) = 22 AND id ~ '^[0-9A-Za-z]+$' AND id COLLATE "C" < '3tX16dB2jpss4tZORYcqo4' THEN
    div(
        (
            (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 1, 1)) - 1)::bigint * 62
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 2, 1)) - 1)::bigint * 1
        )::numeric * 704423425546998022968330264616370176 +
        (
            (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 3, 1)) - 1)::bigint * 13537086546263552
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 4, 1)) - 1)::bigint * 218340105584896
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 5, 1)) - 1)::bigint * 3521614606208
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 6, 1)) - 1)::bigint * 56800235584
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 7, 1)) - 1)::bigint * 916132832
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 8, 1)) - 1)::bigint * 14776336
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 9, 1)) - 1)::bigint * 238328
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 10, 1)) - 1)::bigint * 3844
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 11, 1)) - 1)::bigint * 62
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 12, 1)) - 1)::bigint * 1
        )::numeric * 839299365868340224 +
        (
            (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 13, 1)) - 1)::bigint * 13537086546263552
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 14, 1)) - 1)::bigint * 218340105584896
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 15, 1)) - 1)::bigint * 3521614606208
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 16, 1)) - 1)::bigint * 56800235584
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 17, 1)) - 1)::bigint * 916132832
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 18, 1)) - 1)::bigint * 14776336
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 19, 1)) - 1)::bigint * 238328
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 20, 1)) - 1)::bigint * 3844
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 21, 1)) - 1)::bigint * 62
          + (strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(id, 22, 1)) - 1)::bigint * 1
        )::numeric,
        18446744073709551616
    )::bigint
END;

-- The bound is 2^53 ms, in the year 287396: a float8 holds no more of them exactly.
CREATE OR REPLACE FUNCTION flake_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id COLLATE "C" < '00EcgoPcZP3rGyG6JPVsIK' THEN to_timestamp(flake_ms(id) / 1000::float8)::timestamptz(3) END;

-- The text of 128 bits.
CREATE OR REPLACE FUNCTION flake_text(bits numeric) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + mod(div(bits, 62::numeric ^ place), 62)::int, 1),
                      '' ORDER BY place DESC)
    FROM generate_series(0, 21) AS place
);

CREATE OR REPLACE FUNCTION flake_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT flake_text(ms * 18446744073709551616)
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS stamp (ms)
    WHERE ms BETWEEN 0 AND 9223372036854775807
);

CREATE OR REPLACE FUNCTION flake_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT flake_text(ms * 18446744073709551616 + 18446744073709551615)
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS stamp (ms)
    WHERE ms BETWEEN 0 AND 9223372036854775807
);


-- Trace ids that sort by time: | ms : 41 | sequence : 23 | 64 other bits | in hexadecimal, with the host in it or not.

CREATE OR REPLACE FUNCTION trace_id_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length(id) = 32 AND id ~ '^[0-9a-f]+$' THEN ('x' || left(id, 11))::bit(44)::bigint >> 3 END;

CREATE OR REPLACE FUNCTION trace_id_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(trace_id_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION trace_id_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex(ms::bigint << 3), 11, '0') || repeat('0', 21)
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS stamp (ms)
    WHERE ms BETWEEN 0 AND 2199023255551
);

CREATE OR REPLACE FUNCTION trace_id_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN left(trace_id_first(t), 10) || translate(substr(trace_id_first(t), 11, 1), '08', '7f') || repeat('f', 21);


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Without a layout, Twitter's.

CREATE OR REPLACE FUNCTION snowflake_ms(
    id bigint, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id >> (time_bits + low_bits) = 0 THEN (id >> low_bits) * unit_ms + epoch_ms END;

CREATE OR REPLACE FUNCTION snowflake_time(
    id bigint, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(snowflake_ms(id, time_bits, low_bits, unit_ms, epoch_ms) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION snowflake_first(
    t timestamptz, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT units::bigint << low_bits
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000) - epoch_ms) / unit_ms)) AS since (units)
    WHERE units >= 0 AND units < 2::numeric ^ time_bits
);

CREATE OR REPLACE FUNCTION snowflake_last(
    t timestamptz, time_bits int = 41, low_bits int = 22, unit_ms bigint = 1, epoch_ms bigint = 1288834974657
) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN snowflake_first(t, time_bits, low_bits, unit_ms, epoch_ms) | (1::bigint << low_bits) - 1;


-- New ids. Two of one millisecond are in any order. Of a UUID v4, 48 bits at either end are random.

CREATE OR REPLACE FUNCTION txid_new() RETURNS text
VOLATILE PARALLEL SAFE
RETURN (
    SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + (word >> bits & 31)::int, 1), '' ORDER BY part, bits DESC)
           || substr('0g', 1 + (min(low) >> 5 & 1)::int, 1)
    FROM (
        SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms,
               ('x' || left(hex, 12))::bit(48)::bigint AS high, ('x' || right(hex, 12))::bit(48)::bigint AS low
        FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS hex) AS random
    ) AS drawn,
    LATERAL (VALUES (1, ms << 3 | (high & 7), 40), (2, high >> 3 << 5 | (low & 31), 45)) AS words (part, word, first),
    LATERAL generate_series(0, first, 5) AS bits
);

CREATE OR REPLACE FUNCTION ulid_new() RETURNS text
VOLATILE PARALLEL SAFE
RETURN (
    SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (word >> bits & 31)::int, 1), '' ORDER BY part, bits DESC)
    FROM (
        SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms,
               ('x' || left(hex, 12))::bit(48)::bigint AS high, ('x' || right(hex, 12))::bit(48)::bigint AS low
        FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS hex) AS random
    ) AS drawn,
    LATERAL (VALUES (1, ms, 45), (2, high, 35), (3, low, 35)) AS words (part, word, first),
    LATERAL generate_series(0, first, 5) AS bits
);

CREATE OR REPLACE FUNCTION uuid_v7_new() RETURNS uuid
VOLATILE PARALLEL SAFE
RETURN (
    lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || '7' || right(replace(gen_random_uuid()::text, '-', ''), 19)
)::uuid;
