-- Reads the time in ids, and gives the first and last id of a time. For ClickHouse 23.10 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a DateTime64(3) in UTC, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--
-- t is a Date, a DateTime, a DateTime64 or a text in UTC.

CREATE OR REPLACE FUNCTION us_of_time AS (t) -> toUnixTimestamp64Micro(toDateTime64(t, 6, 'UTC'));


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |

CREATE OR REPLACE FUNCTION txid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Va-v]{19}[0Gg]$') THEN (
      (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 1, 1))) - 1), 37))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 2, 1))) - 1), 32))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 3, 1))) - 1), 27))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 4, 1))) - 1), 22))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 5, 1))) - 1), 17))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 6, 1))) - 1), 12))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 7, 1))) - 1), 7))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 8, 1))) - 1), 2))
    + (bitShiftRight(toInt64(position('0123456789abcdefghijklmnopqrstuv', lower(substring(id, 9, 1))) - 1), 3))
    )
END;

CREATE OR REPLACE FUNCTION txid_time AS (id) -> fromUnixTimestamp64Milli(txid_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION txid_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4398046511103999,
    arrayStringConcat(arrayMap(bits -> substring('0123456789abcdefghijklmnopqrstuv', 1 + bitAnd(bitShiftRight((intDiv(us_of_time(t), 1000)) * 8, bits), 31), 1), [40, 35, 30, 25, 20, 15, 10, 5, 0])) || '00000000000',
    NULL
);

CREATE OR REPLACE FUNCTION txid_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4398046511103999,
    arrayStringConcat(arrayMap(bits -> substring('0123456789abcdefghijklmnopqrstuv', 1 + bitAnd(bitShiftRight((intDiv(us_of_time(t), 1000)) * 8 + 7, bits), 31), 1), [40, 35, 30, 25, 20, 15, 10, 5, 0])) || 'vvvvvvvvvvg',
    NULL
);


-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |

CREATE OR REPLACE FUNCTION uuid_v1_ms AS (id) -> CASE
    WHEN match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-1[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$') THEN intDiv((toInt64(reinterpretAsUInt64(reverse(unhex('0' || substring(toString(id), 16, 3) || substring(toString(id), 10, 4) || substring(toString(id), 1, 8)))))), 10000) - 12219292800000
END;

CREATE OR REPLACE FUNCTION uuid_v1_time AS (id) -> if(uuid_v1_ms(id) BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(uuid_v1_ms(id), 'UTC'), NULL);


-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |

CREATE OR REPLACE FUNCTION uuid_v6_ms AS (id) -> CASE
    WHEN match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-6[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$') THEN intDiv((toInt64(reinterpretAsUInt64(reverse(unhex('0' || substring(toString(id), 1, 8) || substring(toString(id), 10, 4) || substring(toString(id), 16, 3)))))), 10000) - 12219292800000
END;

CREATE OR REPLACE FUNCTION uuid_v6_time AS (id) -> if(uuid_v6_ms(id) BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(uuid_v6_ms(id), 'UTC'), NULL);

CREATE OR REPLACE FUNCTION uuid_v6_first AS (t) -> if(
    us_of_time(t) BETWEEN -12219292800000000 AND 103072857660683999,
    lower(right(hex(4294967296 + bitShiftRight((intDiv(us_of_time(t) + 12219292800000000, 1000) * 10000), 28)), 8)) || '-' || lower(right(hex(65536 + (bitShiftRight((intDiv(us_of_time(t) + 12219292800000000, 1000) * 10000), 12)) % 65536), 4)) || '-6' || lower(right(hex(4096 + (intDiv(us_of_time(t) + 12219292800000000, 1000) * 10000) % 4096), 3)) || '-8000-000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION uuid_v6_last AS (t) -> if(
    us_of_time(t) BETWEEN -12219292800000000 AND 103072857660683999,
    lower(right(hex(4294967296 + bitShiftRight((intDiv(us_of_time(t) + 12219292800000000, 1000) * 10000 + 9999), 28)), 8)) || '-' || lower(right(hex(65536 + (bitShiftRight((intDiv(us_of_time(t) + 12219292800000000, 1000) * 10000 + 9999), 12)) % 65536), 4)) || '-6' || lower(right(hex(4096 + (intDiv(us_of_time(t) + 12219292800000000, 1000) * 10000 + 9999) % 4096), 3)) || '-bfff-ffffffffffff',
    NULL
);


-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |

CREATE OR REPLACE FUNCTION uuid_v7_ms AS (id) -> CASE
    WHEN match(toString(id), '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$') THEN toInt64(reinterpretAsUInt64(reverse(unhex('0000' || substring(toString(id), 1, 8) || substring(toString(id), 10, 4)))))
END;

CREATE OR REPLACE FUNCTION uuid_v7_time AS (id) -> if(uuid_v7_ms(id) BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(uuid_v7_ms(id), 'UTC'), NULL);

CREATE OR REPLACE FUNCTION uuid_v7_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 281474976710655999,
    lower(right(hex(4294967296 + bitShiftRight(intDiv(us_of_time(t), 1000), 16)), 8)) || '-' || lower(right(hex(65536 + intDiv(us_of_time(t), 1000) % 65536), 4)) || '-7000-8000-000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION uuid_v7_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 281474976710655999,
    lower(right(hex(4294967296 + bitShiftRight(intDiv(us_of_time(t), 1000), 16)), 8)) || '-' || lower(right(hex(65536 + intDiv(us_of_time(t), 1000) % 65536), 4)) || '-7fff-bfff-ffffffffffff',
    NULL
);


-- ULID: | time : 48 | random : 80 |

CREATE OR REPLACE FUNCTION ulid_ms AS (id) -> CASE
    WHEN match(id, '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$') THEN (
      (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 1, 1))) - 1), 45))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 2, 1))) - 1), 40))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 3, 1))) - 1), 35))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 4, 1))) - 1), 30))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 5, 1))) - 1), 25))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 6, 1))) - 1), 20))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 7, 1))) - 1), 15))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 8, 1))) - 1), 10))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 9, 1))) - 1), 5))
    + (bitShiftLeft(toInt64(position('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substring(id, 10, 1))) - 1), 0))
    )
END;

CREATE OR REPLACE FUNCTION ulid_time AS (id) -> if(ulid_ms(id) BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(ulid_ms(id), 'UTC'), NULL);

CREATE OR REPLACE FUNCTION ulid_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 281474976710655999,
    arrayStringConcat(arrayMap(bits -> substring('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + bitAnd(bitShiftRight(intDiv(us_of_time(t), 1000), bits), 31), 1), [45, 40, 35, 30, 25, 20, 15, 10, 5, 0])) || '0000000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION ulid_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 281474976710655999,
    arrayStringConcat(arrayMap(bits -> substring('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + bitAnd(bitShiftRight(intDiv(us_of_time(t), 1000), bits), 31), 1), [45, 40, 35, 30, 25, 20, 15, 10, 5, 0])) || 'ZZZZZZZZZZZZZZZZ',
    NULL
);


-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |

CREATE OR REPLACE FUNCTION xid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-v]{19}[0g]$') THEN ((
      (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 1, 1)) - 1), 27))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 2, 1)) - 1), 22))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 3, 1)) - 1), 17))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 4, 1)) - 1), 12))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 5, 1)) - 1), 7))
    + (bitShiftLeft(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 6, 1)) - 1), 2))
    + (bitShiftRight(toInt64(position('0123456789abcdefghijklmnopqrstuv', substring(id, 7, 1)) - 1), 3))
    )) * 1000
END;

CREATE OR REPLACE FUNCTION xid_time AS (id) -> fromUnixTimestamp64Milli(xid_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION xid_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    arrayStringConcat(arrayMap(bits -> substring('0123456789abcdefghijklmnopqrstuv', 1 + bitAnd(bitShiftRight((intDiv(us_of_time(t), 1000000)) * 8, bits), 31), 1), [30, 25, 20, 15, 10, 5, 0])) || '0000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION xid_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    arrayStringConcat(arrayMap(bits -> substring('0123456789abcdefghijklmnopqrstuv', 1 + bitAnd(bitShiftRight((intDiv(us_of_time(t), 1000000)) * 8 + 7, bits), 31), 1), [30, 25, 20, 15, 10, 5, 0])) || 'vvvvvvvvvvvvg',
    NULL
);


-- ObjectId: | time : 32 | random : 40 | counter : 24 |

CREATE OR REPLACE FUNCTION objectid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Fa-f]{24}$') THEN (toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 1, 8)))))) * 1000
END;

CREATE OR REPLACE FUNCTION objectid_time AS (id) -> fromUnixTimestamp64Milli(objectid_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION objectid_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    lower(right(hex(4294967296 + intDiv(us_of_time(t), 1000000)), 8)) || '0000000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION objectid_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    lower(right(hex(4294967296 + intDiv(us_of_time(t), 1000000)), 8)) || 'ffffffffffffffff',
    NULL
);


-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |

CREATE OR REPLACE FUNCTION cuid_ms AS (id) -> CASE
    WHEN match(id, '^c[0-9a-z]{24}$') THEN (
      toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 2, 1)) - 1) * 78364164096
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 3, 1)) - 1) * 2176782336
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 4, 1)) - 1) * 60466176
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 5, 1)) - 1) * 1679616
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 6, 1)) - 1) * 46656
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 7, 1)) - 1) * 1296
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 8, 1)) - 1) * 36
    + toInt64(position('0123456789abcdefghijklmnopqrstuvwxyz', substring(id, 9, 1)) - 1) * 1
    )
END;

CREATE OR REPLACE FUNCTION cuid_time AS (id) -> fromUnixTimestamp64Milli(cuid_ms(id), 'UTC');


-- push id: | time : 48 | random : 72 |

CREATE OR REPLACE FUNCTION pushid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Z_a-z-]{20}$') THEN (
      (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 1, 1)) - 1), 42))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 2, 1)) - 1), 36))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 3, 1)) - 1), 30))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 4, 1)) - 1), 24))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 5, 1)) - 1), 18))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 6, 1)) - 1), 12))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 7, 1)) - 1), 6))
    + (bitShiftLeft(toInt64(position('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substring(id, 8, 1)) - 1), 0))
    )
END;

CREATE OR REPLACE FUNCTION pushid_time AS (id) -> if(pushid_ms(id) BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(pushid_ms(id), 'UTC'), NULL);

CREATE OR REPLACE FUNCTION pushid_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 281474976710655999,
    arrayStringConcat(arrayMap(bits -> substring('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + bitAnd(bitShiftRight(intDiv(us_of_time(t), 1000), bits), 63), 1), [42, 36, 30, 24, 18, 12, 6, 0])) || '------------',
    NULL
);

CREATE OR REPLACE FUNCTION pushid_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 281474976710655999,
    arrayStringConcat(arrayMap(bits -> substring('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + bitAnd(bitShiftRight(intDiv(us_of_time(t), 1000), bits), 63), 1), [42, 36, 30, 24, 18, 12, 6, 0])) || 'zzzzzzzzzzzz',
    NULL
);


-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |

CREATE OR REPLACE FUNCTION unique_id_ms AS (id) -> CASE
    WHEN match(id, '^[0-9A-Z_a-z-]{26}[048AEIMQUYcgkosw]$') THEN ((
      (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substring(id, 1, 1)) - 1), 26))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substring(id, 2, 1)) - 1), 20))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substring(id, 3, 1)) - 1), 14))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substring(id, 4, 1)) - 1), 8))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substring(id, 5, 1)) - 1), 2))
    + (bitShiftRight(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substring(id, 6, 1)) - 1), 4))
    )) * 1000
    WHEN match(id, '^[0-9@-Za-z-]{26}[048AEIMQUYcgkosw]$') THEN ((
      (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 1, 1)) - 1), 26))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 2, 1)) - 1), 20))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 3, 1)) - 1), 14))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 4, 1)) - 1), 8))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 5, 1)) - 1), 2))
    + (bitShiftRight(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 6, 1)) - 1), 4))
    )) * 1000
END;

CREATE OR REPLACE FUNCTION unique_id_time AS (id) -> fromUnixTimestamp64Milli(unique_id_ms(id), 'UTC');


-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |

CREATE OR REPLACE FUNCTION unique_id_short_ms AS (id) -> CASE
    WHEN match(id, '^[0-9@-Za-z-]{24}$') THEN ((
      (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 1, 1)) - 1), 26))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 2, 1)) - 1), 20))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 3, 1)) - 1), 14))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 4, 1)) - 1), 8))
    + (bitShiftLeft(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 5, 1)) - 1), 2))
    + (bitShiftRight(toInt64(position('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substring(id, 6, 1)) - 1), 4))
    )) * 1000
END;

CREATE OR REPLACE FUNCTION unique_id_short_time AS (id) -> fromUnixTimestamp64Milli(unique_id_short_ms(id), 'UTC');


-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |

CREATE OR REPLACE FUNCTION trace_id_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-f]{32}$') THEN bitShiftRight(toInt64(reinterpretAsUInt64(reverse(unhex('00000' || substring(id, 1, 11))))), 3)
END;

CREATE OR REPLACE FUNCTION trace_id_time AS (id) -> fromUnixTimestamp64Milli(trace_id_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION trace_id_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 2199023255551999,
    lower(right(hex(17592186044416 + (intDiv(us_of_time(t), 1000)) * 8), 11)) || '000000000000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION trace_id_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 2199023255551999,
    lower(right(hex(17592186044416 + (intDiv(us_of_time(t), 1000)) * 8 + 7), 11)) || 'fffffffffffffffffffff',
    NULL
);


-- X-Ray trace id: | time : 32 | random : 96 |

CREATE OR REPLACE FUNCTION xray_ms AS (id) -> CASE
    WHEN match(id, '^1-[0-9a-f]{8}-[0-9a-f]{24}$') AND id <> '1-00000000-000000000000000000000000' THEN (toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 3, 8)))))) * 1000
    WHEN match(id, '^[0-9a-f]{32}$') AND id <> '00000000000000000000000000000000' THEN (toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 1, 8)))))) * 1000
END;

CREATE OR REPLACE FUNCTION xray_time AS (id) -> fromUnixTimestamp64Milli(xray_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION xray_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    '1-' || lower(right(hex(4294967296 + intDiv(us_of_time(t), 1000000)), 8)) || '-000000000000000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION xray_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    '1-' || lower(right(hex(4294967296 + intDiv(us_of_time(t), 1000000)), 8)) || '-ffffffffffffffffffffffff',
    NULL
);


-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |

CREATE OR REPLACE FUNCTION datadog_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-f]{8}0{8}[0-9a-f]{16}$') AND id <> '00000000000000000000000000000000' THEN (toInt64(reinterpretAsUInt64(reverse(unhex('00000000' || substring(id, 1, 8)))))) * 1000
END;

CREATE OR REPLACE FUNCTION datadog_time AS (id) -> fromUnixTimestamp64Milli(datadog_ms(id), 'UTC');

CREATE OR REPLACE FUNCTION datadog_first AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    lower(right(hex(4294967296 + intDiv(us_of_time(t), 1000000)), 8)) || '000000000000000000000000',
    NULL
);

CREATE OR REPLACE FUNCTION datadog_last AS (t) -> if(
    us_of_time(t) BETWEEN 0 AND 4294967295999999,
    lower(right(hex(4294967296 + intDiv(us_of_time(t), 1000000)), 8)) || '00000000ffffffffffffffff',
    NULL
);


-- EagleId: | address : 32 | time : 44 | sequence : 14 |

CREATE OR REPLACE FUNCTION eagleid_ms AS (id) -> CASE
    WHEN match(id, '^[0-9a-f]{8}[0-9]{17}e$') THEN toInt64(substring(id, 9, 13))
END;

CREATE OR REPLACE FUNCTION eagleid_time AS (id) -> if(eagleid_ms(id) BETWEEN -2208988800000 AND 10413791999999, fromUnixTimestamp64Milli(eagleid_ms(id), 'UTC'), NULL);

-- The end of what it writes.


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
