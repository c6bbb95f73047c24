"""The examples of docs/logs.md read the time of each txid in the vectors, and of nothing else."""

import datetime
import importlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import vectors
from documents import block
from engines import engine
from engines.clickhouse import ClickHouse

DOCUMENT = "docs/logs.md"
SAMPLE = {"id": "d1t40ba6uugf60jg8810", "status": 200, "request": "GET / HTTP/1.1"}
DRIVER = """
assert(loadfile(arg[1]))()
for line in io.lines(arg[2]) do
    local record = { id = (line:gsub("..", function(hex) return string.char(tonumber(hex, 16)) end)) }
    local changed, timestamp = time_of_id("tag", 0.5, record)
    print(changed == 1 and ("%.0f"):format(timestamp * 1000) or timestamp)
end
"""


def texts():
    """The texts of all vectors of txids, and their milliseconds or None."""
    cases = vectors.cases("formats", "valid") + vectors.cases("formats", "invalid")
    return [(case["text"], case.get("ms")) for case in cases if case["format"] == "txid"]


class Logs(unittest.TestCase):
    def check(self, found):
        expected = [None if ms is None else int(ms) for _, ms in texts()]
        self.assertGreater(len(expected), 20)
        for (text, _), ms, right in zip(texts(), found, expected, strict=True):
            self.assertEqual(ms, right, text)

    def test_jq(self):
        if not shutil.which("jq"):
            self.skipTest("jq is not installed")
        program = 'import "txid" as txid; .[] | txid::txid_ms'
        said = engine.output(["jq", "-L", str(engine.ROOT / "examples"), program], json.dumps([text for text, _ in texts()]))
        self.check([json.loads(line) for line in said.splitlines()])

    def test_vector(self):
        missing = engine.missing_module("vrl_python")
        if missing:
            self.skipTest(missing)
        program = block(DOCUMENT, "Vector", "vrl")
        run = importlib.import_module("vrl_python").VRLRuntime.run

        def time_of(text):
            event = {"message": json.dumps({"id": text})}
            time = run(program, event, None).processed_event.get("timestamp")
            return None if time is None else round(datetime.datetime.fromisoformat(time.replace(" UTC", "+00:00")).timestamp() * 1000)

        self.check([time_of(text) for text, _ in texts()])

    def test_fluent_bit(self):
        if not shutil.which("luajit"):
            self.skipTest("luajit is not installed")
        with tempfile.TemporaryDirectory() as directory:
            files = {"filter.lua": block(DOCUMENT, "Fluent Bit", "lua"), "driver.lua": DRIVER}
            files["ids"] = "".join(f"{text.encode('latin-1').hex()}\n" for text, _ in texts())
            for name, content in files.items():
                with open(os.path.join(directory, name), "w") as file:
                    file.write(content)
            said = engine.output(["luajit", *(os.path.join(directory, name) for name in ("driver.lua", "filter.lua", "ids"))], "")
        # A record without an id keeps its time.
        self.check([None if line == "0.5" else int(line) for line in said.splitlines()])

    def test_clickhouse(self):
        missing = ClickHouse.missing()
        if missing:
            self.skipTest(missing)
        clickhouse = engine.started(ClickHouse)
        self.addCleanup(clickhouse.query, "DROP TABLE requests")
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write(json.dumps(SAMPLE) + "\n")
            log.write(json.dumps(SAMPLE | {"id": "from a client"}) + "\n")
            log.flush()
            clickhouse.query(block("docs/sql.md", "ClickHouse", "sql").split(";\n")[0])
            clickhouse.query(block(DOCUMENT, "ClickHouse", "sql").replace("requests.log", log.name))
            self.assertEqual(clickhouse.query("SELECT made, status FROM requests"), [("2026-11-17 10:15:00.123", 200)])
