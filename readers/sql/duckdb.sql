-- Reads the time in ids, and gives the first and last id of a time. For DuckDB 1.3 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a TIMESTAMP in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--
-- t is a DATE, a TIMESTAMP in UTC or a TIMESTAMPTZ.


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |

CREATE OR REPLACE MACRO txid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Va-v]{19}[0Gg]') THEN (
      ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 1, 1))) - 1) << 37)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 2, 1))) - 1) << 32)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 3, 1))) - 1) << 27)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 4, 1))) - 1) << 22)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 5, 1))) - 1) << 17)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 6, 1))) - 1) << 12)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 7, 1))) - 1) << 7)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 8, 1))) - 1) << 2)
    | ((instr('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 9, 1))) - 1) >> 3)
    )
END;

CREATE OR REPLACE MACRO txid_time(id) AS epoch_ms(txid_ms(id));

CREATE OR REPLACE MACRO txid_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4398046511103999 THEN
    array_to_string([substr('0123456789abcdefghijklmnopqrstuv', 1 + (((((epoch_us(t) // 1000)) * 8) >> bits) & 31)::INTEGER, 1) FOR bits IN [40, 35, 30, 25, 20, 15, 10, 5, 0]], '') || '00000000000'
END;

CREATE OR REPLACE MACRO txid_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4398046511103999 THEN
    array_to_string([substr('0123456789abcdefghijklmnopqrstuv', 1 + (((((epoch_us(t) // 1000)) * 8 + 7) >> bits) & 31)::INTEGER, 1) FOR bits IN [40, 35, 30, 25, 20, 15, 10, 5, 0]], '') || 'vvvvvvvvvvg'
END;


-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |

CREATE OR REPLACE MACRO uuid_v1_ms(id) AS CASE
    WHEN regexp_full_match(id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-1[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}') THEN (TRY_CAST('0x' || substr(id::VARCHAR, 16, 3) || substr(id::VARCHAR, 10, 4) || substr(id::VARCHAR, 1, 8) AS BIGINT)) // 10000 - 12219292800000
END;

CREATE OR REPLACE MACRO uuid_v1_time(id) AS epoch_ms(uuid_v1_ms(id));


-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |

CREATE OR REPLACE MACRO uuid_v6_ms(id) AS CASE
    WHEN regexp_full_match(id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-6[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}') THEN (TRY_CAST('0x' || substr(id::VARCHAR, 1, 8) || substr(id::VARCHAR, 10, 4) || substr(id::VARCHAR, 16, 3) AS BIGINT)) // 10000 - 12219292800000
END;

CREATE OR REPLACE MACRO uuid_v6_time(id) AS epoch_ms(uuid_v6_ms(id));

CREATE OR REPLACE MACRO uuid_v6_first(t) AS CASE WHEN epoch_us(t) BETWEEN -12219292800000000 AND 103072857660683999 THEN
    (printf('%012x', (((epoch_us(t) - -12219292800000000) // 1000) * 10000) >> 12) || '6' || printf('%03x', (((epoch_us(t) - -12219292800000000) // 1000) * 10000) % 4096) || '8000000000000000')::UUID
END;

CREATE OR REPLACE MACRO uuid_v6_last(t) AS CASE WHEN epoch_us(t) BETWEEN -12219292800000000 AND 103072857660683999 THEN
    (printf('%012x', (((epoch_us(t) - -12219292800000000) // 1000) * 10000 + 9999) >> 12) || '6' || printf('%03x', (((epoch_us(t) - -12219292800000000) // 1000) * 10000 + 9999) % 4096) || 'bfffffffffffffff')::UUID
END;


-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |

CREATE OR REPLACE MACRO uuid_v7_ms(id) AS CASE
    WHEN regexp_full_match(id::VARCHAR, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}') THEN TRY_CAST('0x' || substr(id::VARCHAR, 1, 8) || substr(id::VARCHAR, 10, 4) AS BIGINT)
END;

CREATE OR REPLACE MACRO uuid_v7_time(id) AS epoch_ms(uuid_v7_ms(id));

CREATE OR REPLACE MACRO uuid_v7_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    (printf('%012x', (epoch_us(t) // 1000)) || '70008000000000000000')::UUID
END;

CREATE OR REPLACE MACRO uuid_v7_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    (printf('%012x', (epoch_us(t) // 1000)) || '7fffbfffffffffffffff')::UUID
END;


-- ULID: | time : 48 | random : 80 |

CREATE OR REPLACE MACRO ulid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}') THEN (
      ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 1, 1))) - 1) << 45)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 2, 1))) - 1) << 40)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 3, 1))) - 1) << 35)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 4, 1))) - 1) << 30)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 5, 1))) - 1) << 25)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 6, 1))) - 1) << 20)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 7, 1))) - 1) << 15)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 8, 1))) - 1) << 10)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 9, 1))) - 1) << 5)
    | ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 10, 1))) - 1) << 0)
    )
END;

CREATE OR REPLACE MACRO ulid_time(id) AS epoch_ms(ulid_ms(id));

CREATE OR REPLACE MACRO ulid_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    array_to_string([substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((((epoch_us(t) // 1000)) >> bits) & 31)::INTEGER, 1) FOR bits IN [45, 40, 35, 30, 25, 20, 15, 10, 5, 0]], '') || '0000000000000000'
END;

CREATE OR REPLACE MACRO ulid_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    array_to_string([substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((((epoch_us(t) // 1000)) >> bits) & 31)::INTEGER, 1) FOR bits IN [45, 40, 35, 30, 25, 20, 15, 10, 5, 0]], '') || 'ZZZZZZZZZZZZZZZZ'
END;


-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |

CREATE OR REPLACE MACRO xid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-v]{19}[0g]') THEN ((
      ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 1, 1)) - 1) << 27)
    | ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 2, 1)) - 1) << 22)
    | ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 3, 1)) - 1) << 17)
    | ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 4, 1)) - 1) << 12)
    | ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 5, 1)) - 1) << 7)
    | ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 6, 1)) - 1) << 2)
    | ((instr('0123456789abcdefghijklmnopqrstuv', substr(id, 7, 1)) - 1) >> 3)
    )) * 1000
END;

CREATE OR REPLACE MACRO xid_time(id) AS epoch_ms(xid_ms(id));

CREATE OR REPLACE MACRO xid_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    array_to_string([substr('0123456789abcdefghijklmnopqrstuv', 1 + (((((epoch_us(t) // 1000000)) * 8) >> bits) & 31)::INTEGER, 1) FOR bits IN [30, 25, 20, 15, 10, 5, 0]], '') || '0000000000000'
END;

CREATE OR REPLACE MACRO xid_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    array_to_string([substr('0123456789abcdefghijklmnopqrstuv', 1 + (((((epoch_us(t) // 1000000)) * 8 + 7) >> bits) & 31)::INTEGER, 1) FOR bits IN [30, 25, 20, 15, 10, 5, 0]], '') || 'vvvvvvvvvvvvg'
END;


-- ObjectId: | time : 32 | random : 40 | counter : 24 |

CREATE OR REPLACE MACRO objectid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Fa-f]{24}') THEN (TRY_CAST('0x' || substr(id, 1, 8) AS BIGINT)) * 1000
END;

CREATE OR REPLACE MACRO objectid_time(id) AS epoch_ms(objectid_ms(id));

CREATE OR REPLACE MACRO objectid_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    printf('%08x', (epoch_us(t) // 1000000)) || '0000000000000000'
END;

CREATE OR REPLACE MACRO objectid_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    printf('%08x', (epoch_us(t) // 1000000)) || 'ffffffffffffffff'
END;


-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |

CREATE OR REPLACE MACRO cuid_ms(id) AS CASE
    WHEN regexp_full_match(id, 'c[0-9a-z]{24}') THEN (
      (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 2, 1)) - 1) * 78364164096
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 3, 1)) - 1) * 2176782336
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 4, 1)) - 1) * 60466176
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 5, 1)) - 1) * 1679616
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 6, 1)) - 1) * 46656
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 7, 1)) - 1) * 1296
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 8, 1)) - 1) * 36
    + (instr('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 9, 1)) - 1) * 1
    )
END;

CREATE OR REPLACE MACRO cuid_time(id) AS epoch_ms(cuid_ms(id));


-- push id: | time : 48 | random : 72 |

CREATE OR REPLACE MACRO pushid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Z_a-z-]{20}') THEN (
      ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 1, 1)) - 1) << 42)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 2, 1)) - 1) << 36)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 3, 1)) - 1) << 30)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 4, 1)) - 1) << 24)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 5, 1)) - 1) << 18)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 6, 1)) - 1) << 12)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 7, 1)) - 1) << 6)
    | ((instr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 8, 1)) - 1) << 0)
    )
END;

CREATE OR REPLACE MACRO pushid_time(id) AS epoch_ms(pushid_ms(id));

CREATE OR REPLACE MACRO pushid_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    array_to_string([substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((((epoch_us(t) // 1000)) >> bits) & 63)::INTEGER, 1) FOR bits IN [42, 36, 30, 24, 18, 12, 6, 0]], '') || '------------'
END;

CREATE OR REPLACE MACRO pushid_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 281474976710655999 THEN
    array_to_string([substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((((epoch_us(t) // 1000)) >> bits) & 63)::INTEGER, 1) FOR bits IN [42, 36, 30, 24, 18, 12, 6, 0]], '') || 'zzzzzzzzzzzz'
END;


-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |

CREATE OR REPLACE MACRO unique_id_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9A-Z_a-z-]{26}[048AEIMQUYcgkosw]') THEN ((
      ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 1, 1)) - 1) << 26)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 2, 1)) - 1) << 20)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 3, 1)) - 1) << 14)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 4, 1)) - 1) << 8)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 5, 1)) - 1) << 2)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 6, 1)) - 1) >> 4)
    )) * 1000
    WHEN regexp_full_match(id, '[0-9@-Za-z-]{26}[048AEIMQUYcgkosw]') THEN ((
      ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 1, 1)) - 1) << 26)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 2, 1)) - 1) << 20)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 3, 1)) - 1) << 14)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 4, 1)) - 1) << 8)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 5, 1)) - 1) << 2)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 6, 1)) - 1) >> 4)
    )) * 1000
END;

CREATE OR REPLACE MACRO unique_id_time(id) AS epoch_ms(unique_id_ms(id));


-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |

CREATE OR REPLACE MACRO unique_id_short_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9@-Za-z-]{24}') THEN ((
      ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 1, 1)) - 1) << 26)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 2, 1)) - 1) << 20)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 3, 1)) - 1) << 14)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 4, 1)) - 1) << 8)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 5, 1)) - 1) << 2)
    | ((instr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 6, 1)) - 1) >> 4)
    )) * 1000
END;

CREATE OR REPLACE MACRO unique_id_short_time(id) AS epoch_ms(unique_id_short_ms(id));


-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |

CREATE OR REPLACE MACRO trace_id_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{32}') THEN TRY_CAST('0x' || substr(id, 1, 11) AS BIGINT) >> 3
END;

CREATE OR REPLACE MACRO trace_id_time(id) AS epoch_ms(trace_id_ms(id));

CREATE OR REPLACE MACRO trace_id_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 2199023255551999 THEN
    printf('%011x', ((epoch_us(t) // 1000)) * 8) || '000000000000000000000'
END;

CREATE OR REPLACE MACRO trace_id_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 2199023255551999 THEN
    printf('%011x', ((epoch_us(t) // 1000)) * 8 + 7) || 'fffffffffffffffffffff'
END;


-- X-Ray trace id: | time : 32 | random : 96 |

CREATE OR REPLACE MACRO xray_ms(id) AS CASE
    WHEN regexp_full_match(id, '1-[0-9a-f]{8}-[0-9a-f]{24}') AND id <> '1-00000000-000000000000000000000000' THEN (TRY_CAST('0x' || substr(id, 3, 8) AS BIGINT)) * 1000
    WHEN regexp_full_match(id, '[0-9a-f]{32}') AND id <> '00000000000000000000000000000000' THEN (TRY_CAST('0x' || substr(id, 1, 8) AS BIGINT)) * 1000
END;

CREATE OR REPLACE MACRO xray_time(id) AS epoch_ms(xray_ms(id));

CREATE OR REPLACE MACRO xray_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    '1-' || printf('%08x', (epoch_us(t) // 1000000)) || '-000000000000000000000000'
END;

CREATE OR REPLACE MACRO xray_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    '1-' || printf('%08x', (epoch_us(t) // 1000000)) || '-ffffffffffffffffffffffff'
END;


-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |

CREATE OR REPLACE MACRO datadog_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{8}0{8}[0-9a-f]{16}') AND id <> '00000000000000000000000000000000' THEN (TRY_CAST('0x' || substr(id, 1, 8) AS BIGINT)) * 1000
END;

CREATE OR REPLACE MACRO datadog_time(id) AS epoch_ms(datadog_ms(id));

CREATE OR REPLACE MACRO datadog_first(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    printf('%08x', (epoch_us(t) // 1000000)) || '000000000000000000000000'
END;

CREATE OR REPLACE MACRO datadog_last(t) AS CASE WHEN epoch_us(t) BETWEEN 0 AND 4294967295999999 THEN
    printf('%08x', (epoch_us(t) // 1000000)) || '00000000ffffffffffffffff'
END;


-- EagleId: | address : 32 | time : 44 | sequence : 14 |

CREATE OR REPLACE MACRO eagleid_ms(id) AS CASE
    WHEN regexp_full_match(id, '[0-9a-f]{8}[0-9]{17}e') THEN TRY_CAST(substr(id, 9, 13) AS BIGINT)
END;

CREATE OR REPLACE MACRO eagleid_time(id) AS epoch_ms(eagleid_ms(id));

-- The end of what it writes.


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
