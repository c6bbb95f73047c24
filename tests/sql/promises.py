"""What the functions of readers/sql/ promise, in each engine."""

import functools
import itertools
import operator
import string
import sys
import time
import unittest
import uuid

import vectors
from engines.clickhouse import ClickHouse
from engines.duckdb import DuckDB
from engines.engine import started
from engines.mariadb import MariaDB
from engines.postgresql import PostgreSQL
from engines.sqlite import SQLite

ROWS = 5000
NEW = {
    "txid": "^[0-9a-v]{19}[0g]$",
    "ulid": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
    "uuid_v7": "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
}
# In the numbers that bits_of returns. The last four bits of a txid are always zero.
RANDOM = {"txid": (1 << 58) - (1 << 4), "ulid": (1 << 80) - 1, "uuid_v7": 0xFFF << 64 | (1 << 62) - 1}
SECONDS = 1000


class Promises:
    ENGINE = None

    @classmethod
    def setUpClass(cls):
        missing = cls.ENGINE.missing()
        if missing:
            print(f"# {cls.__name__} is skipped: {missing}", file=sys.stderr)
            raise unittest.SkipTest(missing)
        cls.engine = started(cls.ENGINE)

    def values(self, *expressions):
        """The values of these expressions, as text, of one query: each one takes a while to start."""
        (row,) = self.engine.query(f"SELECT {', '.join(expressions)}")
        return [None if value is None else str(value) for value in row]

    def test_functions_are_constant(self):
        """An engine may compute them once in a query, and use them for an index or in a parallel plan."""
        if self.engine.VOLATILE:
            self.assertEqual([row[0] for row in self.engine.query(self.engine.VOLATILE)], [])
            self.assertGreater(len(self.engine.query(self.engine.FUNCTIONS)), 10)

    def read(self, function, id, *layout):
        """The milliseconds that ..._ms and ..._time give."""
        call = self.engine.call
        return call(f"{function}_ms", id, *layout), self.engine.ms(call(f"{function}_time", id, *layout))

    def expected(self, ms):
        """What ..._ms and ..._time give: None if they cannot hold it."""
        return (
            None if ms is None or int(ms) >= 2**63 else ms,
            ms if ms is not None and self.engine.FIRST_MS <= int(ms) <= self.engine.LAST_MS else None,
        )

    def check_texts(self, section):
        """Reads the texts from a table, as queries do: an engine may compute with constants in another way."""
        cases = [case for case in vectors.cases("formats", section) if case["format"] != "snowflake"]
        cases = [case for case in cases if self.engine.holds(case["text"])]
        self.assertGreater(len(cases), 25)
        for case, found in zip(cases, self.read_texts([(vectors.FUNCTIONS[case["format"]], case["text"]) for case in cases])):
            ms = case.get("ms")
            if ms and "epoch" in case:
                ms = str(int(ms) - int(case["epoch"]))
            self.assertEqual(found, self.expected(ms), case)

    def read_texts(self, texts):
        """What the functions say of each (function, text)."""
        self.engine.query("DROP TABLE IF EXISTS texts")
        self.engine.create_texts([text for _, text in texts])
        found = {
            function: self.engine.query(f"SELECT n, {', '.join(self.read(function, 'id'))} FROM texts ORDER BY n")
            for function in {function for function, _ in texts}
        }
        for n, (function, _) in enumerate(texts):
            yield tuple(None if value is None else str(value) for value in found[function][n][1:])

    def test_valid_texts(self):
        self.check_texts("valid")

    def test_invalid_texts(self):
        self.check_texts("invalid")

    def test_what_is_beside_or_in_an_id_is_not_ignored(self):
        texts = [
            (vectors.FUNCTIONS[case["format"]], text)
            for case in vectors.cases("formats", "valid")
            if case["format"] != "snowflake"
            for text in (case["text"] + "\n", case["text"] + " ", "\n" + case["text"], case["text"] + "\0", case["text"] + "\0x", case["text"][:-1] + "\n", case["text"][:-1] + "\0")
            if self.engine.holds(text)
        ]
        for text, found in zip(texts, self.read_texts(texts), strict=True):
            self.assertEqual(found, (None, None), text)

    def test_times_end_with_those_of_the_engine(self):
        for ms in (self.engine.LAST_MS, self.engine.LAST_MS + 1):
            texts = [("flake", base62(ms << 64))]
            # A UUID has 48 bits of time.
            if ms < 2**48:
                texts.append(("uuid_v7", str(uuid.UUID(int=ms << 80 | 7 << 76 | 2 << 62))))
            for text, (found, time) in zip(texts, self.read_texts(texts), strict=True):
                self.assertEqual(found, str(ms), text)
                self.assertEqual(time is None, ms > self.engine.LAST_MS, text)

    def test_numbers(self):
        cases = vectors.cases("formats", "valid") + vectors.cases("formats", "invalid")
        cases = [case for case in cases if case["format"] == "snowflake" and fits_64_bits(case["text"])]
        self.assertGreater(len(cases), 10)
        calls = (self.read("snowflake", self.engine.number(case["text"]), *vectors.layout(case)) for case in cases)
        found = pairs(self.values(*itertools.chain(*calls)))
        for case, ms in zip(cases, found, strict=True):
            self.assertEqual(ms, self.expected(case.get("ms")), case)

    def test_null_gives_null(self):
        for function in set(vectors.FUNCTIONS.values()):
            layout = vectors.PRESETS["snowflake"] if function == "snowflake" else ()
            calls = [self.engine.call(f"{function}_{kind}", "NULL", *layout) for kind in ("ms", "time")]
            if function in vectors.WITH_BOUNDS:
                calls += [self.engine.call(f"{function}_{end}", self.engine.NULL_TIME, *layout) for end in ("first", "last")]
            self.assertEqual(self.values(*calls), [None] * len(calls), function)

    def bounds(self, *questions):
        """The first and last id of each (function, microseconds, layout)."""
        calls = (
            self.engine.call(f"{function}_{end}", self.engine.time(microseconds), *layout)
            for function, microseconds, layout in questions
            for end in ("first", "last")
        )
        return pairs(self.values(*calls))

    def test_bounds(self):
        questions, answers = [], []
        for case in vectors.cases("times", "bounds"):
            ms = int(case["ms"])
            is_there = vectors.FUNCTIONS[case["format"]] in vectors.WITH_BOUNDS
            if not is_there or not self.engine.FIRST_MS <= ms <= self.engine.LAST_MS:
                continue
            layout = vectors.layout(case) if "layout" in case else ()
            # The library wraps. A query would then find rows of another time.
            wraps = case["format"] == "txid" and not 0 <= ms < 2**42
            for microseconds in (0, 999):
                questions.append((vectors.FUNCTIONS[case["format"]], ms * 1000 + microseconds, layout))
                answers.append((None, None) if wraps else (case["first"], case["last"]))
        self.assertGreater(len(questions), 30)
        for question, found, expected in zip(questions, self.bounds(*questions), answers, strict=True):
            self.assertEqual(found, expected, question)

    def test_no_id_has_these_times(self):
        questions, answers = [], []
        for function, layout, first, end in [
            ("txid", (), 0, 2**42),
            ("uuid_v7", (), 0, 2**48),
            ("flake", (), 0, None),
            ("trace_id", (), 0, 2**41),
            ("ulid", (), 0, 2**48),
            ("xid", (), 0, 2**32 * 1000),
            ("xray", (), 0, 2**32 * 1000),
            ("uuid_v6", (), -12219292800000, -12219292800000 + ((1 << 60) - 1) // 10000),
            ("snowflake", vectors.PRESETS["snowflake"], 1288834974657, 1288834974657 + 2**41),
            ("snowflake", vectors.PRESETS["sonyflake"], 1409529600000, 1409529600000 + 2**39 * 10),
        ]:
            times = [(first * 1000 - 1, False), (first * 1000, True)] if first > self.engine.FIRST_MS else []
            if end is not None and end <= self.engine.LAST_MS:
                times += [(end * 1000 - 1, True), (end * 1000, False)]
            for microseconds, ids in times:
                questions.append((function, microseconds, layout))
                answers.append((ids, ids))
        for question, found, expected in zip(questions, self.bounds(*questions), answers, strict=True):
            self.assertEqual(tuple(bound is not None for bound in found), expected, (question, found))

    def test_ids_sort_by_time(self):
        for case in vectors.cases("formats", "order"):
            function = vectors.FUNCTIONS[case["format"]]
            self.engine.create("sorted", f"id {self.engine.key(function)}", "id")
            values = ", ".join(f"('{text}')" for text in reversed(case["texts"]))
            self.engine.query(f"INSERT INTO sorted VALUES {values}")
            found = [str(row[0]) for row in self.engine.query("SELECT id FROM sorted ORDER BY id")]
            self.engine.query("DROP TABLE sorted")
            self.assertEqual(found, case["texts"], case["name"])

    def test_a_text_is_a_number_or_no_id(self):
        if self.engine.FILE != "sqlite.sql":
            self.skipTest("its numbers have a type")
        for text, ms in [("1160090501362225152", "1565422103621"), ("no id", None), ("", None), ("1.5", None), ("1e18", None), ("18446744073709551616", None)]:
            (found,) = self.engine.query(f"SELECT {self.engine.call('snowflake_ms', self.engine.text(text), *vectors.PRESETS['snowflake'])}")
            self.assertEqual(found[0] and str(found[0]), ms, text)

    def test_new_ids_have_the_time_and_random_bits(self):
        if not self.engine.MAKES:
            self.skipTest("it makes no ids")
        for format, pattern in NEW.items():
            expression = self.engine.call(f"{format}_new")
            before = time.time_ns() // 1000000
            made = [str(row[0]) for row in self.engine.query(f"SELECT {expression} FROM {self.engine.numbers(ROWS)}")]
            after = time.time_ns() // 1000000
            self.assertEqual(len(set(made)), ROWS, format)
            for id in made:
                self.assertRegex(id, pattern)
                # Some engines round the time.
                self.assertTrue(before - 1 <= ms_of(format, id) <= after + 1, (format, id, before, after))
            # Each random bit is seen in both states.
            seen = [bits_of(format, id) for id in made]
            changing = functools.reduce(operator.or_, seen) & ~functools.reduce(operator.and_, seen)
            self.assertEqual(RANDOM[format] & ~changing, 0, format)

    def test_a_time_is_a_range_of_the_key(self):
        """One id each second. A query by time reads a range of the key, and finds the rows that a look at each id finds."""
        start = 1790000000000
        for function in vectors.WITH_BOUNDS:
            key = self.engine.key(function)
            layout = vectors.PRESETS["snowflake"] if function == "snowflake" else ()
            self.engine.create("requests", f"id {key}, n BIGINT", "id")
            of_row = self.engine.call(f"{function}_first", self.engine.time_of_row(start, "i"), *layout)
            self.engine.query(f"INSERT INTO requests SELECT {of_row}, i FROM {self.engine.numbers(ROWS)}")
            self.engine.analyze("requests")
            times = [self.engine.time((start + (ROWS // 2 + SECONDS * i) * 1000) * 1000) for i in range(2)]
            first, end = (self.engine.call(f"{function}_first", time, *layout) for time in times)
            by_key = f"FROM requests WHERE id >= {first} AND id < {end}"
            ms, _ = self.read(function, "id", *layout)
            slowly = f"FROM requests WHERE {ms} >= {start + ROWS // 2 * 1000} AND {ms} < {start + (ROWS // 2 + SECONDS) * 1000}"
            counts = [int(self.engine.query(f"SELECT count(n) {query}")[0][0]) for query in (by_key, slowly)]
            self.assertEqual(counts, [SECONDS] * 2, function)
            plan = self.engine.plan(f"SELECT count(n) {by_key}")
            self.assertTrue(self.engine.reads_a_range(plan, "requests"), (function, plan))
            # The check can fail.
            plan = self.engine.plan(f"SELECT count(n) {slowly}")
            self.assertFalse(self.engine.reads_a_range(plan, "requests"), (function, plan))
            self.engine.query("DROP TABLE requests")


def bits_of(format, id):
    if format == "uuid_v7":
        return uuid.UUID(id).int
    digits = "0123456789abcdefghijklmnopqrstuv" if format == "txid" else "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    return functools.reduce(lambda bits, character: bits << 5 | digits.index(character), id, 0)


def ms_of(format, id):
    return bits_of(format, id) >> {"txid": 58, "ulid": 80, "uuid_v7": 80}[format]


def base62(bits):
    digits = []
    for _ in range(22):
        bits, digit = divmod(bits, 62)
        digits.append((string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit])
    return "".join(reversed(digits))


def pairs(values):
    return list(zip(values[::2], values[1::2], strict=True))


def fits_64_bits(text):
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and -(2**63) <= int(text) < 2**63


class ClickHouseTest(Promises, unittest.TestCase):
    ENGINE = ClickHouse


class DuckDBTest(Promises, unittest.TestCase):
    ENGINE = DuckDB


class MariaDBTest(Promises, unittest.TestCase):
    ENGINE = MariaDB


class PostgreSQLTest(Promises, unittest.TestCase):
    ENGINE = PostgreSQL


class SQLiteTest(Promises, unittest.TestCase):
    ENGINE = SQLite
