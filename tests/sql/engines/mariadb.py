"""MariaDB, which stands for MySQL too: Debian has no MySQL."""

import shutil

from . import engine


def text_key(length):
    return f"CHAR({length}) CHARACTER SET ascii COLLATE ascii_bin"


class MariaDB(engine.Server):
    FILE = "mysql.sql"
    MAKES = True
    KEYS = {
        "txid": text_key(20),
        "uuid_v7": "UUID",
        "flake": text_key(22),
        "trace_id": text_key(32),
        "snowflake": "BIGINT",
    }

    KEY = "VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin"
    FUNCTIONS = "SELECT routine_name FROM information_schema.routines WHERE routine_name REGEXP '_(ms|time|first|last)$'"
    VOLATILE = f"{FUNCTIONS} AND (is_deterministic <> 'YES' OR sql_data_access <> 'NO SQL')"

    database = "mysql"

    @staticmethod
    def missing():
        programs = ("mariadbd", "mariadb-install-db", "mariadb", "setpriv")
        missing = [program for program in programs if not shutil.which(program)]
        return f"{', '.join(missing)}: not installed" if missing else None

    def prepare(self):
        install = ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]
        engine.output([*install, *self.places()], "")

    def places(self):
        # A server that starts deletes the temporary tables it finds, and they may be those of another in /tmp.
        return [f"--datadir={self.path / 'data'}", f"--tmpdir={self.path}"]

    def command(self):
        options = ["--skip-networking", "--performance-schema=off", "--innodb-flush-log-at-trx-commit=0"]
        files = [*self.places(), f"--socket={self.path / 'socket'}"]
        return ["mariadbd", "--no-defaults", f"--user={self.USER}", *files, *options]

    def load(self):
        self.query("CREATE DATABASE ids")
        self.client.close()
        self.database = "ids"
        self.client = engine.Client(self.client_command())
        super().load()

    def client_command(self):
        server = ["mariadb", "--no-defaults", f"--socket={self.path / 'socket'}", "-u", "root"]
        return [*server, "--batch", "--skip-column-names", "--unbuffered", self.database]

    def query(self, sql):
        said = self.client.output(sql)
        return [tuple(None if value == "NULL" else value for value in line.split("\t")) for line in said.splitlines()]

    def text(self, text):
        return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"

    def time_of_row(self, ms, row):
        return f"{self.time(ms * 1000)} + INTERVAL {row} SECOND"

    def ms(self, time):
        return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {time}) DIV 1000"

    def numbers(self, count):
        return f"(SELECT seq AS i FROM seq_0_to_{count - 1}) AS numbers"

    def analyze(self, table):
        self.query(f"ANALYZE TABLE {table}")

    def reads_a_range(self, plan, table):
        return f"{table} range PRIMARY PRIMARY" in plan
