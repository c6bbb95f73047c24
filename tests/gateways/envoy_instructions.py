"""What resty.txid.envoy costs in instructions a request, counted by callgrind: below the budget."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import envoy
import servers
from servers import ENVOY, ask, envoy_configuration, free_port, txid_filter

ROUTES = [{"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": "ok"}}}]
REQUESTS = 200


@unittest.skipUnless(ENVOY and shutil.which("valgrind"), "without Envoy or valgrind")
class Instructions(envoy.EnvoyCase):
    def count(self, name, filters):
        """The lowest of several rounds, when LuaJIT has compiled what it will."""
        port, out = free_port(), str(self.directory / f"{name}.out")
        path = self.write(f"{name}.json", envoy_configuration([port], [], ROUTES, filters))
        command = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        command += [ENVOY, "-c", path, "--concurrency", "1", "--use-dynamic-base-id", "-l", "error"]
        process = self.start(*command, log=f"{name}.log", ready=lambda: servers.answers(port), env=servers.lua_environment())

        def send(count):
            url = f"http://127.0.0.1:{port}/?[1-{count}]"
            subprocess.run(["curl", "--silent", "--output", "/dev/null", url], check=True)

        def control(what):
            subprocess.run(["callgrind_control", what, str(process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        self.assertEqual(ask(port).status, 200)
        send(3000)
        control("--instr=on")
        lowest = []
        for number in range(1, 6):
            control("--zero")
            send(REQUESTS)
            control("--dump")
            text = pathlib.Path(f"{out}.{number}").read_text(errors="replace")
            lowest.append(int(re.search(r"^totals: (\d+)", text, re.M)[1]))
        process.kill()
        process.wait()
        return min(lowest) // REQUESTS

    def test_the_budgets(self):
        kinds = 'trace = { "traceparent", "b3" }'
        budgets = [
            ("an id alone", "{ response = false }", 20_000),
            ("policy and two kinds of trace", f'{{ response = false, accept = {{ "10.0.0.0/8", "unix:" }}, {kinds} }}', 45_000),
            ("an id in the response and the metadata", "{}", 52_000),
        ]

        def of(name, options, attempt):
            return self.count(f"{re.sub('[^a-z]', '-', name)}-{attempt}", [txid_filter(options)])

        # Two at a time: the counts do not depend on what runs beside them.
        with ThreadPoolExecutor(2) as pool:
            without = pool.submit(self.count, "without", [])
            counts = [pool.submit(of, name, options, 0) for name, options, _ in budgets]
            print(f"without a filter: {without.result()} instructions a request", file=sys.stderr)
            for (name, options, budget), count in zip(budgets, counts):
                with self.subTest(name):
                    # LuaJIT compiles other parts in each process, so the lowest of several counts.
                    costs = [count.result() - without.result()]
                    while costs[-1] > budget and len(costs) < 4:
                        costs.append(of(name, options, len(costs)) - without.result())
                    print(f"{name}: {min(costs)} more", file=sys.stderr)
                    self.assertLessEqual(min(costs), budget)
