"""The examples of docs/sql.md run, in the engine of their section."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from engines import engine
from engines.clickhouse import ClickHouse
from engines.duckdb import DuckDB
from engines.mariadb import MariaDB
from engines.postgresql import PostgreSQL

DOCUMENT = "docs/sql.md"
CREATED = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
SECTION = re.compile(r"^## (.*)\n((?:(?!^## ).*\n)*)", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document, language):
    """The blocks of this language, by the title of their section."""
    text = (engine.ROOT / document).read_text()
    sections = {title: [block for found, block in BLOCK.findall(body) if found == language] for title, body in SECTION.findall(text)}
    return {title: blocks for title, blocks in sections.items() if blocks}


def block(document, title, language):
    """The only block of this language in the section."""
    (text,) = blocks(document, language)[title]
    return text


class Documents(unittest.TestCase):
    def test_every_section_with_sql_is_run(self):
        self.assertEqual(set(blocks(DOCUMENT, "sql")), {"PostgreSQL", "MySQL and MariaDB", "DuckDB", "ClickHouse", "New ids"})

    def run_section(self, title, of_engine):
        missing = of_engine.missing()
        if missing:
            self.skipTest(missing)
        started = engine.started(of_engine)
        queries = 0
        for statement in "".join(blocks(DOCUMENT, "sql")[title]).split(";\n"):
            if not statement.strip():
                continue
            for table in CREATED.findall(statement):
                self.addCleanup(started.query, f"DROP TABLE {table}")
            rows = started.query(statement)
            if "\nSELECT" in f"\n{statement}" and "CREATE" not in statement:
                self.assertGreater(len(rows), 0, statement)
                queries += 1
        self.assertGreater(queries, 0)

    def test_postgresql(self):
        self.run_section("PostgreSQL", PostgreSQL)

    def test_mysql_and_mariadb(self):
        self.run_section("MySQL and MariaDB", MariaDB)

    def test_new_ids(self):
        self.run_section("New ids", MariaDB)

    def test_duckdb(self):
        with tempfile.TemporaryDirectory() as directory:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(directory)
            self.run_section("DuckDB", DuckDB)
            self.assertEqual(os.listdir("requests"), ["day=2026-11-17"])

    def test_clickhouse(self):
        self.run_section("ClickHouse", ClickHouse)

    def test_sqlite(self):
        subprocess.run([sys.executable, "examples/sqlite.py"], cwd=engine.ROOT, check=True)
