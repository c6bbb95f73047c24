"""Measures the functions of readers/sql/, and prints the table of bench/studies/sql/README.md: times of a million ids, and of an hour's rows in a million."""

import sys
import time

import vectors
from engines.clickhouse import ClickHouse
from engines.duckdb import DuckDB
from engines.mariadb import MariaDB
from engines.postgresql import PostgreSQL
from engines.sqlite import SQLite

ROWS = 1_000_000
# Times of these many ids, each of them that many times.
DISTINCT = 10_000
START_MS = 1790000000000
FUNCTIONS = ("txid", "uuid_v7", "flake", "trace_id", "snowflake")


def seconds(engine, query):
    start = time.monotonic()
    rows = engine.query(query)
    return time.monotonic() - start, rows


def measure(engine):
    """The cells of a row: a million of each kind, then the rows of an hour by key and by looking at each id."""
    for function in FUNCTIONS:
        layout = vectors.PRESETS["snowflake"] if function == "snowflake" else ()
        first = engine.call(f"{function}_first", engine.time_of_row(START_MS, "i"), *layout)
        engine.query(f"CREATE TABLE {function}_ids {engine.UNSORTED} AS SELECT {first} AS id FROM {engine.numbers(DISTINCT)}")
        ms = engine.call(f"{function}_ms", "id", *layout)
        took, _ = seconds(engine, f"SELECT max({ms}) FROM {function}_ids, {engine.numbers(ROWS // DISTINCT)}")
        yield f"{took:.2f} s"

    engine.create("requests", f"id {engine.KEYS['txid']}, n BIGINT", "id")
    first = engine.call("txid_first", engine.time_of_row(START_MS, "i"))
    engine.query(f"INSERT INTO requests SELECT {first}, i FROM {engine.numbers(ROWS)}")
    engine.analyze("requests")
    hour = [engine.time((START_MS + (ROWS // 2 + 3600 * i) * 1000) * 1000) for i in range(2)]
    first, end = (engine.call("txid_first", time) for time in hour)
    query = f"SELECT count(n) FROM requests WHERE id >= {first} AND id < {end}"
    plan = engine.plan(query)
    if not engine.reads_a_range(plan, "requests"):
        sys.exit(f"{type(engine).__name__} reads the whole table: {plan}")
    print(f"{type(engine).__name__}: {plan}", file=sys.stderr)
    took, ((count,),) = min(seconds(engine, query) for _ in range(5))
    if int(count) != 3600:
        sys.exit(f"{type(engine).__name__} found {count} rows instead of 3600")
    yield f"{took * 1000:.1f} ms"


print(f"| engine | {' | '.join(FUNCTIONS)} | rows of an hour |")
print("|---|" + "--:|" * (len(FUNCTIONS) + 1))
for kind in (PostgreSQL, MariaDB, SQLite, DuckDB, ClickHouse):
    missing = kind.missing()
    if missing:
        print(f"{kind.__name__}: {missing}", file=sys.stderr)
        continue
    engine = kind()
    engine.load()
    print(f"| {kind.__name__} {engine.version().lstrip('v').split('-')[0]} | {' | '.join(measure(engine))} |", flush=True)
    engine.close()
