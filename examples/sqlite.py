"""Reads and makes txids in SQLite, by the queries of readers/sql/sqlite.sql. Run it in a checkout."""

import re
import sqlite3

QUERY = re.compile(r"^-- (\w+)(?::.*)?\n((?:SELECT|WITH)[^;]*);", re.MULTILINE)
with open("readers/sql/sqlite.sql") as file:
    queries = dict(QUERY.findall(file.read()))

database = sqlite3.connect(":memory:")
made = queries["txid_ms"].replace(":id", "id").removeprefix("SELECT ")
database.execute(f"CREATE TABLE requests (id TEXT PRIMARY KEY CHECK (({made}) IS NOT NULL AND id = lower(id))) WITHOUT ROWID")
database.execute("INSERT INTO requests VALUES ('d1t40ba6uugf60jg8810'), ('d1t40lhc1011mmhoak5g')")

# A new id for each row that has none.
new = queries["txid_new"].removeprefix("SELECT")
database.execute(f"CREATE TABLE events (id TEXT PRIMARY KEY DEFAULT ({new}), what INT) WITHOUT ROWID")
database.execute("INSERT INTO events (what) VALUES (1), (2)")
assert all(len(id) == 20 for (id,) in database.execute("SELECT id FROM events"))

def first(time):
    (ms,) = database.execute(queries["ms_of_time"], {"time": time}).fetchone()
    return database.execute(queries["txid_first"], {"ms": ms}).fetchone()[0]

# The rows of an hour, each with its time.
time = queries["time_of_ms"].replace(":ms", f"({made})").removeprefix("SELECT ")
hour = (first("2026-11-17 10:00"), first("2026-11-17 11:00"))
rows = database.execute(f"SELECT id, {time} FROM requests WHERE id >= ? AND id < ?", hour).fetchall()
assert rows[0] == ("d1t40ba6uugf60jg8810", "2026-11-17 10:15:00.123")
