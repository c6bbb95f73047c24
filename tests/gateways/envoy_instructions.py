"""What resty.txid.envoy costs in instructions a request, counted by callgrind: below the budget."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import envoy
import servers
from servers import ENVOY, ask, envoy_configuration, free_port, txid_filter

ROUTES = [{"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": "ok"}}}]
REQUESTS = 200
ACCEPT = 'accept = { "10.0.0.0/8", "unix:" }'
KINDS = 'trace = { "traceparent", "b3" }'
BUDGETS = [
    ("an id alone", "{ response = false }", 20_000),
    ("policy and two kinds of trace", f"{{ response = false, {ACCEPT}, {KINDS} }}", 44_816),
    ("an id in the response and the metadata", "{}", 52_000),
]


@unittest.skipUnless(ENVOY and shutil.which("valgrind"), "without Envoy or valgrind")
class Instructions(envoy.EnvoyCase):
    def count(self, name):
        """The instructions of a request without a filter and with each of BUDGETS, in one process: the lowest of several rounds."""
        out, listeners, ports = str(self.directory / f"{name}.out"), [], []
        for filters in [], *([txid_filter(options)] for _, options, _ in BUDGETS):
            ports.append(free_port())
            listeners += json.loads(envoy_configuration(ports[-1:], [], ROUTES, filters))["static_resources"]["listeners"]
        path = self.write(f"{name}.json", json.dumps({"static_resources": {"listeners": listeners}}))
        command = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        command += [ENVOY, "-c", path, "--concurrency", "1", "--use-dynamic-base-id", "-l", "error"]
        process = self.start(*command, log=f"{name}.log", ready=lambda: servers.answers(ports[0]), env=servers.lua_environment())

        def send(port, count):
            url = f"http://127.0.0.1:{port}/?[1-{count}]"
            subprocess.run(["curl", "--silent", "--output", "/dev/null", url], check=True)

        def control(what):
            subprocess.run(["callgrind_control", what, str(process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        # LuaJIT compiles what it will.
        for port in ports:
            self.assertEqual(ask(port).status, 200)
            send(port, 3000)
        control("--instr=on")
        counts, number = [], 0
        for port in ports:
            lowest = []
            for _ in range(5):
                control("--zero")
                send(port, REQUESTS)
                control("--dump")
                number += 1
                text = pathlib.Path(f"{out}.{number}").read_text(errors="replace")
                lowest.append(int(re.search(r"^totals: (\d+)", text, re.M)[1]) // REQUESTS)
            counts.append(min(lowest))
        process.kill()
        process.wait()
        return counts

    def test_the_budgets(self):
        # LuaJIT compiles other parts in each process, so the lowest of several counts.
        costs = [sys.maxsize] * len(BUDGETS)
        for attempt in range(4):
            without, *counts = self.count(f"instructions-{attempt}")
            costs = [min(cost, count - without) for cost, count in zip(costs, counts)]
            if all(cost <= budget for cost, (_, _, budget) in zip(costs, BUDGETS)):
                break
        print(f"without a filter: {without} instructions a request", file=sys.stderr)
        for (name, _, budget), cost in zip(BUDGETS, costs):
            with self.subTest(name):
                print(f"{name}: {cost} more", file=sys.stderr)
                self.assertLessEqual(cost, budget)
