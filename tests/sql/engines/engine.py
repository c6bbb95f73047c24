"""What the tests need of an engine."""

import atexit
import contextlib
import datetime
import functools
import importlib
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[3]
EPOCH = datetime.datetime(1970, 1, 1)


class Refused(Exception):
    """An engine did not take this SQL."""


class Engine:
    # Types of a column that sorts as the ids do, by the name of their functions; and that of all others.
    KEYS = {}
    KEY = "TEXT"
    # The file in readers/sql/.
    FILE = None
    # The range of the engine's times.
    FIRST_MS = -62135596800000
    LAST_MS = 253402300799999
    NULL_TIME = "NULL"
    # A query for the names of our functions, and one for those that are not declared constant, where an engine asks for that.
    FUNCTIONS = None
    VOLATILE = None
    # Whether readers/sql/ makes ids there.
    MAKES = False
    # What CREATE TABLE says of a table without a key.
    UNSORTED = ""

    @staticmethod
    def missing():
        """Why there is no such engine here, or None."""
        return None

    def key(self, function):
        return self.KEYS.get(function, self.KEY)

    def load(self):
        self.query((ROOT / "readers/sql" / self.FILE).read_text())

    def query(self, sql):
        """The rows, as tuples of strings, numbers and None."""
        raise NotImplementedError

    def version(self):
        return self.query("SELECT version()")[0][0]

    def call(self, function, *arguments):
        """A call of a function of readers/sql/, as SQL."""
        return f"{function}({', '.join(str(argument) for argument in arguments)})"

    def text(self, text):
        """A literal of any text, without an assumption about how the engine escapes characters."""
        raise NotImplementedError

    def holds(self, text):
        """Whether a column can have this text."""
        return True

    def number(self, number):
        return number

    def create_texts(self, texts):
        """A table of texts, numbered from 0."""
        self.query("CREATE TABLE texts (n BIGINT, id TEXT)")
        values = (f"({n}, {self.text(text)})" for n, text in enumerate(texts))
        self.query(f"INSERT INTO texts VALUES {', '.join(values)}")

    def analyze(self, table):
        """Lets the planner know what is in the table."""
        self.query(f"ANALYZE {table}")

    def time(self, microseconds):
        """A literal of a time."""
        return f"TIMESTAMP '{EPOCH + datetime.timedelta(microseconds=microseconds)}'"

    def time_of_row(self, ms, row):
        """The time `row` seconds after `ms`, as SQL."""
        raise NotImplementedError

    def ms(self, time):
        """The milliseconds since 1970 of a time, as SQL."""
        raise NotImplementedError

    def numbers(self, count):
        """A table of the numbers from 0, in a column i, as SQL."""
        raise NotImplementedError

    def create(self, table, columns, key):
        """Makes a table that is sorted or indexed by the column `key`."""
        self.query(f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key}))")

    def plan(self, query):
        """What EXPLAIN says about a query."""
        return "\n".join(" ".join(str(value) for value in row) for row in self.query(f"EXPLAIN {query}"))

    def reads_a_range(self, plan, table):
        """Whether the plan reads a range of the table by its key, and not the whole table."""
        raise NotImplementedError

    def close(self):
        pass


class Client:
    """A client of a server. It is asked again and again, because each takes a while to start."""

    END = "end of the answer"

    def __init__(self, command):
        self.command = command
        self.process = None

    def output(self, sql):
        """What the client prints for this SQL."""
        if self.process is None:
            self.errors = tempfile.TemporaryFile("w+")
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=self.errors, text=True)
        semicolon = "" if sql.rstrip().endswith(";") else ";"
        try:
            self.process.stdin.write(f"{sql}{semicolon}\nSELECT '{self.END}';\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        lines = []
        for line in self.process.stdout:
            if line == f"{self.END}\n":
                return "".join(lines)
            lines.append(line)
        # It ends at the first error.
        self.errors.seek(0)
        error = f"{self.command[0]}: {''.join(lines)[-1000:]}{self.errors.read()}{sql[:1000]}"
        self.close()
        raise Refused(error)

    def close(self):
        if self.process is not None:
            self.process.kill()
            with contextlib.suppress(BrokenPipeError):
                self.process.communicate()
            self.errors.close()
            self.process = None


class Server(Engine):
    """A server in a directory of its own, which listens on a socket in there."""

    USER = "root"
    PROGRAM = None

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="txid-sql")
        self.path = pathlib.Path(self.directory.name)
        self.prepare()
        self.client = Client(self.client_command())
        with open(self.path / "log", "wb") as log:
            self.process = subprocess.Popen(self.as_user(self.command()), stdout=log, stderr=log)
        self.wait()

    def as_user(self, command):
        """Servers do not run as root, and they end with the test."""
        user = ["--reuid", self.USER, "--regid", self.USER, "--clear-groups"] if os.geteuid() == 0 else []
        return ["setpriv", *user, "--pdeathsig", "KILL", *command]

    def prepare(self):
        raise NotImplementedError

    def command(self):
        raise NotImplementedError

    def client_command(self):
        """Prints a row a line, and ends at the first error."""
        raise NotImplementedError

    def wait(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.query("SELECT 1")
            except Refused as error:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    log = (self.path / "log").read_text(errors="replace")
                    self.close()
                    raise RuntimeError(f"the server does not answer: {error} {log}") from error
                time.sleep(0.05)

    def close(self):
        self.client.close()
        self.process.kill()
        self.process.wait()
        # Its children need a moment to notice.
        for _ in range(1200):
            try:
                return self.directory.cleanup()
            except OSError:
                time.sleep(0.05)


@functools.cache
def started(kind):
    """The engine of this kind, which all tests share, because it takes a while to start. They drop their tables."""
    engine = kind()
    atexit.register(engine.close)
    engine.load()
    return engine


def missing_module(name):
    """Why this Python module is not here, or None."""
    try:
        importlib.import_module(name)
    except ImportError as error:
        return str(error)


def output(command, sql):
    """What a client prints for this SQL."""
    client = subprocess.run(command, input=sql, capture_output=True, text=True, timeout=600)
    if client.returncode != 0:
        raise Refused(f"{command[0]}: {client.stdout[-1000:]}{client.stderr}{sql[:1000]}")
    return client.stdout
