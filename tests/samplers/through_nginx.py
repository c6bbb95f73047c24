"""Has nginx with the module in target/nginx start traces."""

import collections
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

WORKERS = 4


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    sys.exit("txid: nginx does not start")


def logged(root, nginx, kinds, count):
    """Has nginx answer so many requests for each kind, and returns what it logged, in the order of the log.

    A kind is the directives of a server and the variables that it logs, as one word that differs for each trace."""
    with tempfile.TemporaryDirectory() as directory:
        # Workers may not run as root.
        os.chmod(directory, 0o755)
        return logged_in(directory, root, nginx, kinds, count)


def logged_in(directory, root, nginx, kinds, count):
    ports = [free_port() for _ in kinds]
    servers = "".join(
        f"""
    log_format format_{number} '$pid {word}';
    server {{ listen 127.0.0.1:{ports[number]} reuseport; {directives} access_log {number}.log format_{number} buffer=64k; return 204; }}"""
        for number, (directives, word) in enumerate(kinds.values())
    )
    pathlib.Path(directory, "logs").mkdir()
    pathlib.Path(directory, "nginx.conf").write_text(f"""
load_module {root}/target/nginx/ngx_http_txid_module.so;
{"user root;" if os.getuid() == 0 else ""}
worker_processes {WORKERS}; daemon off; pid nginx.pid; error_log error.log;
events {{ }}
http {{ keepalive_requests 1000000000; {servers}
}}
""")
    server = subprocess.Popen([nginx, "-p", f"{directory}/", "-c", "nginx.conf", "-e", "error.log"])
    try:
        wait_for(ports[-1])
        for port in ports:
            subprocess.run(
                ["h2load", "--h1", "-n", str(count), "-c", "64", f"http://127.0.0.1:{port}/"],
                check=True, stdout=subprocess.DEVNULL)
    finally:
        # Gracefully, so that it writes what it has buffered.
        server.send_signal(3)
        server.wait(60)

    traces = {}
    for number, kind in enumerate(kinds):
        lines = [line.split() for line in pathlib.Path(directory, f"{number}.log").read_text().splitlines()]
        workers = collections.Counter(pid for pid, _ in lines)
        if len(lines) != count or len(workers) != WORKERS:
            sys.exit(f"txid: {len(lines)} traces of {len(workers)} workers")
        traces[kind] = [word for _, word in lines]
        if len(set(traces[kind])) != count:
            sys.exit(f"txid: a {kind} id is repeated")
    return traces
