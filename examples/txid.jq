# The time of txids. docs/logs.md has an example.

# Milliseconds since 1970, or null if this is no txid.
def txid_ms:
    if type == "string" and test("^[0-9A-Va-v]{19}[0Gg]$") and length == 20 then
        # The first 9 characters are 45 bits, in base 32: 42 of time and 3 random ones.
        .[:9] | ascii_downcase | explode
        | reduce .[] as $c (0; . * 32 + $c - (if $c < 58 then 48 else 87 end))
        | . / 8 | floor
    else null end;

# The same as RFC 3339, or null.
def txid_time:
    txid_ms | if . == null then null else
        (. / 1000 | floor | strftime("%FT%T.")) + (. % 1000 + 1000 | tostring | .[1:]) + "Z"
    end;
