"""Why a reader sees something else in a header than we do.

Each name has a condition on the header and on both answers: trace, parent and decision; None if the header is none. The first that
holds is the name."""

import re

ZERO_SPAN, ZERO_TRACE = "0" * 16, "0" * 32
AROUND = " \t"
NOT_HEX = "[^0-9a-fA-F]"


def decided(ours, theirs, decision):
    """Whether both see the same trace and parent, and the other takes an open decision for this one."""
    return ours and theirs and (*ours[:2], decision) == theirs and ours[2] == "?"


class Aws:
    """The parts of an X-Amzn-Trace-Id."""

    KEYS = ("Root", "Parent", "Sampled")

    def __init__(self, text):
        self.text = text
        self.parts = text.split(";")
        self.pairs = [part.split("=", 1) for part in self.parts if "=" in part]
        self.values = {key: [value.strip(AROUND) for name, value in self.pairs if name.strip(AROUND) == key] for key in self.KEYS}

    def repeats(self):
        return any(len(values) > 1 for values in self.values.values())

    def lacks(self, key):
        return not self.values[key]

    def has_part_without_value(self):
        return len(self.pairs) < len(self.parts)

    def has_second_equals(self):
        return any("=" in value for _, value in self.pairs)

    def has_longer_name(self):
        """RootCause, ParentId; or Root itself without a value."""
        return any(part.strip().startswith(key) and (part.split("=")[0].strip(AROUND) != key) for part in self.parts for key in self.KEYS)

    def has_space_at_equals(self):
        return any(name != name.rstrip(AROUND) or value != value.strip(AROUND) for name, value in self.pairs)

    def has_space_before_part(self):
        return any(part != part.strip(AROUND) for part in self.parts)

    def has_odd_space(self):
        return any(side != side.strip() and side.strip(AROUND) != side.strip() for pair in self.pairs for side in pair)

    def has(self, key, pattern):
        return any(re.fullmatch(pattern, value) for value in self.values[key])

    def has_upper_case(self):
        return any(value != value.lower() for key in ("Root", "Parent") for value in self.values[key])


# Each is of the readers whose first letters it has.
AWS = [
    ("PJG", "without `Parent`: no trace", lambda h, ours, theirs: theirs is None and ours and h.lacks("Parent")),
    ("J", "without `Sampled`: no trace", lambda h, ours, theirs: theirs is None and ours and h.lacks("Sampled")),
    ("PJK", "`Sampled=?`: no trace", lambda h, ours, theirs: theirs is None and ours and h.has("Sampled", r"\?")),
    ("PJK", "`Sampled` of another value: no trace", lambda h, ours, theirs: theirs is None and ours and h.has("Sampled", r"(?![01]$).*")),
    ("PG", "without a decision: not sampled", lambda h, ours, theirs: decided(ours, theirs, "0")),
    ("PG", "a part without `=`: no trace", lambda h, ours, theirs: theirs is None and ours and h.has_part_without_value()),
    ("P", "a second `=` in a part: no trace", lambda h, ours, theirs: theirs is None and ours and h.has_second_equals()),
    ("JG", "a name that begins with another, such as `RootCause`, is the other", lambda h, ours, theirs: h.has_longer_name()),
    ("JK", "a name without `=`: no trace", lambda h, ours, theirs: theirs is None and ours and h.has_part_without_value()),
    ("JG", "a space beside `=` is a part of the value or the name", lambda h, ours, theirs: ours and h.has_space_at_equals()),
    ("G", "a space before a name is a part of it", lambda h, ours, theirs: ours and h.has_space_before_part()),
    ("G", "digits in upper case: no trace", lambda h, ours, theirs: theirs is None and ours and h.has_upper_case()),
    ("PJKG", "a name twice: the last counts", lambda h, ours, theirs: ours is None and theirs and h.repeats()),
    ("K", "`Root` of zeros is a trace", lambda h, ours, theirs: ours is None and theirs and theirs[0] == ZERO_TRACE),
    ("K", "`Parent` of zeros is a parent", lambda h, ours, theirs: ours is None and theirs and h.has("Parent", "0{16}")),
    ("G", "`Sampled` of another value: not sampled", lambda h, ours, theirs: ours is None and theirs and theirs[2] == "0"),
    ("K", "other white space is removed like spaces", lambda h, ours, theirs: ours is None and theirs and h.has_odd_space()),
    ("P", "digits as Python reads them, with `_`, `+`, `0x` or spaces", lambda h, ours, theirs:
        ours is None and theirs and (h.has("Root", f"1-.*{NOT_HEX}.*") or h.has("Parent", f".*{NOT_HEX}.*"))),
    ("K", "`Parent` is any 16 characters", lambda h, ours, theirs:
        ours is None and theirs and h.has("Parent", f"(?=.{{16}}).*{NOT_HEX}.*")),
]

GCP = [
    ("PJK", "without a decision: not sampled", lambda h, ours, theirs: decided(ours, theirs, "0")),
    ("PJK", "without a span: no trace", lambda h, ours, theirs: theirs is None and ours and not re.match("[^;]*/", h)),
    ("PK", "digits in upper case: no trace", lambda h, ours, theirs: theirs is None and ours and h[:32] != h[:32].lower()),
    ("PK", "other options, or spaces beside them: no trace", lambda h, ours, theirs:
        theirs is None and ours and not re.fullmatch("[^; ]*(;o=[0-9])?", h)),
    ("JK", "not the lowest bit of `o`, but its whole value says yes or no", lambda h, ours, theirs: ours and theirs and ours[:2] == theirs[:2]),
    ("P", "a span of 0: no trace", lambda h, ours, theirs: theirs is None and ours and ours[1] == ZERO_SPAN),
    ("J", "a span of sixteen zeros: no trace", lambda h, ours, theirs: theirs is None and ours and "/" + ZERO_SPAN in h),
    ("K", "a trace of zeros is one", lambda h, ours, theirs: ours is None and theirs and theirs[0] == ZERO_TRACE),
    ("J", "what follows is not looked at", lambda h, ours, theirs:
        ours is None and theirs and re.match(r"[0-9a-f]{32}/\d{1,20}", h) and not re.fullmatch(r"[^;]*(;o=.*)?", h)),
    ("PJK", "another value of `o`", lambda h, ours, theirs: ours is None and theirs and re.fullmatch(r"[^;]*;o=(?![01]$).*", h)),
    ("J", "digits in upper case", lambda h, ours, theirs:
        ours is None and theirs and re.match(r"[0-9a-fA-F]{32}/", h) and h[:32] != h[:32].lower()),
    ("JK", "a span of more than 64 bits is one", lambda h, ours, theirs:
        ours is None and theirs and (found := re.match(r".{32}/(\d+)", h)) and int(found[1]) >= 2**64),
    ("J", "a span of more than 20 digits is one", lambda h, ours, theirs: ours is None and theirs and re.match(r".{32}/\d{21}", h)),
    ("J", "what follows is not looked at", lambda h, ours, theirs: ours is None and theirs and re.match(r"[0-9a-f]{32}/\d+[^;\d]", h)),
]

TRACEPARENT = [
    ("K", "another version: no trace", lambda h, ours, theirs: theirs is None and ours and not h.startswith("00")),
    ("K", "digits in upper case", lambda h, ours, theirs: ours is None and theirs and h != h.lower()),
]

B3_SINGLE = [
    ("J", "without a decision: not sampled", lambda h, ours, theirs: decided(ours, theirs, "0")),
    ("P", "without a decision: sampled", lambda h, ours, theirs: decided(ours, theirs, "1")),
    ("K", "ids of zeros are some", lambda h, ours, theirs:
        ours is None and theirs and (theirs[0] == ZERO_TRACE or theirs[1] == ZERO_SPAN or re.search("-0{16}$", h))),
    ("PK", "digits in upper case", lambda h, ours, theirs: ours is None and theirs and h != h.lower()),
    ("PJ", "another decision, or a parent without one: not sampled, or sampled if `true`", lambda h, ours, theirs:
        ours is None and theirs and not re.search("^[^-]*-[^-]*-[01d](-|$)", h)),
    ("P", "what follows the decision is not looked at", lambda h, ours, theirs:
        ours is None and theirs and (found := re.search("-[01d](-.*)?$", h))
        and not re.fullmatch("-(?!0{16})[0-9a-f]{16}", found[1] or "")),
    ("J", "one that stands anywhere in the value is found", lambda h, ours, theirs: ours is None and theirs),
    ("K", "dashes may be left out, or stand at the end", lambda h, ours, theirs: ours is None and theirs),
]


class Jaeger:
    """The fields of an uber-trace-id."""

    def __init__(self, text):
        self.text = text
        self.fields = re.split(":|%3[Aa]", text)

    def has_four(self):
        return len(self.fields) == 4

    def has_wrong_parent(self):
        return self.has_four() and not re.fullmatch("[0-9a-fA-F]{1,16}", self.fields[2])

    def has_wrong_flags(self):
        return self.has_four() and not re.fullmatch("[0-9a-fA-F]{1,2}", self.fields[3])

    def has_other_digits(self):
        return any(re.search(NOT_HEX, field) for field in self.fields[:2] + self.fields[3:])

    def is_long(self):
        return self.has_four() and (len(self.fields[0]) > 32 or len(self.fields[1]) > 16)


JAEGER = [
    ("PK", "`%3A` for a colon: no trace", lambda h, ours, theirs: theirs is None and ours and "%3" in h.text),
    ("PK", "more digits than 32, 16 or 2", lambda h, ours, theirs:
        ours is None and theirs and (h.is_long() or h.has_wrong_flags()) and not h.has_other_digits()),
    ("P", "digits as Python reads them, with `_`, `+`, `0x` or spaces", lambda h, ours, theirs: ours is None and theirs and h.has_other_digits()),
    ("PK", "the parent is not looked at", lambda h, ours, theirs: ours is None and theirs and h.has_wrong_parent()),
    ("J", "any text with three colons is a trace, also one of zeros", lambda h, ours, theirs: ours is None and theirs and h.has_four()),
    ("J", "what follows a fourth colon is not looked at", lambda h, ours, theirs: ours is None and theirs),
]


class Datadog:
    """The values of the headers."""

    def __init__(self, text):
        self.trace, self.parent, self.priority, self.tags = (value if value != "\x02" else None for value in text.split("\x01"))

    def has_long(self, value):
        return value is not None and (len(value) > 20 or re.fullmatch("[0-9]+", value) and int(value) >= 2**64)


DATADOG = [
    ("K", "a priority other than -1 to 2: no trace", lambda h, ours, theirs: theirs is None and ours and h.priority not in ("-1", "0", "1", "2")),
    ("P", "a priority of three digits", lambda h, ours, theirs: ours is None and theirs and h.priority == "100"),
    ("P", "digits as Python reads them, with `_`, `+` or spaces", lambda h, ours, theirs:
        theirs and any(re.search("[^0-9]", value or "") for value in (h.trace, h.parent, (h.priority or "").lstrip("-")))
        or theirs and re.search("tid=[^,]*_", h.tags or "")),
    ("K", "a parent that is no number is none", lambda h, ours, theirs:
        ours is None and theirs and theirs[1] == ZERO_SPAN and h.parent is not None and not re.fullmatch("[0-9]+", h.parent)),
    ("KP", "a trace of zero, of more than 64 bits or of more than 20 digits", lambda h, ours, theirs:
        ours is None and theirs and (theirs[0] == ZERO_TRACE or h.has_long(h.trace))),
    ("K", "the upper half of an id is not looked at", lambda h, ours, theirs:
        ours and theirs and ours[0][:16] != ZERO_SPAN and (ZERO_SPAN + ours[0][16:], *ours[1:]) == theirs),
    ("P", "if a tag is none, no tag counts, and an id has 64 bits", lambda h, ours, theirs:
        ours and theirs and (ZERO_SPAN + ours[0][16:], *ours[1:]) == theirs),
    ("K", "white space around a number is removed", lambda h, ours, theirs:
        ours is None and theirs and any(value and value != value.strip() for value in (h.trace, h.parent))),
    ("PK", "a parent of more than 64 bits, or of more than 20 digits", lambda h, ours, theirs: ours is None and theirs and h.has_long(h.parent)),
]

KINDS = {"aws": (Aws, AWS), "gcp": (str, GCP), "traceparent": (str, TRACEPARENT), "b3_single": (str, B3_SINGLE),
         "jaeger": (Jaeger, JAEGER), "datadog": (Datadog, DATADOG)}


def named(kind, text, reader, ours, theirs):
    if ours == theirs:
        return "the same"
    read, names = KINDS[kind]
    header = read(text)
    return next((name for readers, name, holds in names if reader[0] in readers and holds(header, ours, theirs)), None)
