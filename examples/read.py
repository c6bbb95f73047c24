#!/usr/bin/env python3
"""Reads an id, as docs/formats.md describes it: read.py FORMAT TEXT [LAYOUT or EPOCH]"""

import json
import re
import sys
from datetime import datetime, timedelta

BASE32 = "0123456789abcdefghijklmnopqrstuv"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
OLDER, NEWER = BASE64 + "@-", BASE64 + "-_"
GREGORIAN_MS = -12219292800000
FIRST_MS, LAST_MS, MS_IN_400_YEARS = -62167219200000, 253402300799999, 146097 * 86400000
PRESETS = {
    "snowflake": "time_bits=41,node_bits=10,sequence_bits=12,epoch=1288834974657",
    "leaf": "time_bits=41,node_bits=10,sequence_bits=12,epoch=1288834974657",
    "sonyflake": "time_bits=39,sequence_bits=8,node_bits=16,unit_ms=10,epoch=1409529600000",
    "uid": "time_bits=28,node_bits=22,sequence_bits=13,unit_ms=1000,epoch=1463673600000",
    "snowflake53": "time_bits=38,node_bits=10,sequence_bits=5,unit_ms=10,epoch=1420070400000",
    "discord": "time_bits=41,node_bits=10,sequence_bits=12,epoch=1420070400000",
    "instagram": "time_bits=40,node_bits=13,sequence_bits=10,epoch=1314220021721",
    "mastodon": "time_bits=47,node_bits=0,sequence_bits=16",
}
LIMITS = {"time_bits": (1, 63), "node_bits": (0, 63), "sequence_bits": (0, 63), "unit_ms": (1, 2**32), "epoch": (-2**53, 2**53)}


def must(condition, reason):
    if not condition:
        raise ValueError(reason)


def matched(pattern, text):
    match = re.fullmatch(pattern, text, re.ASCII)
    must(match, "not of this format")
    return match.groups()


def number(text, digits):
    value = 0
    for character in text:
        value = value * len(digits) + digits.index(character)
    return value


def split(bits, *widths):
    return [bits >> sum(widths[index + 1:]) & (1 << width) - 1 for index, width in enumerate(widths)]


def below(value, bits):
    value = int(value)
    must(value < 1 << bits, f"more than {bits} bits")
    return value


def dotted(word):
    return ".".join(str(byte) for byte in word.to_bytes(4, "big"))


def result(ms, fields, width=None, bits=0, written=None):
    fields = {name: value if isinstance(value, (bool, str)) else str(value) for name, value in fields.items()}
    return {"ms": ms, "fields": fields, "bits": width and f"{bits:0{width // 4}x}", "written": written}


def read_txid(text, _):
    matched("[0-9a-vA-V]{19}[0gG]", text)
    bits = number(text.lower(), BASE32) >> 4
    ms, random = split(bits, 42, 54)
    return result(ms, {"random": f"{random:014x}"}, 96, bits, text.lower())


def read_xid(text, _):
    matched("[0-9a-v]{19}[0g]", text)
    bits = number(text, BASE32) >> 4
    seconds, machine, pid, counter = split(bits, 32, 24, 16, 24)
    return result(seconds * 1000, {"machine": f"{machine:06x}", "pid": pid, "counter": counter}, 96, bits, text)


def read_ulid(text, _):
    matched("(?i)[0-7][0-9a-hjkmnp-tv-z]{25}", text)
    bits = number(text.upper(), CROCKFORD)
    ms, random = split(bits, 48, 80)
    return result(ms, {"random": f"{random:020x}"}, 128, bits, text.upper())


def read_ksuid(text, _):
    must(len(text) == 27, "not 27 characters")
    bits = below(number(text, BASE62), 160)
    seconds, payload = split(bits, 32, 128)
    return result((seconds + 1400000000) * 1000, {"payload": f"{payload:032x}"}, 160, bits, text)


def read_objectid(text, _):
    matched("(?i)[0-9a-f]{24}", text)
    bits = int(text, 16)
    seconds, random, counter = split(bits, 32, 40, 24)
    return result(seconds * 1000, {"random": f"{random:010x}", "counter": counter}, 96, bits, text.lower())


def read_typeid(text, _):
    prefix, suffix = matched("(?:([a-z](?:[a-z_]{0,61}[a-z])?)_)?([0-7][0-9a-hjkmnp-tv-z]{25})", text)
    bits = number(suffix.upper(), CROCKFORD)
    uuid = "-".join(matched("(.{8})(.{4})(.{4})(.{4})(.{12})", f"{bits:032x}"))
    return result(read_uuid(uuid, None)["ms"], {"prefix": prefix or "", "uuid": uuid}, 128, bits, text)


def read_cuid(text, _):
    ms, counter, fingerprint, random = matched("c([0-9a-z]{8})([0-9a-z]{4})([0-9a-z]{4})([0-9a-z]{8})", text)
    return result(number(ms, BASE36), {"counter": counter, "fingerprint": fingerprint, "random": random}, written=text)


def read_nanoid(text, _):
    matched("[A-Za-z0-9_-]{21}", text)
    return result(None, {}, written=text)


def read_xray(text, _):
    matched("[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24}", text)
    bits = int(text[-35:].replace("-", "")[-32:], 16)
    must(bits != 0, "all zeros")
    seconds, random = split(bits, 32, 96)
    return result(seconds * 1000, {"random": f"{random:024x}"}, 128, bits, f"1-{seconds:08x}-{random:024x}")


def read_datadog(text, _):
    seconds, random = matched("([0-9a-f]{8})00000000([0-9a-f]{16})", text)
    must(int(text, 16) != 0, "all zeros")
    return result(int(seconds, 16) * 1000, {"random": random}, 128, int(text, 16), text)


def read_eagleid(text, _):
    address, ms, sequence = matched("([0-9a-f]{8})([0-9]{13})([0-9]{4})e", text)
    return result(int(ms), {"address": dotted(int(address, 16)), "sequence": int(sequence)}, written=text)


def read_uuid(text, _):
    parts = matched("(?i)([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})", text)
    bits = int("".join(parts), 16)
    high, middle, version, low, top, _ = split(bits, 32, 16, 4, 12, 3, 61)
    variant = "ncs" if top < 4 else "rfc9562" if top < 6 else "microsoft" if top == 6 else "future"
    ticks = {1: low << 48 | middle << 32 | high, 6: high << 28 | middle << 12 | low}.get(version, 0)
    ms = {1: ticks // 10000 + GREGORIAN_MS, 6: ticks // 10000 + GREGORIAN_MS, 7: high << 16 | middle}.get(version)
    return result(ms if variant == "rfc9562" else None, {"version": version, "variant": variant}, 128, bits, text.lower())


def read_flake(text, _):
    must(len(text) == 22, "not 22 characters")
    bits = below(number(text, BASE62), 128)
    ms, node, sequence = split(bits, 64, 48, 16)
    return result(ms, {"node": node.to_bytes(6, "big").hex(":"), "sequence": sequence}, 128, bits, text)


def read_unique_id(text, _):
    must(len(text) in (24, 27), "neither 24 nor 27 characters")
    is_short = len(text) == 24
    bits = number(text, OLDER if is_short or "@" in text else NEWER)
    if is_short:
        seconds, address, pid, counter, thread = split(bits, 32, 32, 32, 16, 32)
        fields = {"address": dotted(address), "pid": pid, "counter": counter, "thread": thread}
        return result(seconds * 1000, fields, 144, bits, text)
    must(bits & 3 == 0, "the last two bits are not zero")
    seconds, random, counter, thread, _ = split(bits, 32, 80, 16, 32, 2)
    written = "".join(NEWER[value] for value in split(bits, *[6] * 27))
    return result(seconds * 1000, {"random": f"{random:020x}", "counter": counter, "thread": thread}, 160, bits >> 2, written)


def read_trace_id(text, epoch):
    bits = int(*matched("([0-9a-f]{32})", text), 16)
    ms, sequence, random = split(bits, 41, 23, 64)
    return result(ms + int(epoch or 0), {"sequence": sequence, "random": f"{random:016x}"}, 128, bits, text)


def read_trace_host_id(text, epoch):
    read = read_trace_id(text, epoch)
    host, random = split(int(text, 16), 32, 32)
    read["fields"].update(host=dotted(host), random=f"{random:08x}")
    return read


def read_random(width):
    def read(text, _):
        matched(f"[0-9a-f]{{{width // 4}}}", text)
        must(int(text, 16) != 0, "all zeros")
        return result(None, {}, width, int(text, 16), text)
    return read


def read_sofa(text, _):
    address, ms, sequence, pid = matched("([0-9a-f]{8})([0-9]{13})([0-9]{4})([0-9]{1,10})", text)
    must(1000 <= int(sequence) <= 9000, "the sequence is not from 1000 to 9000")
    pid = below(pid, 32)
    return result(int(ms), {"address": dotted(int(address, 16)), "sequence": sequence, "pid": pid},
                  written=f"{address}{ms}{sequence}{pid}")


def read_skywalking(text, _):
    instance, thread, time = matched("(?!.{65})([0-9a-f]{32})[.]([0-9]+)[.]([0-9]+)", text)
    thread, time = below(thread, 32), below(time, 64)
    ms, sequence = divmod(time, 10000)
    return result(ms, {"instance": instance, "thread": thread, "sequence": sequence}, written=f"{instance}.{thread}.{time}")


def read_traceparent(text, _):
    version, trace, span, flags, more = matched("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-(?s:.*))?", text)
    must(version != "ff" and not (version == "00" and more) and int(trace, 16) and int(span, 16), "a forbidden value")
    sampled, random = bool(int(flags, 16) & 1), version == "00" and bool(int(flags, 16) & 2)
    fields = {"trace_id": trace, "span_id": span, "sampled": sampled, "random": random}
    return result(None, fields, written=f"00-{trace}-{span}-0{sampled + 2 * random}")


def read_b3(text, _):
    ids = "((?:[0-9a-f]{16}){1,2})-([0-9a-f]{16})(?:-([01d])(?:-([0-9a-f]{16}))?)?|([01d])"
    trace, span, sampled, parent, alone = matched(ids, text)
    must(all(int(id, 16) for id in (trace, span, parent) if id), "all zeros")
    fields = {"trace_id": trace, "span_id": span, "parent_span_id": parent, "sampled": sampled or alone}
    return result(None, {name: value for name, value in fields.items() if value}, written=text)


def layout_of(text):
    parts = [matched("(time_bits|node_bits|sequence_bits|unit_ms|epoch)=(.*)", part) for part in PRESETS.get(text, text).split(",")]
    values = {"unit_ms": 1, "epoch": 0} | {name: value_of(name, value) for name, value in parts}
    widths = [(name, values[name]) for name, _ in parts if name.endswith("_bits")]
    must(len(dict(parts)) == len(parts) and len(widths) == 3 and widths[0][0] == "time_bits", "not a layout")
    must(sum(width for _, width in widths) <= 63, "more than 63 bits")
    return widths, values["unit_ms"], values["epoch"]


def value_of(name, text):
    if name == "epoch" and re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d([.]\d{3})?Z)?", text, re.ASCII):
        shift = text.startswith("0000") * 400  # as in date()
        moment = datetime.fromisoformat(f"{int(text[:4]) + shift:04}{text[4:].rstrip('Z')}")
        return (moment - datetime(1970 + shift, 1, 1)) // timedelta(milliseconds=1)
    value, (least, most) = int(*matched("([+-]?[0-9]+)", text)), LIMITS[name]
    must(least <= value <= most, f"{name} is not from {least} to {most}")
    return value


def read_snowflake(text, layout):
    widths, unit_ms, epoch = layout_of(layout)
    bits = below(*matched("([0-9]+)", text), sum(width for _, width in widths))
    fields = {name[:-5]: value for (name, _), value in zip(widths, split(bits, *(width for _, width in widths)))}
    return result(fields.pop("time") * unit_ms + epoch, fields, 64, bits, str(bits))


READERS = {name[5:]: reader for name, reader in globals().items() if name.startswith("read_") and name != "read_random"}
READERS |= {f"uuid_v{version}": read_uuid for version in (1, 4, 6, 7)}
READERS |= {"unique_id_short": read_unique_id, "otel_trace_id": read_random(128), "span_id": read_random(64)}


def date(ms):
    if not FIRST_MS <= ms <= LAST_MS:
        return None
    # Python has no year 0. The calendar is the same every 400 years.
    shift = 400 if ms < FIRST_MS + MS_IN_400_YEARS else 0
    moment = datetime(1970 + shift, 1, 1) + timedelta(milliseconds=ms)
    return f"{moment.year - shift:04}{moment:-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in READERS:
        sys.exit(f"{__doc__}\nFORMAT is one of {', '.join(READERS)}")
    try:
        found = READERS[sys.argv[1]](sys.argv[2], "".join(sys.argv[3:]))
        print(json.dumps(found | {"time": found["ms"] is not None and date(found["ms"]) or None}))
    except ValueError as error:
        sys.exit(f"{sys.argv[2]}: {error}")
