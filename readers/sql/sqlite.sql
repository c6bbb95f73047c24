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


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |
-- txid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 20 AND :id NOT GLOB '*[^0-9A-Va-v]*' AND :id GLOB '???????????????????[0Gg]' THEN ((((((((((instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 1, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 2, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 3, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 4, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 5, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 6, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 7, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 8, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(:id, 9, 1)) % 32) >> 3)
END;
-- txid_first
SELECT CASE WHEN :ms BETWEEN 0 AND 4398046511103 THEN substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 40) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 35) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 30) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 25) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 20) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 15) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 10) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 5) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 >> 0) & 31), 1) || '00000000000' END;
-- txid_last
SELECT CASE WHEN :ms BETWEEN 0 AND 4398046511103 THEN substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 40) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 35) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 30) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 25) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 20) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 15) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 10) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 5) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms * 8 + 7 >> 0) & 31), 1) || 'vvvvvvvvvvg' END;

-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |
-- uuid_v1_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 36 AND replace(:id, '-', '') NOT GLOB '*[^0-9A-Fa-f]*' AND length(replace(:id, '-', '')) = 32 AND :id GLOB '????????-????-1???-[89ABab]???-????????????' THEN (((((((((((((((instr('123456789abcdef0123456789ABCDEF', substr(:id, 16, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 17, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 18, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 10, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 11, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 12, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 13, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 8, 1)) % 16) / 10000 - 12219292800000
END;

-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |
-- uuid_v6_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 36 AND replace(:id, '-', '') NOT GLOB '*[^0-9A-Fa-f]*' AND length(replace(:id, '-', '')) = 32 AND :id GLOB '????????-????-6???-[89ABab]???-????????????' THEN (((((((((((((((instr('123456789abcdef0123456789ABCDEF', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 8, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 10, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 11, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 12, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 13, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 16, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 17, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 18, 1)) % 16) / 10000 - 12219292800000
END;
-- uuid_v6_first
SELECT CASE WHEN :ms BETWEEN -12219292800000 AND 103072857660683 THEN printf('%08x-%04x-6%03x-8000-000000000000', (((:ms + 12219292800000) * 10000) >> 28), (((:ms + 12219292800000) * 10000) >> 12) & 65535, ((:ms + 12219292800000) * 10000) & 4095) END;
-- uuid_v6_last
SELECT CASE WHEN :ms BETWEEN -12219292800000 AND 103072857660683 THEN printf('%08x-%04x-6%03x-bfff-ffffffffffff', (((:ms + 12219292800000) * 10000 + 9999) >> 28), (((:ms + 12219292800000) * 10000 + 9999) >> 12) & 65535, ((:ms + 12219292800000) * 10000 + 9999) & 4095) END;

-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |
-- uuid_v7_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 36 AND replace(:id, '-', '') NOT GLOB '*[^0-9A-Fa-f]*' AND length(replace(:id, '-', '')) = 32 AND :id GLOB '????????-????-7???-[89ABab]???-????????????' THEN ((((((((((((instr('123456789abcdef0123456789ABCDEF', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 8, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 10, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 11, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 12, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 13, 1)) % 16)
END;
-- uuid_v7_first
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN printf('%08x-%04x-7000-8000-000000000000', (:ms >> 16), :ms & 65535) END;
-- uuid_v7_last
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN printf('%08x-%04x-7fff-bfff-ffffffffffff', (:ms >> 16), :ms & 65535) END;

-- ULID: | time : 48 | random : 80 |
-- ulid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 26 AND :id NOT GLOB '*[^0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]*' AND :id GLOB '[0-7]?????????????????????????' THEN ((((((((((instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 1, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 2, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 3, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 4, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 5, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 6, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 7, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 8, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 9, 1)) % 32) * 32 + instr('123456789ABCDEFGHJKMNPQRSTVWXYZ0123456789abcdefghjkmnpqrstvwxyz', substr(:id, 10, 1)) % 32)
END;
-- ulid_first
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 45) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 40) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 35) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 30) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 25) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 20) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 15) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 10) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 5) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 0) & 31), 1) || '0000000000000000' END;
-- ulid_last
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 45) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 40) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 35) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 30) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 25) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 20) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 15) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 10) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 5) & 31), 1) || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((:ms >> 0) & 31), 1) || 'ZZZZZZZZZZZZZZZZ' END;

-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |
-- xid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 20 AND :id NOT GLOB '*[^0-9a-v]*' AND :id GLOB '???????????????????[0g]' THEN ((((((((instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 1, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 2, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 3, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 4, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 5, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 6, 1)) % 32) * 32 + instr('123456789abcdefghijklmnopqrstuv0', substr(:id, 7, 1)) % 32) >> 3) * 1000
END;
-- xid_first
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 30) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 25) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 20) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 15) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 10) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 5) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 >> 0) & 31), 1) || '0000000000000' END;
-- xid_last
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 30) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 25) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 20) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 15) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 10) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 5) & 31), 1) || substr('0123456789abcdefghijklmnopqrstuv', 1 + ((:ms / 1000 * 8 + 7 >> 0) & 31), 1) || 'vvvvvvvvvvvvg' END;

-- ObjectId: | time : 32 | random : 40 | counter : 24 |
-- objectid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 24 AND :id NOT GLOB '*[^0-9A-Fa-f]*' AND :id GLOB '????????????????????????' THEN ((((((((instr('123456789abcdef0123456789ABCDEF', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0123456789ABCDEF', substr(:id, 8, 1)) % 16) * 1000
END;
-- objectid_first
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN printf('%08x0000000000000000', :ms / 1000) END;
-- objectid_last
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN printf('%08xffffffffffffffff', :ms / 1000) END;

-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |
-- cuid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 25 AND :id NOT GLOB '*[^0-9a-z]*' AND :id GLOB 'c????????????????????????' THEN ((((((((instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 2, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 3, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 4, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 5, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 6, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 7, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 8, 1)) % 36) * 36 + instr('123456789abcdefghijklmnopqrstuvwxyz0', substr(:id, 9, 1)) % 36)
END;

-- push id: | time : 48 | random : 72 |
-- pushid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 20 AND :id NOT GLOB '*[^0-9A-Z_a-z-]*' AND :id GLOB '????????????????????' THEN ((((((((instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 1, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 2, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 3, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 4, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 5, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 6, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 7, 1)) % 64) * 64 + instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-', substr(:id, 8, 1)) % 64)
END;
-- pushid_first
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 42) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 36) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 30) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 24) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 18) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 12) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 6) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 0) & 63), 1) || '------------' END;
-- pushid_last
SELECT CASE WHEN :ms BETWEEN 0 AND 281474976710655 THEN substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 42) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 36) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 30) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 24) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 18) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 12) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 6) & 63), 1) || substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((:ms >> 0) & 63), 1) || 'zzzzzzzzzzzz' END;

-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |
-- unique_id_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 27 AND :id NOT GLOB '*[^0-9A-Z_a-z-]*' AND :id GLOB '??????????????????????????[048AEIMQUYcgkosw]' THEN (((((((instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A', substr(:id, 1, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A', substr(:id, 2, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A', substr(:id, 3, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A', substr(:id, 4, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A', substr(:id, 5, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_A', substr(:id, 6, 1)) % 64) >> 4) * 1000
    WHEN length(CAST(:id AS BLOB)) = 27 AND :id NOT GLOB '*[^0-9@-Za-z-]*' AND :id GLOB '??????????????????????????[048AEIMQUYcgkosw]' THEN (((((((instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 1, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 2, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 3, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 4, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 5, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 6, 1)) % 64) >> 4) * 1000
END;

-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |
-- unique_id_short_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 24 AND :id NOT GLOB '*[^0-9@-Za-z-]*' AND :id GLOB '????????????????????????' THEN (((((((instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 1, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 2, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 3, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 4, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 5, 1)) % 64) * 64 + instr('BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-A', substr(:id, 6, 1)) % 64) >> 4) * 1000
END;

-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |
-- trace_id_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 32 AND :id NOT GLOB '*[^0-9a-f]*' AND :id GLOB '????????????????????????????????' THEN ((((((((((((instr('123456789abcdef0', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 8, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 9, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 10, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 11, 1)) % 16) >> 3)
END;
-- trace_id_first
SELECT CASE WHEN :ms BETWEEN 0 AND 2199023255551 THEN printf('%011x000000000000000000000', :ms * 8) END;
-- trace_id_last
SELECT CASE WHEN :ms BETWEEN 0 AND 2199023255551 THEN printf('%011xfffffffffffffffffffff', :ms * 8 + 7) END;

-- X-Ray trace id: | time : 32 | random : 96 |
-- xray_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 35 AND replace(:id, '-', '') NOT GLOB '*[^0-9a-f]*' AND length(replace(:id, '-', '')) = 33 AND :id GLOB '1-????????-????????????????????????' AND :id <> '1-00000000-000000000000000000000000' THEN ((((((((instr('123456789abcdef0', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 8, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 9, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 10, 1)) % 16) * 1000
    WHEN length(CAST(:id AS BLOB)) = 32 AND :id NOT GLOB '*[^0-9a-f]*' AND :id GLOB '????????????????????????????????' AND :id <> '00000000000000000000000000000000' THEN ((((((((instr('123456789abcdef0', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 8, 1)) % 16) * 1000
END;
-- xray_first
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN printf('1-%08x-000000000000000000000000', :ms / 1000) END;
-- xray_last
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN printf('1-%08x-ffffffffffffffffffffffff', :ms / 1000) END;

-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |
-- datadog_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 32 AND :id NOT GLOB '*[^0-9a-f]*' AND :id GLOB '????????00000000????????????????' AND :id <> '00000000000000000000000000000000' THEN ((((((((instr('123456789abcdef0', substr(:id, 1, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 2, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 3, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 4, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 5, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 6, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 7, 1)) % 16) * 16 + instr('123456789abcdef0', substr(:id, 8, 1)) % 16) * 1000
END;
-- datadog_first
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN printf('%08x000000000000000000000000', :ms / 1000) END;
-- datadog_last
SELECT CASE WHEN :ms BETWEEN 0 AND 4294967295999 THEN printf('%08x00000000ffffffffffffffff', :ms / 1000) END;

-- EagleId: | address : 32 | time : 44 | sequence : 14 |
-- eagleid_ms
SELECT CASE
    WHEN length(CAST(:id AS BLOB)) = 26 AND :id NOT GLOB '*[^0-9a-f]*' AND :id GLOB '????????[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]e' THEN CAST(substr(:id, 9, 13) AS INTEGER)
END;

-- The end of what it writes.


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
WHERE n = 22 AND length(CAST(:id AS BLOB)) = 22 AND length(:id) = 22 AND :id NOT GLOB '*[^0-9A-Za-z]*' AND :id < '3tX16dB2jpss4tZORYcqo4';
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


-- 64-bit ids of any layout: | time : time_bits | node and sequence, in either order : low_bits |, where the time counts units
-- of unit_ms since epoch_ms. Twitter's is 41, 22, 1, 1288834974657.
-- snowflake_ms
SELECT CASE WHEN :id GLOB '[0-9]*' AND :id NOT GLOB '*[^0-9]*' AND CAST(:id AS INTEGER) = CAST(:id AS NUMERIC)
    AND :id >> :time_bits + :low_bits = 0 THEN (:id >> :low_bits) * :unit_ms + :epoch_ms END;
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
