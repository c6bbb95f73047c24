-- Reads the time in ids, gives the first and last id of a time, and makes ids. For SQLite 3.31 and later; see docs/sql.md.
--
-- SQLite has no functions in SQL. Each of these is a query of one value, with parameters to bind, or to replace: by a column (in
-- parentheses, a query is an expression) or by another one of these. All that do not begin with WITH are plain expressions, also
-- for generated columns and checks.
--
--   ..._ms       milliseconds since 1970 of :id, or NULL if the text is no id of this format
--   ..._first    the lowest id of the millisecond :ms, or NULL if no id has this time
--   ..._last     the highest one
--   ..._new      a new id of txid, uuid_v7 or ulid, also for the DEFAULT of a column: the time, and random bits

-- time_of_ms: :ms as a text in UTC, such as 2018-04-01 01:21:28.552, or NULL after the year 9999
SELECT strftime('%Y-%m-%d %H:%M:%f', :ms / 1000.0, 'unixepoch');

-- ms_of_time: the milliseconds since 1970 of :time, such as 'now' or '2018-04-01 01:21:28.552'
SELECT CAST(round((julianday(:time) - 2440587.5) * 86400000) AS INTEGER);


-- txid: | ms : 42 | random : 54 | in base32hex. The first 9 characters are 45 bits.

-- txid_ms
SELECT CASE WHEN length(CAST(:id AS BLOB)) = 20 AND :id NOT GLOB '*[^0-9A-Va-v]*' AND :id GLOB '*[0Gg]' THEN
      (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 1, 1))) - 1 << 37)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 2, 1))) - 1 << 32)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 3, 1))) - 1 << 27)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 4, 1))) - 1 << 22)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 5, 1))) - 1 << 17)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 6, 1))) - 1 << 12)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 7, 1))) - 1 << 7)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 8, 1))) - 1 << 2)
    | (instr('0123456789abcdefghijklmnopqrstuv', lower(substr(:id, 9, 1))) - 1 >> 3)
END;

-- txid_first
SELECT CASE WHEN :ms BETWEEN 0 AND 4398046511103 THEN
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 37) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 32) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 27) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 22) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 17) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 12) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 7) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 2) & 31), 1) ||
    substr('08go', 1 + (:ms & 3), 1) || '00000000000'
END;

-- txid_last
SELECT CASE WHEN :ms BETWEEN 0 AND 4398046511103 THEN
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 37) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 32) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 27) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 22) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 17) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 12) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 7) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms >> 2) & 31), 1) ||
    substr('7fnv', 1 + (:ms & 3), 1) || 'vvvvvvvvvvg'
END;


-- UUID v7: | ms : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |

-- uuid_v7_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 36 AND :id GLOB '????????-????-7???-[89ABab]???-????????????'
        AND replace(:id, '-', '') NOT GLOB '*[^0-9A-Fa-f]*' AND length(replace(:id, '-', '')) = 32 THEN
      (instr('0123456789abcdef', lower(substr(:id, 1, 1))) - 1 << 44)
    | (instr('0123456789abcdef', lower(substr(:id, 2, 1))) - 1 << 40)
    | (instr('0123456789abcdef', lower(substr(:id, 3, 1))) - 1 << 36)
    | (instr('0123456789abcdef', lower(substr(:id, 4, 1))) - 1 << 32)
    | (instr('0123456789abcdef', lower(substr(:id, 5, 1))) - 1 << 28)
    | (instr('0123456789abcdef', lower(substr(:id, 6, 1))) - 1 << 24)
    | (instr('0123456789abcdef', lower(substr(:id, 7, 1))) - 1 << 20)
    | (instr('0123456789abcdef', lower(substr(:id, 8, 1))) - 1 << 16)
    | (instr('0123456789abcdef', lower(substr(:id, 10, 1))) - 1 << 12)
    | (instr('0123456789abcdef', lower(substr(:id, 11, 1))) - 1 << 8)
    | (instr('0123456789abcdef', lower(substr(:id, 12, 1))) - 1 << 4)
    | (instr('0123456789abcdef', lower(substr(:id, 13, 1))) - 1 << 0)
END;

-- uuid_v7_first
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN
    printf('%08x-%04x-7000-8000-000000000000', :ms >> 16, :ms & 65535)
END;

-- uuid_v7_last
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN
    printf('%08x-%04x-7fff-bfff-ffffffffffff', :ms >> 16, :ms & 65535)
END;


-- flake: | ms : 64 | node : 48 | sequence : 16 | in base62. An INTEGER holds 63 bits: a greater time gives NULL. The sums have
-- three numbers of 43 bits.

-- flake_ms
WITH RECURSIVE digits (n, a, b, c) AS (
    SELECT 0, 0, 0, 0
    UNION ALL
    SELECT
        n + 1,
        (a + (b >> 43)) * 62,
        ((b & 8796093022207) + (c >> 43)) * 62,
        (c & 8796093022207) * 62 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(:id, n + 1, 1)) - 1
    FROM digits WHERE n < 22
)
SELECT (a << 22) + (b + (c >> 43) >> 21) FROM digits
WHERE n = 22 AND length(CAST(:id AS BLOB)) = 22 AND :id NOT GLOB '*[^0-9A-Za-z]*' AND :id < '3tX16dB2jpss4tZORYcqo4';

-- flake_first
WITH RECURSIVE digits (text, a, b, c) AS (
    SELECT '', :ms >> 22, :ms << 21 & 8796093022207, 0
    UNION ALL
    SELECT
        substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + ((a % 62 << 43 | b) % 62 << 43 | c) % 62, 1) || text,
        a / 62,
        (a % 62 << 43 | b) / 62,
        ((a % 62 << 43 | b) % 62 << 43 | c) / 62
    FROM digits WHERE length(text) < 22
)
SELECT text FROM digits WHERE length(text) = 22 AND :ms >= 0;

-- flake_last
WITH RECURSIVE digits (text, a, b, c) AS (
    SELECT '', :ms >> 22, :ms << 21 & 8796093022207 | 2097151, 8796093022207
    UNION ALL
    SELECT
        substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + ((a % 62 << 43 | b) % 62 << 43 | c) % 62, 1) || text,
        a / 62,
        (a % 62 << 43 | b) / 62,
        ((a % 62 << 43 | b) % 62 << 43 | c) / 62
    FROM digits WHERE length(text) < 22
)
SELECT text FROM digits WHERE length(text) = 22 AND :ms >= 0;


-- Trace ids that sort by time: | ms : 41 | sequence : 23 | 64 other bits | in hexadecimal, with the host in it or not.

-- trace_id_ms
SELECT CASE WHEN length(CAST(:id AS BLOB)) = 32 AND :id NOT GLOB '*[^0-9a-f]*' THEN
      (instr('0123456789abcdef', substr(:id, 1, 1)) - 1 << 37)
    | (instr('0123456789abcdef', substr(:id, 2, 1)) - 1 << 33)
    | (instr('0123456789abcdef', substr(:id, 3, 1)) - 1 << 29)
    | (instr('0123456789abcdef', substr(:id, 4, 1)) - 1 << 25)
    | (instr('0123456789abcdef', substr(:id, 5, 1)) - 1 << 21)
    | (instr('0123456789abcdef', substr(:id, 6, 1)) - 1 << 17)
    | (instr('0123456789abcdef', substr(:id, 7, 1)) - 1 << 13)
    | (instr('0123456789abcdef', substr(:id, 8, 1)) - 1 << 9)
    | (instr('0123456789abcdef', substr(:id, 9, 1)) - 1 << 5)
    | (instr('0123456789abcdef', substr(:id, 10, 1)) - 1 << 1)
    | (instr('0123456789abcdef', substr(:id, 11, 1)) - 1 >> 3)
END;

-- trace_id_first
SELECT CASE WHEN :ms BETWEEN 0 AND 2199023255551 THEN printf('%011x', :ms << 3) || '000000000000000000000' END;

-- trace_id_last
SELECT CASE WHEN :ms BETWEEN 0 AND 2199023255551 THEN printf('%011x', :ms << 3 | 7) || 'fffffffffffffffffffff' END;


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Twitter's is 41, 22, 1, 1288834974657.

-- snowflake_ms
SELECT CASE WHEN :id >> :time_bits + :low_bits = 0 THEN (:id >> :low_bits) * :unit_ms + :epoch_ms END;

-- snowflake_first
SELECT CASE WHEN :ms >= :epoch_ms AND (:ms - :epoch_ms) / :unit_ms >> :time_bits = 0 THEN
    (:ms - :epoch_ms) / :unit_ms << :low_bits
END;

-- snowflake_last
SELECT CASE WHEN :ms >= :epoch_ms AND (:ms - :epoch_ms) / :unit_ms >> :time_bits = 0 THEN
    (:ms - :epoch_ms) / :unit_ms << :low_bits | (1 << :low_bits) - 1
END;


-- New ids. Two of one millisecond are in any order. In one statement, 'now' is always the same.

-- txid_new
SELECT
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 37) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 32) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 27) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 22) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 17) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 12) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 7) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 2) & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) & 3) << 3) | (random() & 7)), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0123456789abcdefghijklmnopqrstuv', 1 + (random() & 31), 1) ||
    substr('0g', 1 + (random() & 1), 1);

-- ulid_new
SELECT
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 45) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 40) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 35) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 30) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 25) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 20) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 15) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 10) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 5) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 0) & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1);

-- uuid_v7_new
SELECT printf(
    '%08x-%04x-7%03x-%04x-%012x',
    CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) >> 16,
    CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) & 65535,
    random() & 4095,
    32768 | (random() & 16383),
    random() & 281474976710655
);
