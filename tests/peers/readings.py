"""What `txid inspect` takes ids of the last three years for: of each format, as their own libraries make them, or as
docs/formats.md has them. `readings.py 20000` makes 20,000 of each, and prints a table."""

import collections
import datetime
import json
import pathlib
import random
import string
import subprocess
import sys
import time
import unittest
import unittest.mock
import uuid

import bson
import cuid
import ksuid
import nanoid
import typeid
import ulid
import uuid_utils

COMMAND = pathlib.Path(__file__).parents[2] / "target/release/txid"
YEARS_MS = 3 * 365 * 86_400_000
BASE32 = "0123456789abcdefghijklmnopqrstuv"
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
BASE64 = string.ascii_uppercase + string.ascii_lowercase + string.digits


def written(number, digits, length):
    text = ""
    for _ in range(length):
        number, digit = divmod(number, len(digits))
        text = digits[digit] + text
    return text


def at(ms, make):
    """What `make` makes when the clock says `ms`."""
    with unittest.mock.patch("time.time", lambda: ms / 1000):
        return str(make())


def bits(width):
    return random.getrandbits(width)


def hexadecimal(width):
    return f"{bits(width):0{width // 4}x}"


def number(epoch, width, unit=1):
    return lambda ms: str((ms - epoch) // unit << width | bits(width))


def host():
    return f"{10 << 24 | bits(24):08x}"


def uuid7(ms):
    return uuid_utils.UUID(int=ms << 80 | 7 << 76 | bits(12) << 64 | 2 << 62 | bits(62))


# The title, and the layout of a number; how it is made; and whether the right reading comes first.
MAKERS = [
    ("txid", None, lambda ms: written((ms << 54 | bits(54)) << 4, BASE32, 20), True),
    # As rs/xid has them: its copy in Python needs Python 2.
    ("xid", None, lambda ms: written((ms // 1000 << 64 | bits(64)) << 4, BASE32, 20), False),
    ("ULID", None, lambda ms: str(ulid.ULID.from_timestamp(ms / 1000)), True),
    ("KSUID", None, lambda ms: str(ksuid.Ksuid(datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc))), True),
    ("ObjectId", None, lambda ms: at(ms, bson.ObjectId), True),
    ("TypeID", None, lambda ms: str(typeid.TypeID.from_uuid(uuid7(ms), prefix="user")), True),
    ("TypeID", None, lambda ms: str(typeid.TypeID.from_uuid(uuid7(ms))), True),
    ("CUID", None, lambda ms: at(ms, cuid.cuid), True),
    ("Nano ID", None, lambda _: nanoid.generate(), True),
    ("UUID version 1", None, lambda ms: str(uuid_utils.uuid1()), True),
    ("UUID version 4", None, lambda _: str(uuid.uuid4()), True),
    ("UUID version 7", None, lambda ms: str(uuid7(ms)), True),
    ("flake", None, lambda ms: written(ms << 64 | bits(64), BASE62, 22), True),
    ("Apache UNIQUE_ID", None, lambda ms: written((ms // 1000 << 128 | bits(96) << 32 | bits(24)) << 2, BASE64 + "-_", 27), True),
    ("Apache UNIQUE_ID", None, lambda ms: written(ms // 1000 << 112 | bits(112), BASE64 + "@-", 24), True),
    ("X-Ray trace id", None, lambda ms: f"1-{ms // 1000:08x}-{hexadecimal(96)}", True),
    # In 32 digits, nothing but a time that can be tells it from a random id.
    ("X-Ray trace id", None, lambda ms: f"{ms // 1000:08x}{hexadecimal(96)}", False),
    ("Datadog trace id", None, lambda ms: f"{ms // 1000:08x}00000000{hexadecimal(64)}", True),
    ("time-ordered trace id", None, lambda ms: f"{ms << 23 | bits(4):016x}{hexadecimal(64)}", True),
    # Nothing tells a host from random bits.
    ("time-ordered trace id with a host", None, lambda ms: f"{ms << 23 | bits(4):016x}{host()}{hexadecimal(32)}", False),
    ("OpenTelemetry trace id", None, lambda _: hexadecimal(128), True),
    ("span id", None, lambda _: hexadecimal(64), True),
    ("W3C traceparent", None, lambda _: f"00-{hexadecimal(128)}-{hexadecimal(64)}-01", True),
    ("b3", None, lambda _: f"{hexadecimal(128)}-{hexadecimal(64)}-1", True),
    ("SOFATracer id", None, lambda ms: f"{host()}{ms}{random.randint(1000, 9000)}{random.randint(1, 4_194_304)}", True),
    ("SkyWalking id", None, lambda ms: f"{hexadecimal(128)}.{random.randint(1, 999)}.{ms * 10000 + random.randint(0, 9999)}", True),
    ("EagleId", None, lambda ms: f"{host()}{ms}{random.randint(0, 9999):04}e", True),
    ("snowflake", "snowflake", number(1288834974657, 22), True),
    ("snowflake", "sonyflake", number(1409529600000, 24, 10), True),
    ("snowflake", "snowflake53", number(1420070400000, 15, 10), True),
    ("snowflake", "discord", number(1420070400000, 22), True),
    ("snowflake", "instagram", number(1314220021721, 23), True),
    ("snowflake", "mastodon", number(0, 16), True),
]


def inspected(texts):
    output = subprocess.run([COMMAND, "inspect", "--json"], input="\n".join(texts), capture_output=True, text=True, check=False)
    lines = output.stdout.splitlines()
    if len(lines) != len(texts):
        raise AssertionError(f"{len(lines)} of {len(texts)} were read: {output.stderr[:300]}")
    return map(json.loads, lines)


def readings(count):
    """Of each format: a text, how many have the right reading, and how many have it first, alone in time, or with what."""
    now = int(time.time() * 1000)
    for title, layout, make, comes_first in MAKERS:
        times = [now - random.randrange(YEARS_MS) for _ in range(count)]
        texts = [make(ms) for ms in times]
        found, first, others = 0, 0, collections.Counter()
        for read in inspected(texts):
            kinds = [(it["format"], it.get("layout")) for it in [read, *read.get("or_else", [])]]
            found += (title, layout) in kinds
            first += kinds[0] == (title, layout)
            if kinds[0] != (title, layout):
                others[" ".join(filter(None, kinds[0]))] += 1
        yield title, layout, texts[0], comes_first, found, first, others


class Readings(unittest.TestCase):
    def test_the_right_reading_is_there_and_first(self):
        # One in 1000 may be wrong on average: more than three of 300 are hardly ever.
        count, most_wrong = 300, 3
        for title, layout, text, comes_first, found, first, others in readings(count):
            with self.subTest(title, layout=layout, text=text):
                self.assertEqual(found, count)
                if comes_first:
                    self.assertLessEqual(count - first, most_wrong, others)


if __name__ == "__main__":
    COUNT = int(sys.argv[1])
    print("| format | an id | among the readings | first | otherwise first |\n|---|---|--:|--:|---|")
    for title, layout, text, _, found, first, others in readings(COUNT):
        name = f"{title}, {layout}" if layout else title
        instead = ", ".join(f"{other}: {count}" for other, count in others.most_common(3))
        print(f"| {name} | `{text}` | {found / COUNT:.2%} | {first / COUNT:.2%} | {instead} |", flush=True)
