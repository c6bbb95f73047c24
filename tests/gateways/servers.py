"""Starts gateways in a temporary directory, an upstream that writes down what it gets, and sends requests as they are written."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TXID = re.compile(r"[0-9a-v]{19}[0g]")


def program(*names):
    """The first of these files that is there, or None."""
    found = (shutil.which(str(name), path=f"{sys.prefix}/bin:{os.environ['PATH']}:/usr/sbin") for name in names)
    return next((path for path in found if path), None)


ENVOY = next(map(str, pathlib.Path(sys.prefix).glob("lib/python3*/site-packages/envoy/_bin/envoy")), None)
CADDY = program("caddy")
HAPROXY = program("haproxy")


def free_port(family=socket.AF_INET, given=set()):
    """A port that nobody has, and that was not returned before."""
    with socket.socket(family) as listener:
        listener.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        port = listener.getsockname()[1]
    if port in given:
        return free_port(family)
    given.add(port)
    return port


def wait_for(check, what, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def answers(address):
    with contextlib.suppress(OSError), connect(address):
        return True
    return False


def connect(address, source=None):
    """A connection to a port of 127.0.0.1, to (host, port), or to a path."""
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
        return connection
    address = address if isinstance(address, tuple) else ("127.0.0.1", address)
    return socket.create_connection(address, timeout=60, source_address=(source, 0) if source else None)


class Answer:
    def __init__(self, text):
        head, _, self.body = text.decode("latin-1").partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        self.status = int(first.split(" ")[1]) if " " in first else 0
        self.headers = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]

    def all(self, name):
        return [value for found, value in self.headers if found == name]


def ask(address, *lines, path="/", source=None, version="1.1", common=("Host: example.com", "Connection: close")):
    """Sends a request with these lines, and returns the answer."""
    head = [f"GET {path} HTTP/{version}", *common, *lines]
    with connect(address, source) as connection:
        connection.sendall(("\r\n".join(head) + "\r\n\r\n").encode("latin-1"))
        text = b""
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65536):
                text += part
    return Answer(text)


class Upstream(socketserver.ThreadingTCPServer):
    """Answers with its own id, and has the headers of each request, by its path. The status is what the path ends in, or 200."""

    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.port = self.server_address[1]
        self.seen = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            while first := self.rfile.readline().decode("latin-1").strip():
                headers = []
                while line := self.rfile.readline().decode("latin-1").rstrip("\r\n"):
                    name, _, value = line.partition(":")
                    headers.append((name.lower(), value.strip(" ")))
                path = first.split(" ")[1]
                self.server.seen.setdefault(path, []).append(headers)
                status = re.search(r"/(5\d\d)$", path)
                timing = "Server-Timing: db\r\n" if path == "/timing" else ""
                self.wfile.write(
                    f"HTTP/1.1 {status[1] if status else 200} Any\r\n{timing}X-Request-Id: upstream\r\nContent-Length: 0\r\n\r\n".encode()
                )


class Case:
    """To be mixed into a TestCase: servers that are stopped after its tests."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.directory, True)
        cls.upstream = Upstream()
        cls.addClassCleanup(cls.upstream.server_close)
        cls.addClassCleanup(cls.upstream.shutdown)

    @classmethod
    def start(cls, *command, log, ready, env=None, stop=True):
        """Starts a process, and waits until `ready` returns something true. Its output is in the file `log`."""
        with open(cls.directory / log, "ab") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **(env or {})}, cwd=cls.directory)
        if stop:
            cls.addClassCleanup(end, process)

        def is_ready():
            if process.poll() is not None:
                raise AssertionError(f"{command[0]}: {(cls.directory / log).read_text()}")
            return ready()

        wait_for(is_ready, command[0])
        return process

    @classmethod
    def write(cls, name, text):
        path = cls.directory / name
        path.write_text(text)
        return str(path)

    @classmethod
    def nginx(cls, name, http, library=True, modules=()):
        """Starts nginx with this block of http, and with these modules besides."""
        directory = cls.directory / name
        (directory / "logs").mkdir(parents=True)
        load = "".join(f"load_module {module};\n" for module in [*os.environ["TXID_NGINX_MODULES"].split(), *modules])
        where = lua_environment(library)
        paths = f'lua_package_path "{where["LUA_PATH"]}";\nlua_package_cpath "{where["LUA_CPATH"]}";\n'
        (directory / "nginx.conf").write_text(
            f"{load}daemon off;\nmaster_process off;\npid logs/nginx.pid;\nerror_log logs/error.log info;\nevents {{}}\n"
            f"http {{\n{paths}{'' if 'access_log' in http else 'access_log off;'}\n{http}\n}}\n"
        )
        cls.start(
            *[os.environ["TXID_NGINX"], "-p", f"{directory}/", "-c", "nginx.conf", "-e", "logs/error.log"],
            log=f"{name}.log",
            ready=lambda: (directory / "logs/nginx.pid").exists() and (directory / "logs/nginx.pid").read_text(),
        )


def end(process):
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def lua_environment(library=True):
    """Where LuaJIT finds the modules, and the library or not."""
    return {"LUA_PATH": f"{ROOT}/lua/?.lua;;", "LUA_CPATH": f"{ROOT}/target/release/?.so" if library else "/nowhere/?.so"}


def lua_filter(code, **options):
    kind = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua"
    return {"name": "txid", "typed_config": {"@type": kind, "default_source_code": {"inline_string": code}, **options}}


def txid_filter(options, **more):
    """The lines of docs/quick-start-envoy.md with these options, a Lua table."""
    return lua_filter(
        f'local txid = require("resty.txid.envoy").new {options}\n'
        "envoy_on_request, envoy_on_response = txid.on_request, txid.on_response",
        **more,
    )


def cluster(name, port, **options):
    endpoint = {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}
    return {"name": name, "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]}, **options}


def envoy_configuration(listeners, clusters, routes, filters, **manager):
    """A configuration whose listeners, ports or paths, all have these filters and routes."""
    of = "type.googleapis.com/envoy.extensions.filters."
    router = {"name": "router", "typed_config": {"@type": of + "http.router.v3.Router"}}
    manager = {
        "@type": of + "network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "http",
        "generate_request_id": False,
        "preserve_external_request_id": True,
        # It would wait for a second before it closes a connection, which ends an answer here.
        "delayed_close_timeout": "0s",
        "http_filters": [*filters, router],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
        **manager,
    }

    def listener(at):
        if isinstance(at, str):
            address = {"pipe": {"path": at}}
        else:
            host, port = at if isinstance(at, tuple) else ("127.0.0.1", at)
            address = {"socket_address": {"address": host, "port_value": port}}
        chain = {"filters": [{"name": "http", "typed_config": manager}]}
        return {"name": str(at), "address": address, "filter_chains": [chain]}

    return json.dumps({"static_resources": {"listeners": [listener(at) for at in listeners], "clusters": clusters}})


def file_log(path, text):
    kind = "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog"
    form = {"text_format_source": {"inline_string": text + "\n"}}
    return [{"name": "file", "typed_config": {"@type": kind, "path": path, "log_format": form}}]
