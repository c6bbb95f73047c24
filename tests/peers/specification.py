"""docs/formats.md says all that a reader must know: examples/read.py was written from it, and reads tests/vectors/."""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "examples"))

from read import READERS, date, layout_of  # noqa: E402


def cases(file, section):
    return json.loads((ROOT / f"tests/vectors/{file}.json").read_text())[section]


def read(case, key="text"):
    return READERS[case["format"]](case[key], case.get("layout") or case.get("epoch"))


class Specification(unittest.TestCase):
    def test_valid_texts_are_read_and_written(self):
        for case in cases("formats", "valid"):
            with self.subTest(case):
                expected = {"ms": case.get("ms") and int(case["ms"]), "fields": case["fields"], "bits": case.get("bits"),
                            "written": case.get("written", case["text"])}
                self.assertEqual(read(case), expected)

    def test_invalid_texts_are_refused(self):
        for case in cases("formats", "invalid"):
            with self.subTest(case), self.assertRaises(ValueError):
                read(case)

    def test_text_sorts_as_the_bits_do(self):
        for case in cases("formats", "order"):
            texts = case["texts"]
            self.assertEqual(texts, sorted(set(texts)), case["name"])
            bits = [read(case | {"text": text})["bits"] or text for text in texts]
            self.assertEqual(bits, sorted(set(bits)), case["name"])

    def test_times_are_written_as_dates(self):
        for case in cases("times", "calendar"):
            self.assertEqual(date(int(case["ms"])), case.get("time"), case)

    def test_bounds_have_their_millisecond(self):
        for case in cases("times", "bounds"):
            ms = int(case["ms"]) % 2**42 if case["format"] == "txid" else int(case.get("begin", case["ms"]))
            self.assertEqual([read(case, end)["ms"] for end in ("first", "last")], [ms, ms], case)

    def test_layouts(self):
        for case in cases("formats", "layouts"):
            with self.subTest(case):
                widths, unit_ms, epoch = layout_of(case["layout"])
                parts = [*widths, ("unit_ms", unit_ms), ("epoch", epoch)]
                self.assertEqual(",".join(f"{name}={value}" for name, value in parts), case["written"])
        for case in cases("formats", "invalid_layouts"):
            with self.subTest(case), self.assertRaises(ValueError):
                layout_of(case["layout"])
