"""readers/python reads tests/vectors/."""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "readers/python"))

from txid_reader import FormatError, bounds, date, parse, read  # noqa: E402


def told(case):
    """What a reader is told besides the format."""
    return {name: case[name] for name in ("layout", "epoch") if name in case}


def cases(file, section):
    return json.loads((ROOT / f"tests/vectors/{file}.json").read_text())[section]


class Vectors(unittest.TestCase):
    def test_valid(self):
        for case in cases("formats", "valid"):
            with self.subTest(case):
                id = parse(case["format"], case["text"], **told(case))
                self.assertEqual((id["text"], id["fields"], id.get("bits")), (case.get("written", case["text"]), case["fields"], case.get("bits")))
                self.assertEqual(id["ms"], int(case["ms"]) if "ms" in case else None)
                self.assertIn(case["format"], [other["format"] for other in read(case["text"], **told(case))])
                self.assertEqual(json.loads(json.dumps(id))["text"], id["text"])

    def test_invalid(self):
        for case in cases("formats", "invalid"):
            with self.subTest(case):
                with self.assertRaises(FormatError) as caught:
                    parse(case["format"], case["text"], **told(case))
                error = caught.exception
                self.assertEqual((error.reason, error.position), (case["reason"], int(case["position"]) if "position" in case else None))
                # Errors of snowflakes have no message.
                self.assertIn(case.get("message"), (str(error), None))
                self.assertNotIn(case["format"], [other["format"] for other in read(case["text"], **told(case))])

    def test_order(self):
        for case in cases("formats", "order"):
            with self.subTest(case):
                ids = [parse(case["format"], text, **told(case)) for text in case["texts"]]
                keys = [id["bits"] if "bits" in id else id["ms"] for id in ids]
                self.assertEqual(keys, sorted(keys))

    def test_readings(self):
        for case in cases("formats", "readings"):
            with self.subTest(case):
                found = [{"format": id["format"], "layout": id.get("preset"), "ms": id["ms"] and str(id["ms"]), "unlikely": id["unlikely"]}
                         for id in read(case["text"], now=case["now"])]
                self.assertEqual([{name: value for name, value in id.items() if value is not None} for id in found], case["readings"])

    def test_layouts(self):
        for case in cases("formats", "layouts"):
            with self.subTest(case):
                zero = parse("snowflake", "0", **told(case))
                widths = zero["layout"][1:]
                below = sum(width for _, width in widths[1:])
                unit = parse("snowflake", str(1 << below), **told(case))["ms"] - zero["ms"]
                parts = [f"{name}_bits={width}" for name, width in widths]
                self.assertEqual(",".join([*parts, f"unit_ms={unit}", f"epoch={zero['ms']}"]), case["written"])

    def test_invalid_layouts(self):
        for case in cases("formats", "invalid_layouts"):
            with self.subTest(case):
                with self.assertRaisesRegex(ValueError, "is not a layout"):
                    parse("snowflake", "0", **told(case))

    def test_calendar(self):
        for case in cases("times", "calendar"):
            with self.subTest(case):
                self.assertEqual(date(int(case["ms"])), case.get("time"))

    def test_bounds(self):
        for case in cases("times", "bounds"):
            with self.subTest(case):
                self.assertEqual(bounds(case["format"], case["ms"], **told(case)), [case["first"], case["last"]])


if __name__ == "__main__":
    unittest.main()
