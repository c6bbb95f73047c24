-- Reads the time in ids, gives the first and last id of a time, and makes ids. For MySQL 8.0, MariaDB 10.6 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a DATETIME in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, a DATETIME in UTC, or NULL if no id has this time
--   ..._last(t)     the highest one
--   ..._new()       a new id of txid, uuid_v7 or ulid: the time, and RANDOM_BYTES, which MariaDB has since 10.10
--
-- DATETIME and not TIMESTAMP: that ends in 2038, and depends on the time zone of the session.


-- txid: | ms : 42 | random : 54 | in base32hex, which are the digits of CONV. The first 9 characters are 45 bits.

DROP FUNCTION IF EXISTS txid_ms;
CREATE FUNCTION txid_ms(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN IF(CHAR_LENGTH(id) = 20 AND id REGEXP '^[0-9A-Va-v]+[0Gg]$', CONV(LEFT(id, 9), 32, 10) >> 3, NULL);

DROP FUNCTION IF EXISTS txid_time;
CREATE FUNCTION txid_time(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS DATETIME(3)
DETERMINISTIC NO SQL
RETURN TIMESTAMP '1970-01-01 00:00:00' + INTERVAL txid_ms(id) * 1000 MICROSECOND;

DROP FUNCTION IF EXISTS txid_first;
CREATE FUNCTION txid_first(t DATETIME(6)) RETURNS CHAR(20) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN IF(
    t BETWEEN '1970-01-01' AND '2109-05-15 07:35:11.103999',
    CONCAT(LPAD(LOWER(CONV(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) DIV 1000 << 3, 10, 32)), 9, '0'), '00000000000'),
    NULL
);

-- The last character with bits of the time has 3 bits of the rest.
DROP FUNCTION IF EXISTS txid_last;
CREATE FUNCTION txid_last(t DATETIME(6)) RETURNS CHAR(20) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN CONCAT(LEFT(txid_first(t), 8), ELT(LOCATE(SUBSTR(txid_first(t), 9, 1), '08go'), '7', 'f', 'n', 'v'), 'vvvvvvvvvvg');


-- UUID v7: | ms : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |

DROP FUNCTION IF EXISTS uuid_v7_ms;
CREATE FUNCTION uuid_v7_ms(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN IF(
    CHAR_LENGTH(id) = 36
    AND id REGEXP '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$',
    CONV(CONCAT(LEFT(id, 8), SUBSTR(id, 10, 4)), 16, 10),
    NULL
);

-- The bound is the end of the year 9999, where a DATETIME ends.
DROP FUNCTION IF EXISTS uuid_v7_time;
CREATE FUNCTION uuid_v7_time(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS DATETIME(3)
DETERMINISTIC NO SQL
RETURN IF(
    LOWER(LEFT(id, 13)) <= 'e677d21f-dbff',
    TIMESTAMP '1970-01-01 00:00:00' + INTERVAL uuid_v7_ms(id) * 1000 MICROSECOND,
    NULL
);

DROP FUNCTION IF EXISTS uuid_v7_first;
CREATE FUNCTION uuid_v7_first(t DATETIME(6)) RETURNS CHAR(36) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN IF(
    t >= '1970-01-01',
    CONCAT(
        INSERT(LPAD(LOWER(HEX(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) DIV 1000)), 12, '0'), 9, 0, '-'),
        '-7000-8000-000000000000'
    ),
    NULL
);

DROP FUNCTION IF EXISTS uuid_v7_last;
CREATE FUNCTION uuid_v7_last(t DATETIME(6)) RETURNS CHAR(36) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN CONCAT(LEFT(uuid_v7_first(t), 14), '7fff-bfff-ffffffffffff');


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. A BIGINT holds 63 bits: a greater time gives NULL.

DROP FUNCTION IF EXISTS flake_ms;
CREATE FUNCTION flake_ms(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN IF(
    CHAR_LENGTH(id) = 22 AND id REGEXP '^[0-9A-Za-z]+$' AND id < '3tX16dB2jpss4tZORYcqo4',
    (
        CAST(
            (LOCATE(SUBSTR(id, 1, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 62
          + (LOCATE(SUBSTR(id, 2, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 1
        AS DECIMAL(65)) * 704423425546998022968330264616370176 +
        CAST(
            (LOCATE(SUBSTR(id, 3, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 13537086546263552
          + (LOCATE(SUBSTR(id, 4, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 218340105584896
          + (LOCATE(SUBSTR(id, 5, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 3521614606208
          + (LOCATE(SUBSTR(id, 6, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 56800235584
          + (LOCATE(SUBSTR(id, 7, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 916132832
          + (LOCATE(SUBSTR(id, 8, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 14776336
          + (LOCATE(SUBSTR(id, 9, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 238328
          + (LOCATE(SUBSTR(id, 10, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 3844
          + (LOCATE(SUBSTR(id, 11, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 62
          + (LOCATE(SUBSTR(id, 12, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 1
        AS DECIMAL(65)) * 839299365868340224 +
        CAST(
            (LOCATE(SUBSTR(id, 13, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 13537086546263552
          + (LOCATE(SUBSTR(id, 14, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 218340105584896
          + (LOCATE(SUBSTR(id, 15, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 3521614606208
          + (LOCATE(SUBSTR(id, 16, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 56800235584
          + (LOCATE(SUBSTR(id, 17, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 916132832
          + (LOCATE(SUBSTR(id, 18, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 14776336
          + (LOCATE(SUBSTR(id, 19, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 238328
          + (LOCATE(SUBSTR(id, 20, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 3844
          + (LOCATE(SUBSTR(id, 21, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 62
          + (LOCATE(SUBSTR(id, 22, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') - 1) * 1
        AS DECIMAL(65))
    ) DIV 18446744073709551616,
    NULL
);

-- The bound is the last flake of the year 9999, where a DATETIME ends.
DROP FUNCTION IF EXISTS flake_time;
CREATE FUNCTION flake_time(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS DATETIME(3)
DETERMINISTIC NO SQL
RETURN IF(
    id <= '000PVVX0xpLL8vtOiZIqdT',
    TIMESTAMP '1970-01-01 00:00:00' + INTERVAL flake_ms(id) * 1000 MICROSECOND,
    NULL
);

-- The text of 128 bits.
DROP FUNCTION IF EXISTS flake_text;
CREATE FUNCTION flake_text(bits DECIMAL(39, 0)) RETURNS CHAR(22) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN (
    WITH RECURSIVE digits (place, rest, text) AS (
        SELECT 0, bits, CAST('' AS CHAR(22))
        UNION ALL
        SELECT
            place + 1,
            (rest - MOD(rest, 62)) / 62,
            CONCAT(SUBSTR('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + MOD(rest, 62), 1), text)
        FROM digits WHERE place < 22
    )
    SELECT text FROM digits WHERE place = 22
);

DROP FUNCTION IF EXISTS flake_first;
CREATE FUNCTION flake_first(t DATETIME(6)) RETURNS CHAR(22) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN IF(
    t >= '1970-01-01',
    flake_text(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) DIV 1000 * 18446744073709551616),
    NULL
);

DROP FUNCTION IF EXISTS flake_last;
CREATE FUNCTION flake_last(t DATETIME(6)) RETURNS CHAR(22) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN IF(
    t >= '1970-01-01',
    flake_text(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) DIV 1000 * 18446744073709551616 + 18446744073709551615),
    NULL
);


-- Trace ids that sort by time: | ms : 41 | sequence : 23 | 64 other bits | in hexadecimal, with the host in it or not.

DROP FUNCTION IF EXISTS trace_id_ms;
CREATE FUNCTION trace_id_ms(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN IF(CHAR_LENGTH(id) = 32 AND id REGEXP '^[0-9a-f]+$', CONV(LEFT(id, 11), 16, 10) >> 3, NULL);

DROP FUNCTION IF EXISTS trace_id_time;
CREATE FUNCTION trace_id_time(id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) RETURNS DATETIME(3)
DETERMINISTIC NO SQL
RETURN TIMESTAMP '1970-01-01 00:00:00' + INTERVAL trace_id_ms(id) * 1000 MICROSECOND;

DROP FUNCTION IF EXISTS trace_id_first;
CREATE FUNCTION trace_id_first(t DATETIME(6)) RETURNS CHAR(32) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN IF(
    t BETWEEN '1970-01-01' AND '2039-09-07 15:47:35.551999',
    RPAD(LPAD(LOWER(HEX(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) DIV 1000 << 3)), 11, '0'), 32, '0'),
    NULL
);

DROP FUNCTION IF EXISTS trace_id_last;
CREATE FUNCTION trace_id_last(t DATETIME(6)) RETURNS CHAR(32) CHARACTER SET ascii COLLATE ascii_bin
DETERMINISTIC NO SQL
RETURN RPAD(CONCAT(LEFT(trace_id_first(t), 10), IF(SUBSTR(trace_id_first(t), 11, 1) = '0', '7', 'f')), 32, 'f');


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Twitter's is 41, 22, 1, 1288834974657.

DROP FUNCTION IF EXISTS snowflake_ms;
CREATE FUNCTION snowflake_ms(id BIGINT, time_bits INT, low_bits INT, unit_ms BIGINT, epoch_ms BIGINT) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN IF(id >> time_bits + low_bits = 0, CAST(id >> low_bits AS SIGNED) * unit_ms + epoch_ms, NULL);

DROP FUNCTION IF EXISTS snowflake_time;
CREATE FUNCTION snowflake_time(id BIGINT, time_bits INT, low_bits INT, unit_ms BIGINT, epoch_ms BIGINT) RETURNS DATETIME(3)
DETERMINISTIC NO SQL
RETURN IF(
    CAST(id >> low_bits AS SIGNED) * unit_ms + epoch_ms <= 253402300799999,
    TIMESTAMP '1970-01-01 00:00:00' + INTERVAL snowflake_ms(id, time_bits, low_bits, unit_ms, epoch_ms) * 1000 MICROSECOND,
    NULL
);

DROP FUNCTION IF EXISTS snowflake_first;
CREATE FUNCTION snowflake_first(t DATETIME(6), time_bits INT, low_bits INT, unit_ms BIGINT, epoch_ms BIGINT) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN IF(
    t >= '1970-01-01' + INTERVAL epoch_ms * 1000 MICROSECOND
    AND (FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) / 1000) - epoch_ms) DIV unit_ms >> time_bits = 0,
    (FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t) / 1000) - epoch_ms) DIV unit_ms << low_bits,
    NULL
);

DROP FUNCTION IF EXISTS snowflake_last;
CREATE FUNCTION snowflake_last(t DATETIME(6), time_bits INT, low_bits INT, unit_ms BIGINT, epoch_ms BIGINT) RETURNS BIGINT
DETERMINISTIC NO SQL
RETURN snowflake_first(t, time_bits, low_bits, unit_ms, epoch_ms) | (1 << low_bits) - 1;


-- New ids. Two of one millisecond are in any order.

DROP FUNCTION IF EXISTS txid_new;
CREATE FUNCTION txid_new() RETURNS CHAR(20) CHARACTER SET ascii COLLATE ascii_bin
NOT DETERMINISTIC NO SQL
RETURN CONCAT(
    LPAD(LOWER(CONV((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) << 3 | ORD(RANDOM_BYTES(1)) & 7, 10, 32)), 9, '0'),
    LPAD(LOWER(CONV(CONV(HEX(RANDOM_BYTES(7)), 16, 10) & (1 << 50) - 1, 10, 32)), 10, '0'),
    ELT(1 + (ORD(RANDOM_BYTES(1)) & 1), '0', 'g')
);

-- CONV has the digits of base32hex: the letters after H are others here.
DROP FUNCTION IF EXISTS ulid_new;
CREATE FUNCTION ulid_new() RETURNS CHAR(26) CHARACTER SET ascii COLLATE ascii_bin
NOT DETERMINISTIC NO SQL
RETURN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
        CONCAT(
            LPAD(CONV((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000), 10, 32), 10, '0'),
            LPAD(CONV(CONV(HEX(RANDOM_BYTES(5)), 16, 10), 10, 32), 8, '0'),
            LPAD(CONV(CONV(HEX(RANDOM_BYTES(5)), 16, 10), 10, 32), 8, '0')
        ), 'V', 'Z'), 'U', 'Y'), 'T', 'X'), 'S', 'W'), 'R', 'V'), 'Q', 'T'), 'P', 'S')
    , 'O', 'R'), 'N', 'Q'), 'M', 'P'), 'L', 'N'), 'K', 'M'), 'J', 'K'), 'I', 'J');

DROP FUNCTION IF EXISTS uuid_v7_new;
CREATE FUNCTION uuid_v7_new() RETURNS CHAR(36) CHARACTER SET ascii COLLATE ascii_bin
NOT DETERMINISTIC NO SQL
RETURN LOWER(CONCAT_WS('-',
    LPAD(HEX((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) >> 16), 8, '0'),
    LPAD(HEX((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) & 65535), 4, '0'),
    CONCAT('7', RIGHT(HEX(RANDOM_BYTES(2)), 3)),
    HEX(32768 | CONV(HEX(RANDOM_BYTES(2)), 16, 10) & 16383),
    HEX(RANDOM_BYTES(6))
));
