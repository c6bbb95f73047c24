-- Reads the time in ids, gives the first and last id of a time, and makes ids. For PostgreSQL 14 and later; see docs/sql.md.
--
--   ..._ms(id)      milliseconds since 1970, or NULL if the text is no id of this format
--   ..._time(id)    the same as a timestamptz, or NULL if that cannot hold it
--   ..._first(t)    the lowest id of the millisecond of t, or NULL if no id has this time
--   ..._last(t)     the highest one
--   ..._new()       a new id of txid, uuid_v7 or ulid: the time, and random bits as gen_random_uuid() has them
--
-- No function is STRICT: PostgreSQL would not inline it, and inlined it is several times as fast. NULL gives NULL all the same.


-- Written by readers/write_sql.py from formats.json:

-- txid: | time : 42 | random : 54 |

CREATE OR REPLACE FUNCTION txid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 20 AND id ~ '^[0-9A-Va-v]+[0Gg]$' THEN (
      ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 1, 1) COLLATE "C")) - 1)::bigint << 37)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 2, 1) COLLATE "C")) - 1)::bigint << 32)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 3, 1) COLLATE "C")) - 1)::bigint << 27)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 4, 1) COLLATE "C")) - 1)::bigint << 22)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 5, 1) COLLATE "C")) - 1)::bigint << 17)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 6, 1) COLLATE "C")) - 1)::bigint << 12)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 7, 1) COLLATE "C")) - 1)::bigint << 7)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 8, 1) COLLATE "C")) - 1)::bigint << 2)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', lower(substr(id, 9, 1) COLLATE "C")) - 1)::bigint >> 3)
    )
END;

CREATE OR REPLACE FUNCTION txid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(txid_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION txid_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + (((units::bigint) * 8) >> bits & 31)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 40, 5) AS bits) || '00000000000'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4398046511103
);

CREATE OR REPLACE FUNCTION txid_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + (((units::bigint) * 8 + 7) >> bits & 31)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 40, 5) AS bits) || 'vvvvvvvvvvg'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4398046511103
);


-- UUID version 1: | low : 32 | mid : 16 | version : 4 | high : 12 | variant : 2 | sequence : 14 | node : 48 |

CREATE OR REPLACE FUNCTION uuid_v1_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 36 AND id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-1[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]+$' THEN (('x' || substr(id, 16, 3) || substr(id, 10, 4) || substr(id, 1, 8))::bit(60)::bigint) / 10000 - 12219292800000
END;

CREATE OR REPLACE FUNCTION uuid_v1_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v1_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v1_ms(id uuid) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN strpos('1', substr(id::text, 15, 1)) > 0 AND strpos('89ABab', substr(id::text, 20, 1)) > 0 THEN (('x' || substr(id::text, 16, 3) || substr(id::text, 10, 4) || substr(id::text, 1, 8))::bit(60)::bigint) / 10000 - 12219292800000
END;

CREATE OR REPLACE FUNCTION uuid_v1_time(id uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v1_ms(id) / 1000::float8)::timestamptz(3);


-- UUID version 6: | time : 48 | version : 4 | time : 12 | variant : 2 | sequence : 14 | node : 48 |

CREATE OR REPLACE FUNCTION uuid_v6_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 36 AND id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-6[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]+$' THEN (('x' || substr(id, 1, 8) || substr(id, 10, 4) || substr(id, 16, 3))::bit(60)::bigint) / 10000 - 12219292800000
END;

CREATE OR REPLACE FUNCTION uuid_v6_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v6_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v6_ms(id uuid) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN strpos('6', substr(id::text, 15, 1)) > 0 AND strpos('89ABab', substr(id::text, 20, 1)) > 0 THEN (('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4) || substr(id::text, 16, 3))::bit(60)::bigint) / 10000 - 12219292800000
END;

CREATE OR REPLACE FUNCTION uuid_v6_time(id uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v6_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v6_first(t timestamptz) RETURNS uuid
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (lpad(to_hex((units::bigint * 10000) >> 12), 12, '0') || '6' || lpad(to_hex((units::bigint * 10000) % 4096), 3, '0') || '8000000000000000')::uuid
    FROM (SELECT floor(extract(epoch FROM t) * 1000) + 12219292800000) AS since (units)
    WHERE units BETWEEN 0 AND 115292150460683
);

CREATE OR REPLACE FUNCTION uuid_v6_last(t timestamptz) RETURNS uuid
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (lpad(to_hex((units::bigint * 10000 + 9999) >> 12), 12, '0') || '6' || lpad(to_hex((units::bigint * 10000 + 9999) % 4096), 3, '0') || 'bfffffffffffffff')::uuid
    FROM (SELECT floor(extract(epoch FROM t) * 1000) + 12219292800000) AS since (units)
    WHERE units BETWEEN 0 AND 115292150460683
);


-- UUID version 7: | time : 48 | version : 4 | random : 12 | variant : 2 | random : 62 |

CREATE OR REPLACE FUNCTION uuid_v7_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 36 AND id ~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]+$' THEN ('x' || substr(id, 1, 8) || substr(id, 10, 4))::bit(48)::bigint
END;

CREATE OR REPLACE FUNCTION uuid_v7_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v7_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v7_ms(id uuid) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN strpos('7', substr(id::text, 15, 1)) > 0 AND strpos('89ABab', substr(id::text, 20, 1)) > 0 THEN ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint
END;

CREATE OR REPLACE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(uuid_v7_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION uuid_v7_first(t timestamptz) RETURNS uuid
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (lpad(to_hex(units::bigint), 12, '0') || '70008000000000000000')::uuid
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 281474976710655
);

CREATE OR REPLACE FUNCTION uuid_v7_last(t timestamptz) RETURNS uuid
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (lpad(to_hex(units::bigint), 12, '0') || '7fffbfffffffffffffff')::uuid
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 281474976710655
);


-- ULID: | time : 48 | random : 80 |

CREATE OR REPLACE FUNCTION ulid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 26 AND id ~ '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]+$' THEN (
      ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 1, 1) COLLATE "C")) - 1)::bigint << 45)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 2, 1) COLLATE "C")) - 1)::bigint << 40)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 3, 1) COLLATE "C")) - 1)::bigint << 35)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 4, 1) COLLATE "C")) - 1)::bigint << 30)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 5, 1) COLLATE "C")) - 1)::bigint << 25)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 6, 1) COLLATE "C")) - 1)::bigint << 20)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 7, 1) COLLATE "C")) - 1)::bigint << 15)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 8, 1) COLLATE "C")) - 1)::bigint << 10)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 9, 1) COLLATE "C")) - 1)::bigint << 5)
    | ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(id, 10, 1) COLLATE "C")) - 1)::bigint << 0)
    )
END;

CREATE OR REPLACE FUNCTION ulid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(ulid_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION ulid_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((units::bigint) >> bits & 31)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 45, 5) AS bits) || '0000000000000000'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 281474976710655
);

CREATE OR REPLACE FUNCTION ulid_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((units::bigint) >> bits & 31)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 45, 5) AS bits) || 'ZZZZZZZZZZZZZZZZ'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 281474976710655
);


-- xid: | time : 32 | machine : 24 | pid : 16 | counter : 24 |

CREATE OR REPLACE FUNCTION xid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 20 AND id ~ '^[0-9a-v]+[0g]$' THEN ((
      ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 1, 1) COLLATE "C") - 1)::bigint << 27)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 2, 1) COLLATE "C") - 1)::bigint << 22)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 3, 1) COLLATE "C") - 1)::bigint << 17)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 4, 1) COLLATE "C") - 1)::bigint << 12)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 5, 1) COLLATE "C") - 1)::bigint << 7)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 6, 1) COLLATE "C") - 1)::bigint << 2)
    | ((strpos('0123456789abcdefghijklmnopqrstuv', substr(id, 7, 1) COLLATE "C") - 1)::bigint >> 3)
    )) * 1000
END;

CREATE OR REPLACE FUNCTION xid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(xid_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION xid_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + (((units::bigint) * 8) >> bits & 31)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 30, 5) AS bits) || '0000000000000'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);

CREATE OR REPLACE FUNCTION xid_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('0123456789abcdefghijklmnopqrstuv', 1 + (((units::bigint) * 8 + 7) >> bits & 31)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 30, 5) AS bits) || 'vvvvvvvvvvvvg'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);


-- ObjectId: | time : 32 | random : 40 | counter : 24 |

CREATE OR REPLACE FUNCTION objectid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 24 AND id ~ '^[0-9A-Fa-f]+$' THEN (('x' || substr(id, 1, 8))::bit(32)::bigint) * 1000
END;

CREATE OR REPLACE FUNCTION objectid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(objectid_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION objectid_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex(units::bigint), 8, '0') || '0000000000000000'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);

CREATE OR REPLACE FUNCTION objectid_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex(units::bigint), 8, '0') || 'ffffffffffffffff'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);


-- CUID: | time : 42 | counter : 21 | fingerprint : 21 | random : 42 |

CREATE OR REPLACE FUNCTION cuid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 25 AND id ~ '^c[0-9a-z]+$' THEN (
      (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 2, 1) COLLATE "C") - 1)::bigint * 78364164096
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 3, 1) COLLATE "C") - 1)::bigint * 2176782336
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 4, 1) COLLATE "C") - 1)::bigint * 60466176
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 5, 1) COLLATE "C") - 1)::bigint * 1679616
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 6, 1) COLLATE "C") - 1)::bigint * 46656
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 7, 1) COLLATE "C") - 1)::bigint * 1296
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 8, 1) COLLATE "C") - 1)::bigint * 36
    + (strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(id, 9, 1) COLLATE "C") - 1)::bigint * 1
    )
END;

CREATE OR REPLACE FUNCTION cuid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(cuid_ms(id) / 1000::float8)::timestamptz(3);


-- push id: | time : 48 | random : 72 |

CREATE OR REPLACE FUNCTION pushid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 20 AND id ~ '^[0-9A-Z_a-z-]+$' THEN (
      ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 1, 1) COLLATE "C") - 1)::bigint << 42)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 2, 1) COLLATE "C") - 1)::bigint << 36)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 3, 1) COLLATE "C") - 1)::bigint << 30)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 4, 1) COLLATE "C") - 1)::bigint << 24)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 5, 1) COLLATE "C") - 1)::bigint << 18)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 6, 1) COLLATE "C") - 1)::bigint << 12)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 7, 1) COLLATE "C") - 1)::bigint << 6)
    | ((strpos('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', substr(id, 8, 1) COLLATE "C") - 1)::bigint << 0)
    )
END;

CREATE OR REPLACE FUNCTION pushid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(pushid_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION pushid_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((units::bigint) >> bits & 63)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 42, 6) AS bits) || '------------'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 281474976710655
);

CREATE OR REPLACE FUNCTION pushid_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT (SELECT string_agg(substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', 1 + ((units::bigint) >> bits & 63)::int, 1), '' ORDER BY bits DESC) FROM generate_series(0, 42, 6) AS bits) || 'zzzzzzzzzzzz'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 281474976710655
);


-- Apache UNIQUE_ID: | time : 32 | random : 80 | counter : 16 | thread : 32 |

CREATE OR REPLACE FUNCTION unique_id_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 27 AND id ~ '^[0-9A-Z_a-z-]+[048AEIMQUYcgkosw]$' THEN ((
      ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 1, 1) COLLATE "C") - 1)::bigint << 26)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 2, 1) COLLATE "C") - 1)::bigint << 20)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 3, 1) COLLATE "C") - 1)::bigint << 14)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 4, 1) COLLATE "C") - 1)::bigint << 8)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 5, 1) COLLATE "C") - 1)::bigint << 2)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', substr(id, 6, 1) COLLATE "C") - 1)::bigint >> 4)
    )) * 1000
    WHEN length(id) = 27 AND id ~ '^[0-9@-Za-z-]+[048AEIMQUYcgkosw]$' THEN ((
      ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 1, 1) COLLATE "C") - 1)::bigint << 26)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 2, 1) COLLATE "C") - 1)::bigint << 20)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 3, 1) COLLATE "C") - 1)::bigint << 14)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 4, 1) COLLATE "C") - 1)::bigint << 8)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 5, 1) COLLATE "C") - 1)::bigint << 2)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 6, 1) COLLATE "C") - 1)::bigint >> 4)
    )) * 1000
END;

CREATE OR REPLACE FUNCTION unique_id_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(unique_id_ms(id) / 1000::float8)::timestamptz(3);


-- Apache UNIQUE_ID: | time : 32 | address : 32 | pid : 32 | counter : 16 | thread : 32 |

CREATE OR REPLACE FUNCTION unique_id_short_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 24 AND id ~ '^[0-9@-Za-z-]+$' THEN ((
      ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 1, 1) COLLATE "C") - 1)::bigint << 26)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 2, 1) COLLATE "C") - 1)::bigint << 20)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 3, 1) COLLATE "C") - 1)::bigint << 14)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 4, 1) COLLATE "C") - 1)::bigint << 8)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 5, 1) COLLATE "C") - 1)::bigint << 2)
    | ((strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-', substr(id, 6, 1) COLLATE "C") - 1)::bigint >> 4)
    )) * 1000
END;

CREATE OR REPLACE FUNCTION unique_id_short_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(unique_id_short_ms(id) / 1000::float8)::timestamptz(3);


-- time-ordered trace id: | time : 41 | sequence : 23 | random : 64 |

CREATE OR REPLACE FUNCTION trace_id_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 32 AND id ~ '^[0-9a-f]+$' THEN ('x' || substr(id, 1, 11))::bit(44)::bigint >> 3
END;

CREATE OR REPLACE FUNCTION trace_id_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(trace_id_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION trace_id_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex((units::bigint) * 8), 11, '0') || '000000000000000000000'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 2199023255551
);

CREATE OR REPLACE FUNCTION trace_id_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex((units::bigint) * 8 + 7), 11, '0') || 'fffffffffffffffffffff'
    FROM (SELECT floor(extract(epoch FROM t) * 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 2199023255551
);


-- X-Ray trace id: | time : 32 | random : 96 |

CREATE OR REPLACE FUNCTION xray_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 35 AND id ~ '^1-[0-9a-f]{8}-[0-9a-f]+$' AND id <> '1-00000000-000000000000000000000000' THEN (('x' || substr(id, 3, 8))::bit(32)::bigint) * 1000
    WHEN length(id) = 32 AND id ~ '^[0-9a-f]+$' AND id <> '00000000000000000000000000000000' THEN (('x' || substr(id, 1, 8))::bit(32)::bigint) * 1000
END;

CREATE OR REPLACE FUNCTION xray_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(xray_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION xray_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT '1-' || lpad(to_hex(units::bigint), 8, '0') || '-000000000000000000000000'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);

CREATE OR REPLACE FUNCTION xray_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT '1-' || lpad(to_hex(units::bigint), 8, '0') || '-ffffffffffffffffffffffff'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);


-- Datadog trace id: | time : 32 | 0 : 32 | random : 64 |

CREATE OR REPLACE FUNCTION datadog_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 32 AND id ~ '^[0-9a-f]{8}0{8}[0-9a-f]+$' AND id <> '00000000000000000000000000000000' THEN (('x' || substr(id, 1, 8))::bit(32)::bigint) * 1000
END;

CREATE OR REPLACE FUNCTION datadog_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(datadog_ms(id) / 1000::float8)::timestamptz(3);

CREATE OR REPLACE FUNCTION datadog_first(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex(units::bigint), 8, '0') || '000000000000000000000000'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);

CREATE OR REPLACE FUNCTION datadog_last(t timestamptz) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT lpad(to_hex(units::bigint), 8, '0') || '00000000ffffffffffffffff'
    FROM (SELECT floor((floor(extract(epoch FROM t) * 1000)) / 1000)) AS since (units)
    WHERE units BETWEEN 0 AND 4294967295
);


-- EagleId: | address : 32 | time : 44 | sequence : 14 |

CREATE OR REPLACE FUNCTION eagleid_ms(id text) RETURNS bigint
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(id) = 26 AND id ~ '^[0-9a-f]{8}[0-9]+e$' THEN (substr(id, 9, 13))::bigint
END;

CREATE OR REPLACE FUNCTION eagleid_time(id text) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(eagleid_ms(id) / 1000::float8)::timestamptz(3);

-- The end of what it writes.


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
