"""txid grep, sort and range do what a few lines of Python do, which read ids by readers/python."""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "readers/python"))

from txid_reader import TABLE, FormatError, parse  # noqa: E402

BEGIN, END = 1_700_000_000_000, 1_700_000_100_000
SEED = random.randrange(1 << 32)

# How an id stands in a line, and the characters that must not be beside it.
WORD, BASE64 = "0-9A-Za-z", "0-9A-Za-z@_-"
UUID = "-".join(f"[{WORD}]{{{length}}}" for length in (8, 4, 4, 4, 12))
SHAPES = {
    "txid": (f"[{WORD}]{{20}}", WORD), "uuid_v1": (UUID, WORD), "uuid_v6": (UUID, WORD), "uuid_v7": (UUID, WORD),
    "flake": (f"[{WORD}]{{22}}", WORD), "unique_id": (f"[{BASE64}]{{27}}", BASE64), "unique_id_short": (f"[{BASE64}]{{24}}", BASE64),
    "trace_id": (f"[{WORD}]{{32}}", WORD), "sofa": (f"[{WORD}]{{26,35}}", WORD),
    "skywalking": (f"[{WORD}]{{32}}[.][0-9]+[.][0-9]+", WORD), "snowflake": (f"[{WORD}]{{15,19}}", WORD),
}
SORTED = {"txid", "uuid_v6", "uuid_v7", "flake", "trace_id", "snowflake"}


def digits(number, name, count):
    alphabet = TABLE["digits"][name]["alphabet"]
    return "".join(alphabet[number // len(alphabet) ** place % len(alphabet)] for place in reversed(range(count)))


def made(format, ms, bits):
    """An id of this time, with these 128 random bits."""
    if format.startswith("uuid"):
        ticks = (ms + 12219292800000) * 10000 + bits % 10000
        time = {"uuid_v1": (ticks & 0xffffffff) << 32 | (ticks >> 32 & 0xffff) << 16 | 1 << 12 | ticks >> 48,
                "uuid_v6": ticks >> 12 << 16 | 6 << 12 | ticks & 0xfff, "uuid_v7": ms << 16 | 7 << 12 | bits & 0xfff}[format]
        text = f"{time << 64 | 2 << 62 | bits >> 66:032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    return {
        "txid": lambda: digits((ms << 54 | bits >> 74) << 4, "base32hex", 20),
        "flake": lambda: digits(ms << 64 | bits >> 64, "base62", 22),
        "unique_id": lambda: digits((ms // 1000 << 128 | bits) << 2, "apache", 27),
        "unique_id_short": lambda: digits(ms // 1000 << 112 | bits >> 16, "apache_older", 24),
        "trace_id": lambda: f"{ms << 87 | bits >> 41:032x}",
        "sofa": lambda: f"0a000007{ms}{1000 + bits % 8001}{bits % 4000000}",
        "skywalking": lambda: f"{bits:032x}.{bits % 50}.{ms * 10000 + bits % 10000}",
        "snowflake": lambda: str((ms - 1288834974657) << 22 | bits >> 106),
    }[format]()


def ids(format, line):
    """The time of each id in the line, and what it is sorted by."""
    shape, beside = SHAPES[format]
    for candidate in re.findall(f"(?<![{beside}]){shape}(?![{beside}])", line, re.ASCII):
        try:
            read = parse(format, candidate)
        except FormatError:
            continue
        yield read["ms"], int(read["bits"], 16) if format in SORTED else read["ms"]


def log(formats, lines):
    """Lines with ids of these formats among other words, some of which look like ids."""
    chance = random.Random(SEED)
    for _ in range(lines):
        words = [chance.choice(["GET /a?b=c", "-", '"curl/8.5"', "[x]", "200", "é"]) for _ in range(chance.randrange(4))]
        for _ in range(chance.choice([0, 1, 1, 1, 2])):
            id = made(chance.choice(formats), chance.randrange(BEGIN, END), chance.getrandbits(128))
            id = chance.choice([id, id, id, id, id.upper(), id + "x", "-" + id, f'"{id}"', id[:-1], id[0] + id])
            words.insert(chance.randrange(len(words) + 1), id)
        yield " ".join(words)


def txid(*args):
    command = [ROOT / "target/release/txid", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env={"TZ": "UTC"}).stdout


class Logs(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def each(self):
        for format in SHAPES:
            others = [other for other in SHAPES if other != format]
            lines = list(log([format] * 4 * len(others) + others, 3000))
            path = pathlib.Path(self.directory.name) / format
            path.write_text("".join(line + "\n" for line in lines))
            with self.subTest(format=format, seed=SEED):
                yield format, lines, ["--format", format.replace("_", "-"), path]

    def test_grep(self):
        begin, end = BEGIN + 20_000, BEGIN + 60_000
        for format, lines, args in self.each():
            expected = [line for line in lines if any(begin <= ms < end for ms, _ in ids(format, line))]
            found = txid("grep", "--by=id", "--lines", "--from", begin, "--to", end, *args).splitlines()
            self.assertTrue(200 < len(expected) < 2000, len(expected))
            self.assertEqual(found, expected)

    def test_sort(self):
        for format, lines, args in self.each():
            keyed, key = [], -1 << 200
            for line in lines:
                key = next((order for _, order in ids(format, line)), key)
                keyed.append((key, line))
            expected = [line for _, line in sorted(keyed, key=lambda both: both[0])]
            self.assertEqual(txid("sort", *args).splitlines(), expected)

    def test_range(self):
        begin, end = BEGIN + 20_000, BEGIN + 60_000
        for format, lines, args in self.each():
            bounds = txid("range", "--from", begin, "--to", end, *args[:2]).split()
            if format not in SORTED:
                self.assertEqual(bounds, [])
                continue
            first, last = (next(order for _, order in ids(format, bound.zfill(15))) for bound in bounds)
            for ms, order in (id for line in lines for id in ids(format, line)):
                self.assertEqual(begin <= ms < end, first <= order <= last)


if __name__ == "__main__":
    unittest.main()
