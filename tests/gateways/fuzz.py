"""Requests with any headers, to the gateways of decisions.py: what goes on is what a model in Python says. TXID_FUZZ= is their number."""

import os
import random
import re
import unittest

import decisions
import servers
from decisions import TRUSTED, UNTRUSTED, difference, sent_to

COUNT = int(os.environ.get("TXID_FUZZ", 3000))
SEED = int(os.environ.get("TXID_SEED", random.randrange(1 << 32)))
BATCH = 50
ACCEPT = {"accept": [TRUSTED]}
POLICIES = [
    {**ACCEPT, "header": ["X-Request-Id", "X-Correlation-Id", "CF-Ray"]},
    {**ACCEPT, "header": ["CF-Ray", "X-Request-Id"], "trace": ["traceparent", "b3_single"]},
    {**ACCEPT, "header": ["X-Request-Id", "CF-Ray"], "trace": ["b3", "traceparent", "jaeger"]},
    {**ACCEPT, "trace": ["b3_single"]},
]
TRACES = ["4bf92f3577b34da6a3ce929d0e0e4736", "80e1afed08e019fc1110464cfa66635c"]
SPAN = "00f067aa0ba902b7"
# What a part of a value is replaced by.
NOISE = ["", "0", "-", " ", "\t", ",", "x", "F", "\xff", '"', "0" * 16, "0" * 32, SPAN]


def value_of(name, dice):
    trace = dice.choice(TRACES)
    value = dice.choice(
        {
            "traceparent": [f"00-{trace}-{SPAN}-0{dice.randrange(4)}"],
            "b3": [f"{trace}-{SPAN}", f"{trace}-{SPAN}-{dice.choice('01d')}", f"{trace[16:]}-{SPAN}-1-{SPAN}", dice.choice("01d")],
            "uber-trace-id": [f"{trace}:{SPAN}:0:{dice.randrange(4)}"],
            "x-b3-traceid": [trace, trace[16:]],
            "x-b3-spanid": [SPAN],
            "x-b3-parentspanid": [SPAN],
            "x-b3-sampled": ["0", "1", "true", "false"],
            "x-b3-flags": ["0", "1"],
            "x-amzn-trace-id": [f"Root=1-{trace[:8]}-{trace[8:]};Parent={SPAN};Sampled=1"],
            "x-cloud-trace-context": [f"{trace}/1234;o=1"],
            "x-datadog-trace-id": ["1234"],
            "x-datadog-origin": ["rum"],
            "x-datadog-tags": ["_dd.p.tid=4bf92f3577b34da6"],
            "tracestate": ["a=b"],
        }.get(name, ["from-a-client", "a" * 128, "a.b~c:/+=@-_"])
    )
    if dice.random() < 0.2:
        at = dice.randrange(len(value) + 1)
        value = value[:at] + dice.choice(NOISE) + value[at + dice.randrange(3) :]
    return value.strip(" ")


NAMES = "x-request-id x-correlation-id cf-ray traceparent tracestate b3 uber-trace-id x-amzn-trace-id x-cloud-trace-context".split()
NAMES += "x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags x-datadog-trace-id x-datadog-origin x-datadog-tags".split()


def request(dice):
    """Pairs of names and values."""
    names = dice.sample(NAMES, dice.randrange(1, 8))
    if dice.random() < 0.2:
        names += ["x-b3-traceid", "x-b3-spanid"]
    names += [dice.choice(names)] * (dice.random() < 0.1)
    return [(name, value_of(name, dice)) for name in names]


def is_hex(text, *lengths):
    return len(text) in lengths and re.fullmatch("[0-9a-f]+", text) is not None and text.strip("0") != ""


# Each of the next three returns the trace, its span, and whether it is recorded: "0", "1", "d" or None; or None.
def traceparent_of(one):
    match = re.fullmatch("00-(.{32})-(.{16})-0([0-9a-f])", one("traceparent") or "")
    if match and is_hex(match[1], 32) and is_hex(match[2], 16):
        return match[1], match[2], str(int(match[3], 16) & 1)
    return None


def b3_single_of(one):
    value = one("b3") or ""
    if re.fullmatch("[01d]", value):
        return None, None, value
    trace, span, *rest = [*value.split("-"), ""][:2] + value.split("-")[2:]
    if not is_hex(trace, 16, 32) or not is_hex(span, 16) or len(rest) > 2 or (rest and rest[0] not in ("0", "1", "d")):
        return None
    if len(rest) == 2 and not is_hex(rest[1], 16):
        return None
    return trace.zfill(32), span, rest[0] if rest else None


def b3_of(one):
    words = {"0": "0", "false": "0", "1": "1", "true": "1"}
    came = {name: one("x-b3-" + name) for name in ("traceid", "spanid", "parentspanid", "sampled", "flags")}
    if came["sampled"] is not None and came["sampled"] not in words:
        return None
    sampled = "d" if came["flags"] == "1" else words.get(came["sampled"])
    if all(came[name] is None for name in ("traceid", "spanid", "parentspanid")):
        return (None, None, sampled) if sampled else None
    if not is_hex(came["traceid"] or "", 16, 32) or not is_hex(came["spanid"] or "", 16):
        return None
    if came["parentspanid"] is not None and not is_hex(came["parentspanid"], 16):
        return None
    return came["traceid"].zfill(32), came["spanid"], sampled


def jaeger_of(one):
    match = re.fullmatch("([0-9a-fA-F]{1,32}):([0-9a-fA-F]{1,16}):([0-9a-fA-F]{1,16}):([0-9a-fA-F]{1,2})", one("uber-trace-id") or "")
    if not match or not match[1].strip("0") or not match[2].strip("0"):
        return None
    flags = int(match[4], 16)
    return match[1].lower().zfill(32), match[2].lower().zfill(16), "0" if not flags & 1 else "d" if flags & 2 else "1"


READERS = {"traceparent": traceparent_of, "b3": b3_of, "b3_single": b3_single_of, "jaeger": jaeger_of}


def went_on(policy, peer, pairs):
    """The headers that go on, as in decisions.json."""
    came = {}
    for name, value in pairs:
        came.setdefault(name, []).append(value.strip(" \t"))
    is_trusted = peer == TRUSTED
    # "," stands for a header that is there, and no good.
    one = lambda name: (came[name][0] if len(came[name]) == 1 else ",") if is_trusted and name in came else None
    headers = [name.lower() for name in policy.get("header", ["X-Request-Id"])]
    valid = {name: one(name) for name in headers if re.fullmatch("[A-Za-z0-9._~:/+=@-]{1,128}", one(name) or "")}
    sent = {name: ",".join(values) for name, values in came.items() if name not in headers}
    sent.update(valid)
    sent[headers[0]] = next((valid[name] for name in headers if name in valid), "ID")
    kinds = policy.get("trace", [])
    if not kinds:
        return sent
    if not is_trusted:
        sent = {name: value for name, value in sent.items() if not re.match("trace|b3|uber|x-(b3|amzn|cloud|datadog)", name)}
    trace, parent, sampled = next((found for kind in kinds if (found := READERS[kind](one))), (None, None, "1"))
    w3c = traceparent_of(one)
    same = w3c and w3c[0] == trace and "traceparent" in kinds
    if same and sampled is None:
        sampled = w3c[2]
    random_flag = not trace or same and int(one("traceparent")[-1], 16) & 2
    trace = trace or "TRACE"
    if "traceparent" in kinds:
        sent["traceparent"] = f"00-{trace}-SPAN-0{(sampled != '0') + 2 * bool(random_flag)}"
        if not same:
            sent.pop("tracestate", None)
    if "b3" in kinds:
        sent = {name: value for name, value in sent.items() if not name.startswith("x-b3") and (name != "b3" or "b3_single" in kinds)}
        sent.update({"x-b3-traceid": trace, "x-b3-spanid": "SPAN"})
        sent.update({"x-b3-parentspanid": parent} if parent else {})
        sent.update({"x-b3-flags": "1"} if sampled == "d" else {"x-b3-sampled": sampled} if sampled else {})
    if "b3_single" in kinds:
        sent["b3"] = f"{trace}-SPAN" + (f"-{sampled}" + (f"-{parent}" if parent else "") if sampled else "")
    if "jaeger" in kinds:
        sent["uber-trace-id"] = f"{trace}:SPAN:0:{ {'0': 0, 'd': 3}.get(sampled, 1) }"
    return sent


class Fuzz:
    """To be mixed into a class of decisions.py, in front of it."""

    @classmethod
    def table(cls):
        return [{"policy": policy, "peer": peer, "lines": []} for policy in POLICIES for peer in (TRUSTED, UNTRUSTED)]

    def exchange(self, connection, policy, requests):
        heads = ["".join(f"{name}: {value}\r\n" for name, value in pairs) for pairs in requests]
        connection.sendall("".join(f"GET / HTTP/1.1\r\nHost: policy-{policy}\r\n{head}\r\n" for head in heads).encode("latin-1"))
        with connection.makefile("rb") as answers:
            for pairs in requests:
                status, length = answers.readline().split()[1], 0
                while line := answers.readline().strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                yield pairs, status, answers.read(length).decode("latin-1")

    def test_each_row(self):
        dice, rows = random.Random(SEED), type(self).rows
        connections = {}
        for number in range(0, COUNT, BATCH):
            row = rows[number // BATCH % len(rows)]
            policy, peer = self.policies.index(row["policy"]), row["peer"]
            # nginx and Envoy close a connection after so many.
            where = self.at(policy, peer)
            with servers.connect(where, peer) as connection:
                for pairs, status, body in self.exchange(connection, policy, [request(dice) for _ in range(BATCH)]):
                    expected = went_on(row["policy"], peer, pairs)
                    why = status != b"200" and status or difference(expected, sent_to(body), "\n".join(value for _, value in pairs).lower())
                    self.assertFalse(why, f"TXID_SEED={SEED}: {why}; {row['policy']} {peer} {pairs}, not {expected}")


class Native(Fuzz, decisions.NativeNginx):
    pass


class Lua(Fuzz, decisions.LuaNginx):
    pass


class Envoy(Fuzz, decisions.Envoy):
    pass


if __name__ == "__main__":
    unittest.main()
