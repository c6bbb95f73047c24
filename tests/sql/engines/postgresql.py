"""PostgreSQL."""

import os
import pathlib
import shutil

from . import engine


class PostgreSQL(engine.Server):
    FILE = "postgresql.sql"
    USER = "postgres"
    MAKES = True
    KEYS = {
        "txid": 'text COLLATE "C"',
        "uuid_v6": "uuid",
        "uuid_v7": "uuid",
        "flake": 'text COLLATE "C"',
        "trace_id": 'text COLLATE "C"',
        "snowflake": "bigint",
    }
    KEY = 'text COLLATE "C"'
    LAST_MS = 2**53
    FUNCTIONS = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname !~ '_new$'"
    VOLATILE = f"{FUNCTIONS} AND (provolatile <> 'i' OR proparallel <> 's')"

    @staticmethod
    def missing():
        return None if programs() else "PostgreSQL is not installed"

    def prepare(self):
        if os.geteuid() == 0:
            shutil.chown(self.path, self.USER, self.USER)
        initdb = [programs() / "initdb", "--auth=trust", "--username=txid", "--encoding=UTF8", "--locale=C", "--no-sync"]
        engine.output(self.as_user([*initdb, "-D", self.path / "data"]), "")

    def command(self):
        return [programs() / "postgres", "-D", self.path / "data", "-h", "", "-k", self.path, "-c", "fsync=off"]

    def client_command(self):
        options = ["-h", self.path, "-U", "txid", "-d", "postgres", "--set=ON_ERROR_STOP=1"]
        return ["psql", "-X", "-q", "-A", "-t", "-F", "\x1f", "-P", "null=\\N", *options]

    def query(self, sql):
        said = self.client.output(sql)
        return [tuple(None if value == "\\N" else value for value in line.split("\x1f")) for line in said.splitlines()]

    def holds(self, text):
        return "\0" not in text

    def version(self):
        return self.query("SHOW server_version")[0][0].split()[0]

    def text(self, text):
        return f"convert_from('\\x{text.encode().hex()}', 'UTF8')"

    def time(self, microseconds):
        seconds, microseconds = divmod(microseconds, 1000000)
        sum = f"TIMESTAMP 'epoch' + {seconds} * INTERVAL '1 second' + {microseconds} * INTERVAL '1 microsecond'"
        return f"({sum}) AT TIME ZONE 'UTC'"

    def time_of_row(self, ms, row):
        return f"{self.time(ms * 1000)} + {row} * INTERVAL '1 second'"

    def ms(self, time):
        return f"(extract(epoch FROM {time}) * 1000)::bigint"

    def numbers(self, count):
        return f"generate_series(0, {count - 1}) AS numbers (i)"

    def reads_a_range(self, plan, table):
        return "Index Cond: ((id >= " in plan and "Seq Scan" not in plan


def programs():
    """The directory of the newest server, which Debian does not put into PATH."""
    return max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None)
