"""Headers of each kind: such as they are sent, and such with a few things wrong, where readers differ."""

import random

HEX = "0123456789abcdef"


def digits(count):
    return "".join(random.choices(HEX, k=count))


def trace_id():
    return random.choices([digits(32), "0" * 32, "0" * 31 + "1", "0" * 16 + digits(16)], [20, 1, 1, 2])[0]


def span_id():
    return random.choices([digits(16), "0" * 16, "0" * 15 + "1"], [20, 1, 1])[0]


def damaged(text):
    """The text with one thing wrong."""
    if not text:
        return random.choice("0a;=")
    place = random.randrange(len(text))
    return random.choice([
        lambda: text[:place] + text[place + 1:],
        lambda: text[:place] + random.choice(HEX) + text[place:],
        lambda: text[:place] + random.choice("gG-_+ =;/,?xX.\t") + text[place + 1:],
        lambda: text[:place] + random.choice("\x0b\x0c\x1f\x85\xa0\xb2\xe9") + text[place + 1:],
        lambda: text.upper(),
        lambda: text.lower(),
        lambda: text[:place],
        lambda: text + random.choice(["0", "-", ";", " ", "=", "x"]),
    ])()


def maybe(damage, text, chance):
    return damage(text) if random.random() < chance else text


def spaced(text):
    return random.choice(["", " ", "  ", "\t"]) + text + random.choice(["", " ", "\t"])


def repeated(once, never, part):
    """The part once, seldom never, and still less often twice."""
    return [part() for _ in range(random.choices([1, 0, 2], [once, never, 1])[0])]


def aws():
    trace = trace_id()
    root = f"{random.choices('102', [20, 1, 1])[0]}-{trace[:8]}-{trace[8:]}"
    sampled = random.choices(["1", "0", "?", "", "2", "true", "10"], [20, 20, 8, 1, 1, 1, 1])[0]
    parts = repeated(30, 1, lambda: ("Root", maybe(damaged, root, 0.1)))
    parts += repeated(20, 10, lambda: ("Parent", maybe(damaged, span_id(), 0.1)))
    parts += repeated(20, 10, lambda: ("Sampled", maybe(damaged, sampled, 0.03)))
    if random.random() < 0.3:
        other = digits(random.choice([8, 24]))
        parts.append(random.choice([
            ("Self", f"1-{digits(8)}-{digits(24)}"), ("Lineage", f"25:{other[:8]}:1"), ("CalledFrom", "app"), ("x", "a=b"), ("", ""),
            ("", other), ("RootCause", f"1-{other[:8]}-{digits(24)}"), ("ParentId", digits(16)), ("SampledBy", "1"), ("x", ""),
        ]))
    if random.random() < 0.3:
        random.shuffle(parts)
    parts = [(maybe(damaged, key, 0.02), value) for key, value in parts]
    texts = [f"{maybe(spaced, key, 0.05)}={maybe(spaced, value, 0.05)}" for key, value in parts]
    if random.random() < 0.05:
        texts.insert(random.randrange(len(texts) + 1), random.choice(["", " ", "x", "Root", "Sampled"]))
    return random.choices([";", "; ", " ;", ";;", ","], [30, 3, 1, 1, 1])[0].join(texts)


def gcp():
    span = random.choices(
        [str(random.getrandbits(64)), str(random.getrandbits(20)), "0", "00", "0" * 16, "18446744073709551615", "18446744073709551616",
         "99999999999999999999", str(random.getrandbits(63)).zfill(20), str(random.getrandbits(63)).zfill(21), ""],
        [20, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1])[0]
    options = random.choices(["", ";o=1", ";o=0", ";o=", ";o=2", ";o=3", ";o=01", ";O=1", "; o=1", ";x=1", ";o=1;x=2", ";o=-1", ";o=true"],
                             [20, 20, 20, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])[0]
    return f"{maybe(damaged, trace_id(), 0.1)}{random.choices(['/', '', '//', '-'], [60, 1, 1, 1])[0]}{maybe(damaged, span, 0.1)}{options}"


def traceparent():
    version = random.choices(["00", "01", "cc", "ff", "0", "0g"], [30, 2, 2, 1, 1, 1])[0]
    flags = random.choices(["00", "01", "02", "03", "ff", "09", "1", "0x"], [10, 10, 5, 10, 1, 1, 1, 1])[0]
    more = random.choices(["", "-", "-x", "x"], [30, 1, 2, 1])[0]
    return f"{version}-{maybe(damaged, trace_id(), 0.1)}-{maybe(damaged, span_id(), 0.1)}-{flags}{more}"


def b3_single():
    trace = random.choices([trace_id(), digits(16), "0" * 16, digits(24)], [20, 5, 1, 1])[0]
    fields = [maybe(damaged, trace, 0.1), maybe(damaged, span_id(), 0.1)]
    fields += [random.choices(["1", "0", "d", "", "true", "2"], [10, 10, 3, 1, 1, 1])[0]] * random.choices([1, 0], [5, 1])[0]
    if random.random() < 0.4:
        fields.append(maybe(damaged, span_id(), 0.1))
    if random.random() < 0.05:
        fields = [random.choice(["0", "1", "d", "2", "", "true"])]
    if random.random() < 0.03:
        fields.append("x")
    return "-".join(fields)


def jaeger():
    trace = random.choices([trace_id(), digits(16), digits(random.randint(1, 33)), "0"], [20, 5, 3, 1])[0]
    span = random.choices([span_id(), digits(random.randint(1, 17)), "0"], [20, 3, 1])[0]
    parent = random.choices(["0", span_id(), digits(random.randint(1, 17)), ""], [20, 5, 1, 1])[0]
    flags = random.choices(["1", "0", "3", "01", "00", "03", "2", "f", "001", "", "x"], [20, 20, 5, 5, 5, 5, 2, 1, 1, 1, 1])[0]
    text = ":".join([maybe(damaged, trace, 0.1), maybe(damaged, span, 0.1), maybe(damaged, parent, 0.05), flags])
    if random.random() < 0.03:
        text += random.choice([":", ":1", " "])
    return text.replace(":", "%3A") if random.random() < 0.05 else text


# Between the values of several headers, and in place of one that is not there.
BETWEEN, ABSENT = "\x01", "\x02"


def datadog():
    """The trace's id, the parent's, the priority, and the tags."""
    def number(bits):
        return random.choices([str(random.getrandbits(bits)), "0", str(2**64 - 1), str(2**64), "1" * 21, str(random.getrandbits(40)).zfill(20)],
                              [30, 1, 1, 1, 1, 1])[0]

    tid = random.choices([digits(16), "0" * 16, digits(16).upper(), digits(15), digits(17), ""], [20, 1, 1, 1, 1, 1])[0]
    tags = [f"_dd.p.tid={maybe(damaged, tid, 0.03)}"] * random.choices([1, 0, 2], [20, 2, 1])[0]
    tags += random.choice([[], [], ["_dd.p.dm=-1"], ["_dd.p.dm=-4", "other=a b"], ["x"], ["_dd.p.usr.id=YQ==="]])
    random.shuffle(tags)
    priority = random.choices(["1", "0", "2", "-1", "3", "-2", "", "x", "1.0", "100", "+1"], [20, 20, 10, 10, 1, 1, 1, 1, 1, 1, 1])[0]
    values = [maybe(damaged, number(64), 0.05), maybe(damaged, number(64), 0.05), priority, random.choice([",", ",", ", "]).join(tags)]
    chances = [0.02, 0.1, 0.1, 0.1]
    return BETWEEN.join(ABSENT if random.random() < chance else value.strip(" \t") for value, chance in zip(values, chances))


def fields(kind, text):
    """The headers of a request, by the places that their names have."""
    if kind != "datadog":
        return [text]
    return [None if value == ABSENT else value for value in text.split(BETWEEN)]


def headers(kind, count, seed):
    """So many headers, without the spaces and tabs around them, which do not belong to a value and servers remove."""
    random.seed(f"{kind} {seed}")
    return [globals()[kind]().strip(" \t") for _ in range(count)]
