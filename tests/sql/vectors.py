"""The vectors of the formats that readers/sql/ knows."""

import datetime
import importlib
import json
import pathlib
import sys

DIRECTORY = pathlib.Path(__file__).parents[1] / "vectors"
READERS = pathlib.Path(__file__).parents[2] / "readers"
sys.path.insert(0, str(READERS))
write_sql = importlib.import_module("write_sql")
WRITTEN = write_sql.functions(write_sql.SQLite())
# The formats of the vectors, and the names of their functions.
FUNCTIONS = {format: function for format, (function, _) in WRITTEN.items()} | {
    "uuid": "uuid_v7",
    "flake": "flake",
    "snowflake": "snowflake",
}
# Those that have the ids of a time, too.
WITH_BOUNDS = ["flake", "snowflake", *(format for format, (_, sql) in WRITTEN.items() if f"-- {format}_first" in (sql or ""))]
PRESETS = {
    "snowflake": (41, 22, 1, 1288834974657),
    "leaf": (41, 22, 1, 1288834974657),
    "sonyflake": (39, 24, 10, 1409529600000),
    "uid": (28, 35, 1000, 1463673600000),
    "snowflake53": (38, 15, 10, 1420070400000),
    "discord": (41, 22, 1, 1420070400000),
    "instagram": (40, 23, 1, 1314220021721),
    "mastodon": (47, 16, 1, 0),
}


def cases(file, section):
    """The cases of these formats."""
    return [case for case in json.loads((DIRECTORY / f"{file}.json").read_text())[section] if case["format"] in FUNCTIONS]


def layout(case):
    """What a layout is to the functions of readers/sql/: the bits of the time, those below it, the unit and the epoch."""
    name = case["layout"]
    if name in PRESETS:
        return PRESETS[name]
    parts = dict(part.split("=") for part in name.split(","))
    return (
        int(parts["time_bits"]),
        int(parts["node_bits"]) + int(parts["sequence_bits"]),
        int(parts["unit_ms"]),
        int(parts["epoch"]) if parts["epoch"].removeprefix("-").isdigit() else ms_of_date(parts["epoch"]),
    )


def ms_of_date(date):
    return (datetime.date.fromisoformat(date) - datetime.date(1970, 1, 1)) // datetime.timedelta(milliseconds=1)
