"""Measures what ids cost in SQLite's B-tree, where the id of a row determines its page."""

import os
import pathlib
import sqlite3
import tempfile
import time

BLOCK = 1000
NEIGHBOURS = 1000
STEPS = 20


def reads():
    """Returns how often this process has read from a file so far. SQLite reads a page at a time."""
    lines = pathlib.Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["syscr"])


class Table:
    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = f"{self.directory.name}/log.db"

    def close(self):
        self.directory.cleanup()

    def fill(self, ids):
        """Inserts the ids, with a transaction for each block. Returns the rows a second of each twentieth, and of all."""
        if os.path.exists(self.path):
            os.remove(self.path)
        database = sqlite3.connect(self.path, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE log (id TEXT PRIMARY KEY, line TEXT) WITHOUT ROWID")
        line = "x" * 100
        step = len(ids) // STEPS
        rates = []
        begin = time.monotonic()
        for first in range(0, len(ids), step):
            start = time.monotonic()
            for block in range(first, first + step, BLOCK):
                database.execute("BEGIN")
                database.executemany("INSERT INTO log VALUES (?, ?)", ((an_id, line) for an_id in ids[block:block + BLOCK]))
                database.execute("COMMIT")
            rates.append(step / (time.monotonic() - start))
        rate = len(ids) / (time.monotonic() - begin)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        return rates, rate

    def pages_of_neighbors(self, ids):
        """Returns how many pages a look-up of ids that were made one after the other reads, and how many there are."""
        database = sqlite3.connect(self.path)
        database.execute("PRAGMA mmap_size = 0")
        database.execute("PRAGMA cache_size = -100000")
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        middle = len(ids) // 2
        before = reads()
        for an_id in ids[middle:middle + NEIGHBOURS]:
            database.execute("SELECT line FROM log WHERE id = ?", (an_id,)).fetchone()
        read = reads() - before
        database.close()
        return read, pages
