"""Logs with ids of many formats, made from the tables of docs/formats.md alone: `txid grep`, `sort` and `audit` find each."""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

PAGE = (pathlib.Path(__file__).parents[1] / "docs/formats.md").read_text()
NOW = int(time.time() * 1000)
LINES = 20_000
# Nothing tells their times from random bits.
UNSURE = {"trace_host_id", "xray", "unique_id_short"}
# The places of a time that is not written from its highest bit on.
PIECES = {"low": 0, "mid": 32, "high": 48}

DIGITS = dict(re.findall(r"^\| `(\w+)` \| `(\S+)` \|", PAGE, re.M))
SEED = random.randrange(1 << 32)
rng = random.Random(SEED)


def formats():
    """The name, the pattern or the count of digits, the alphabet, the fields and the clock of each format of one number."""
    row = r"^\| `(\w+)` \| [^|]* \| (?:(\d+)|`([.-]+)`) `(\w+)`: ([^|;<]*) \| ([^|]*) \|$"
    for name, count, pattern, digits, fields, clock in re.findall(row, PAGE, re.M):
        if clock.strip() and name not in UNSURE:
            fields = re.findall(r"`(\w+) : (\d+)`(?: = (\d+))?|(\d+) zeros", fields)
            per, unit, since = re.match(r"(?:1/(\d+) )?(ms|s)(?: since (-?\d+) ms)?", clock.strip()).groups()
            yield name, pattern or "." * int(count), DIGITS[digits], fields, (int(per or 1), {"ms": 1, "s": 1000}[unit], int(since or 0))


def made(pattern, alphabet, fields, clock, ms):
    """An id of a millisecond, with random bits."""
    per, unit_ms, since_ms = clock
    units = (ms - since_ms) * per // unit_ms
    left = sum(int(bits) for name, bits, *_ in fields if name == "time")
    number = 0
    for name, bits, constant, zeros in fields:
        bits = int(bits or zeros)
        value = rng.getrandbits(bits)
        if name == "time":
            left -= bits
            value = units >> left
        elif name in PIECES:
            value = units >> PIECES[name]
        elif constant or zeros:
            value = int(constant or 0)
        elif name == "sequence":
            value %= 1000
        number = number << bits | value & ((1 << bits) - 1)
    text = ""
    for place in reversed(pattern):
        if place == ".":
            number, digit = divmod(number, len(alphabet))
            text = alphabet[digit] + text
        else:
            text = place + text
    return text


def main(txid):
    def run(*args):
        return subprocess.run([txid, *args], capture_output=True, text=True, check=False).stdout

    all_formats = list(formats())
    names = {name for name, *_ in all_formats}
    assert {"txid", "uuid_v1", "uuid_v6", "uuid_v7", "flake", "ulid", "ksuid", "xid", "objectid", "trace_id"} <= names, names
    lines = []
    for _ in range(LINES):
        name, pattern, alphabet, fields, clock = rng.choice(all_formats)
        ms = NOW - rng.randrange(3_000_000)
        text = made(pattern, alphabet, fields, clock, ms)
        line = rng.choice(["{} GET /", '10.0.0.1 "GET /a/{}?x=1" 200', '{{"id":"{}"}}', "[{}] no", "request={},"]).format(text)
        lines.append((ms // clock[1] * clock[1], name, line))
    with tempfile.TemporaryDirectory() as directory:
        log = str(pathlib.Path(directory, "a.log"))
        words = ["at f(a.rs:7)", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "2125197", "x" * 20]
        text = "".join(f"{line}\n{rng.choice(words)}\n" for _, _, line in lines)
        pathlib.Path(log).write_text(text)
        for _ in range(20):
            begin = NOW - rng.randrange(3_000_000)
            end = begin + rng.randrange(1, 200_000)
            found = run("grep", "--lines", "--from", str(begin), "--to", str(end), log).splitlines()
            assert found == [line for ms, _, line in lines if begin <= ms < end], (SEED, begin, end)
        is_id = {line for _, _, line in lines}
        found = [line for line in run("sort", log).splitlines() if line in is_id]
        times = {line: ms for ms, _, line in lines}
        assert sorted(found) == sorted(is_id) and [times[line] for line in found] == sorted(times.values()), SEED
        report = json.loads(run("audit", "--json", "--format", "any", log))
        expected = {name: sum(of == name for _, of, _ in lines) for name in names}
        assert report["formats"] == expected, (SEED, report["formats"], expected)
    print(f"{LINES} lines with ids of {len(names)} formats are found, sorted and counted")


if __name__ == "__main__":
    main(sys.argv[1])
