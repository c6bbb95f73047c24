"""Measures what ids cost in a MergeTree table of ClickHouse, which stores rows in granules of 8192."""

import pathlib
import re
import tempfile
import time

import chdb.session

BLOCK = 50_000
NEIGHBOURS = 1000
LOOK_UPS = 11


def literals(ids):
    return ",".join(f"'{an_id}'" for an_id in ids)


class Table:
    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.session = chdb.session.Session(self.directory.name)
        self.session.query("CREATE DATABASE IF NOT EXISTS locality")

    def close(self):
        self.session.close()
        self.directory.cleanup()

    def fill(self, ids):
        """Inserts the ids block by block. Returns the rows a second, including merges."""
        self.session.query("DROP TABLE IF EXISTS locality.log SYNC")
        self.session.query(
            "CREATE TABLE locality.log (id String, line String) ENGINE = MergeTree ORDER BY id "
            "SETTINGS index_granularity = 8192, index_granularity_bytes = 0"
        )
        blocks = []
        for first in range(0, len(ids), BLOCK):
            blocks.append(f"{self.directory.name}/{first}.tsv")
            pathlib.Path(blocks[-1]).write_text("\n".join(ids[first:first + BLOCK]) + "\n")
        start = time.monotonic()
        for block in blocks:
            self.session.query(
                f"INSERT INTO locality.log SELECT id, repeat('x', 100) FROM file('{block}', 'TSV', 'id String')")
        self.session.query("OPTIMIZE TABLE locality.log FINAL")
        return len(ids) / (time.monotonic() - start)

    def granules(self, ids):
        """Returns how many granules a look-up of these ids reads, and how many there are."""
        plan = str(self.session.query(
            f"EXPLAIN indexes = 1 SELECT count() FROM locality.log WHERE id IN ({literals(ids)})", "TabSeparatedRaw"))
        return tuple(int(number) for number in re.findall(r"Granules: (\d+)/(\d+)", plan)[-1])

    def granules_of_neighbors(self, ids):
        """The same for ids that were made one after the other: the median over several places."""
        gap = (len(ids) - NEIGHBOURS) // (LOOK_UPS - 1)
        read = sorted(self.granules(ids[start:start + NEIGHBOURS]) for start in range(0, gap * LOOK_UPS, gap))
        return read[LOOK_UPS // 2]
