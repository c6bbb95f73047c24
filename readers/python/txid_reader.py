#!/usr/bin/env python3
"""Reads ids: from txid_reader import read. formats.json describes the formats; it is beside this file or above it.

In a shell, txid_reader.py TEXT prints every reading, and txid_reader.py FORMAT TEXT [LAYOUT or EPOCH] that of a format, as JSON.
"""

import json
import pathlib
import re
import sys
from collections import namedtuple
from contextlib import suppress
from datetime import datetime, timedelta
from math import inf

HERE = pathlib.Path(__file__).resolve().parent
TABLE = json.loads(next(path for path in (HERE / "formats.json", HERE.parent / "formats.json") if path.exists()).read_text())
FORMATS = {format["name"]: format for format in TABLE["formats"]}
LAYOUTS = TABLE["layouts"]
LIKELY = [name for at, name in enumerate(LAYOUTS) if list(LAYOUTS.values()).index(LAYOUTS[name]) == at]  # Of equal ones, the first.
LIMITS = {"time_bits": (1, 63), "node_bits": (0, 63), "sequence_bits": (0, 63), "unit_ms": (1, 2**32), "epoch": (-2**53, 2**53)}
HOUR_MS, DAY_MS, MS_IN_400_YEARS, FIRST_MS, LAST_MS = 3600000, 86400000, 146097 * 86400000, -62167219200000, 253402300799999
Field = namedtuple("Field", "name width kind place value low constant range rarely_above node sequence",
                   defaults=(0, 0, (0, inf, None), (inf, 0), False, False))
for digits in TABLE["digits"].values():
    cases = (str.lower, str.upper) if digits.get("both_cases") else (str,)
    digits["values"] = {case(character): value for value, character in enumerate(digits["alphabet"]) for case in cases}
SHOW = {  # A value of this width, in a part with this text. Fields of other kinds are not shown.
    "int": lambda value, *_: str(value),
    "hex": lambda value, width, _: f"{value:0{-(-width // 4)}x}",
    "ip": lambda value, *_: ".".join(map(str, value.to_bytes(4, "big"))),
    "mac": lambda value, *_: value.to_bytes(6, "big").hex(":"),
    "flag": lambda value, *_: value != 0,
    "digits": lambda _value, _width, text: text,
    "variant": lambda value, *_: "ncs" if value < 4 else "rfc9562" if value < 6 else "microsoft" if value == 6 else "future",
    "uuid": lambda value, *_: re.sub("(.{8})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-", f"{value:032x}"),
}


class FormatError(ValueError):
    """Why a text is no id of a format: the reason is length, character, last_character or value; positions count from 1."""

    def __init__(self, reason, message, position=None):
        super().__init__(message)
        self.reason, self.position = reason, position


def must(holds, reason, message, position=None):
    if not holds:
        raise FormatError(reason, message, position)


def values(fields, bits):
    """The fields of a number, with their values."""
    place = sum(width for _, width, *_ in fields["list"])
    for name, width, kind, *more in fields["list"]:
        place -= width
        yield Field(name, width, kind, place, bits >> place & (1 << width) - 1, **(more[0] if more else {}))


def time_in(fields, bits):
    return sum(field.value << field.low for field in values(fields, bits) if field.kind == "time")


def read_part(part, text, start, end):
    """The number that the digits of a part write, and what its bits are: the first fields whose constants it has."""
    must(start < end or "fields" not in part, "value", "a number is missing")
    digits, bits = TABLE["digits"].get(part.get("digits"), {}), 0
    character, other = digits.get("other", (None, None))
    digits = TABLE["digits"][other] if character and character in text[start:end] else digits
    for index, wanted in zip(range(start, end), part.get("pattern", "." * (end - start))):
        is_digit = wanted == "." and digits
        if text[index] not in (digits["values"] if is_digit else wanted):
            shown = "\\" * (text[index] in "'\"") + text[index].encode("unicode_escape").decode()
            expected = digits["expected"] if is_digit else {"-": "a dash", ".": "a dot"}.get(wanted, f"'{wanted}'")
            raise FormatError("character", f"character {index + 1} is '{shown}', not {expected}", index + 1)
        bits = bits * len(digits["alphabet"]) + digits["values"][text[index]] if is_digit else bits
    if "fields" not in part:
        character, error = part.get("not_around", (None, None))
        must(character is None or character not in (text[start:end][:1], text[start:end][-1:]), "value", error)
        return None, None
    pad, last_ones = part.get("pad", (0, None))
    last = f"character {end} is '{text[end - 1]}', but the last one must be {last_ones}"
    must(bits & (1 << pad) - 1 == 0, "last_character", last, end)
    bits >>= pad
    must(bits or "nonzero" not in part, "value", part.get("nonzero"))
    must(bits < 1 << part["bits"], "value", part["too_large"])
    for fields in part["fields"]:
        found = list(values(fields, bits))
        if all(field.value == field.constant for field in found if field.kind == "is"):
            for field in found:
                must(field.range[0] <= field.value <= field.range[1], "value", field.range[2])
            return bits, fields
    raise FormatError("value", part["no_fields"])


def written(part, bits):
    """A number as it is written."""
    alphabet, (least, most), bits = TABLE["digits"][part["digits"]]["alphabet"], part["lengths"], bits << part.get("pad", (0,))[0]
    pattern, text = part.get("pattern", "." * (least if least == most else 1)), ""
    while bits or len(text) < pattern.count("."):
        bits, digit = divmod(bits, len(alphabet))
        text = alphabet[digit] + text
    each = iter(text)
    return re.sub("[.]", lambda _: next(each), pattern) + "".join(each)


def value_of(name, text):
    """The value of a part of a layout; None if it is not valid."""
    if name == "epoch" and re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d([.]\d{3})?Z)?", text, re.ASCII):
        shift = text.startswith("0000") * 400  # as in date()
        try:
            moment = datetime.fromisoformat(f"{int(text[:4]) + shift:04}{text[4:].rstrip('Z')}")
        except ValueError:
            return None
        return (moment - datetime(1970 + shift, 1, 1)) // timedelta(milliseconds=1)
    value, (least, most) = int(text) if re.fullmatch("[+-]?[0-9]{1,200}", text) else inf, LIMITS[name]  # Python reads no longer ones.
    return value if least <= value <= most else None


def format_of(name, layout):
    """The format of this name; that of numbers in a layout, which is a name or its parts."""
    if name not in FORMATS:
        raise ValueError(f"'{name}' is not a format")
    if FORMATS[name].get("rule") != "layout":
        return FORMATS[name]
    layout = next(iter(LAYOUTS)) if layout is None else layout
    parts = [part.partition("=") for part in LAYOUTS.get(layout, layout).split(",")]
    found = {name: value_of(name, value) for name, _, value in parts if name in LIMITS}
    fields = [(name[:-5], width or 0, "time" if name == "time_bits" else "int") for name, width in found.items() if name.endswith("_bits")]
    unused = 64 - sum(width for _, width, _ in fields)
    if len(found) < len(parts) or None in found.values() or len(fields) != 3 or fields[0][0] != "time" or unused < 1:
        raise ValueError(f"'{layout}' is not a layout")
    fields = [{"list": [("0", unused, "is", {"constant": 0}), *fields], "clock": {"unit_ms": 1, **found}}]
    [text] = FORMATS[name]["texts"]
    part = {**text["parts"][0], "fields": fields, "no_fields": "its value has more bits than the layout"}
    return {**FORMATS[name], "texts": [{**text, "parts": [part], "lengths": (1, None)}]}


def form_of(format, text, is_chosen):
    """How ids of the format are written that are as long as this text."""
    def fitting(format):
        return [form for form in format["texts"] if form["lengths"][0] <= len(text) <= (form["lengths"][1] or inf)]

    least, most = format.get("usual", (0, inf))
    # Without a chosen layout, a number of few digits is no id. Zeros before it do not count.
    is_usual = any(least <= len(one) <= most for one in (text, text.lstrip("0")))
    forms = fitting(format) if format.get("rule") != "layout" or is_chosen or is_usual else []
    others = [] if forms or "rule" in format else [other for other in FORMATS.values() if other["title"] == format["title"]]
    must(not any(map(fitting, others)), "value", "ids of this length have another layout, which has a name of its own")
    must(forms, "length", f"{format['length']} characters, not {len(text)}")
    if format.get("rule") == "traceparent":
        must(text[:2] != "ff", "value", "version ff is not valid")
        least, _ = forms[0]["lengths"]
        must(text[:2] != "00" or len(text) == least, "length", f"a {format['name']} of version 00 has {least} characters, not {len(text)}")
    return forms[0]


def is_by_chance(parts, text, weight):
    """Whether it is a word rather than an id of this weight."""
    digits = TABLE["digits"][parts[0]["digits"]] if len(parts) == 1 and "fields" in parts[0] else {"alphabet": ""}
    base, is_in_one_case = len(digits["alphabet"]), bool(re.search("[@-_]", text)) != bool(re.search("[a-z]", text))
    if base >= 62:
        return 2 * weight > len(text) * (11 if is_in_one_case or not re.search("[0-9]|[@-_]{2}", text) else 12)
    return base >= 32 and "both_cases" in digits and not is_in_one_case


def read_as(format, text, is_chosen, epoch):
    """A text as a format: the id, its weight, and whether it is rather a word."""
    form = form_of(format, text, is_chosen)
    id = {"format": format["name"], "title": format["title"], "text": "", "ms": None, "fields": {}}
    numbers, end, weight = [], 0, form["weight"]
    for part in form["parts"]:
        start, end = end, len(text) - part["ends_before"] if "ends_before" in part else end + part["lengths"][0]
        end = text.find(part["ends_at"], start) if "ends_at" in part else end
        must(end >= 0, "value", "a dot is missing")
        word, (bits, fields) = text[start:end], read_part(part, text, start, end)
        if fields is None:
            id["fields"].update({part["word"]: word} if part.get("word") else {})
            id["text"] += "" if "rest" in part else word
            continue
        numbers.append((part, bits, fields))
        shown = (Field(*field, place, bits >> place & (1 << field[1]) - 1) for place, field in fields.get("shown", ()))
        for field in (*values(fields, bits), *shown):
            id["fields"].update({field.name: SHOW[field.kind](field.value, field.width, word)} if field.kind in SHOW else {})
            weight += field.rarely_above[1] if field.value > field.rarely_above[0] else 0
        weight += inf if "is_elsewhere" in fields else fields.get("more", 0)
        if clock := fields.get("clock"):
            units, rest = divmod(time_in(fields, bits), clock.get("per_unit", 1))
            id["ms"] = units * clock["unit_ms"] + int(clock.get("epoch", 0)) + int("takes_epoch" in format and epoch)
            id["fields"].update({clock["rest"]: str(rest)} if "rest" in clock else {})
        id["text"] += written(format["texts"][0]["parts"][0] if "is_another" in form else part, bits)
    if len(numbers) == 1:
        [(part, bits, fields)] = numbers
        id.update(bits=SHOW["hex"](bits, part["bits"], None), layout=[(name, width) for name, width, *_ in fields["list"]])
    if format.get("rule") == "traceparent":
        # Only the sampled flag is sure to have the same meaning in later versions.
        id["fields"]["random"] &= text[:2] == "00"
        id["text"] = f"00{id['text'][2:-2]}0{id['fields']['sampled'] + 2 * id['fields']['random']}"
    return id, weight, is_by_chance(form["parts"], text, weight)


def parse(format, text, layout=None, epoch=0):
    """The id that a text is in a format; raises a FormatError that says what is wrong with it."""
    return read_as(format_of(format, layout), text, layout is not None, epoch)[0]


def read(text, now=None, layout=None, epoch=0):
    """Every reading of a text, the likeliest first. A number is read in each layout, its preset, if none is given."""
    now, found = int(datetime.now().timestamp() * 1000 if now is None else now), []
    for format in FORMATS.values():
        for preset in LIKELY if format.get("rule") == "layout" and layout is None else [None]:
            with suppress(FormatError):
                id, weight, by_chance = read_as(format_of(format["name"], preset or layout), text, layout is not None, epoch)
                ms, since = id["ms"], int(format.get("since", 0))
                is_new = ms is not None and abs(ms - now) <= HOUR_MS
                unlikely = "by_chance" if by_chance and not is_new else None
                unlikely = unlikely if ms is None else "too_early" if ms < since else "too_late" if ms > now + DAY_MS else unlikely
                weight += 32 if unlikely else -16 if is_new else 0
                wrong_by = since - ms if unlikely == "too_early" else ms if unlikely == "too_late" else 0
                id.update({"preset": preset} if preset else {}, unlikely=unlikely)
                found.append((weight, wrong_by, inf if ms is None else -ms, id))
    return [id for weight, _, _, id in sorted(found, key=lambda reading: reading[:3]) if weight < inf]


def bounds(format, ms, layout=None, epoch=0):
    """The lowest and the highest id of a time. None if texts do not sort by time, or if ids cannot hold this one."""
    def highest(part):
        (least, most), ones = part["lengths"], (1 << part["bits"]) - 1
        return min(ones, len(TABLE["digits"][part["digits"]]["alphabet"]) ** most - 1) if least == most else ones

    def bound(part, time, rest):
        if "fields" not in part:
            return "" if "digits" in part else part["pattern"]
        bits = 0
        for field in values(part["fields"][0], -1):
            value = {"time": time >> field.low, "is": field.constant}.get(field.kind, rest)
            bits |= (value & field.value) << field.place
        return written(part, min(bits, highest(part)))

    format = format_of(format, layout)
    parts = format["texts"][0]["parts"] if "sorts" in format else []
    for part in (part for part in parts if "clock" in part.get("fields", [{}])[0]):
        clock, ones = part["fields"][0]["clock"], time_in(part["fields"][0], -1)
        per_unit, since = clock.get("per_unit", 1), int(clock.get("epoch", 0)) + int("takes_epoch" in format and epoch)
        units = (int(ms) - since) // clock["unit_ms"] & (ones if "wraps" in format else -1)
        # If units are not counted one by one, the last one is not whole.
        if 0 <= units <= (highest(part) & ones) // per_unit - (per_unit > 1):
            times = (units * per_unit, 0), (units * per_unit + per_unit - 1, -1)
            return ["".join(bound(part, *of) for part in parts) for of in times]


def date(ms):
    """The date in RFC 3339; None outside of the calendar."""
    if not FIRST_MS <= ms <= LAST_MS:
        return None
    # Python has no year 0. The calendar is the same every 400 years.
    shift = 400 if ms < FIRST_MS + MS_IN_400_YEARS else 0
    moment = datetime(1970 + shift, 1, 1) + timedelta(milliseconds=ms)
    return f"{moment.year - shift:04}{moment:-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    try:
        # The last one is a layout or an epoch: what the format takes.
        for id in read(sys.argv[1]) if len(sys.argv) == 2 else [parse(*sys.argv[1:3], *sys.argv[3:] * 2)]:
            print(json.dumps({**id, "time": None if id["ms"] is None else date(id["ms"])}))
    except ValueError as error:
        sys.exit(f"{sys.argv[-1]}: {error}")
