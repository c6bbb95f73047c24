"""resty.txid.envoy in the real Envoy."""

import os
import pathlib
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import servers
from servers import ENVOY, TXID, Case, ask, cluster, envoy_configuration, file_log, free_port, lua_filter, txid_filter

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"traceparent: 00-{TRACE}-{SPAN}-01"
B3 = [f"X-B3-TraceId: {TRACE}", f"X-B3-SpanId: {SPAN}"]
PROXY = [{"match": {"prefix": "/"}, "route": {"cluster": "up", "timeout": "60s"}}]
ACCEPT = 'accept = { "127.0.0.2/32", "::1", "unix:" }'
WATCHED = re.compile(r"x-request-id|cf-ray|x-trace-id|traceparent|tracestate|b3|x-b3-.*|x-amzn-trace-id|x-cloud-trace-context|uber-trace-id|x-datadog-.*")


@unittest.skipUnless(ENVOY, "without Envoy")
class EnvoyCase(Case, unittest.TestCase):
    @classmethod
    def envoy(cls, name, configuration, at, library=True, options=(), log="envoy.log", stop=True):
        path = cls.write(f"{name}.json", configuration)
        options = options or ["--use-dynamic-base-id", "--concurrency", "2"]
        command = [ENVOY, "-c", path, "-l", "error", "--file-flush-interval-msec", "20", *options]
        return cls.start(*command, log=log, ready=lambda: servers.answers(at), env=servers.lua_environment(library), stop=stop)

    @classmethod
    def validate(cls, options, library=True):
        configuration = envoy_configuration([free_port()], [], [], [txid_filter(options)])
        path = cls.write("wrong.json", configuration)
        return subprocess.run(
            [ENVOY, "--mode", "validate", "-c", path], env=servers.lua_environment(library), capture_output=True, text=True
        )


class Replies(EnvoyCase):
    """Each reply has an id, and the access log the same one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rbac = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC"
        denied = {"permissions": [{"url_path": {"path": {"exact": "/403"}}}], "principals": [{"any": True}]}
        filters = [
            txid_filter('{ accept = { "127.0.0.2/32" }, on_invalid = "reject", trace = "traceparent", server_timing = true }'),
            {"name": "rbac", "typed_config": {"@type": rbac, "rules": {"action": "DENY", "policies": {"denied": denied}}}},
        ]
        retry = {"retry_on": "5xx", "num_retries": 2, "retry_back_off": {"base_interval": "0.001s"}}
        routes = [
            {"match": {"path": "/301"}, "redirect": {"path_redirect": "/"}},
            {"match": {"path": "/dead"}, "route": {"cluster": "dead"}},
            {"match": {"path": "/retried/502"}, "route": {"cluster": "up", "retry_policy": retry}},
            {"match": {"path": "/"}, "route": {"cluster": "up"}},
            {"match": {"path": "/403"}, "route": {"cluster": "up"}},
        ]
        cls.log = cls.directory / "access.log"
        log = "%DYNAMIC_METADATA(txid:id)% %DYNAMIC_METADATA(txid:trace_id)% %DYNAMIC_METADATA(txid:span_id)% %RESPONSE_CODE%"
        cls.port = free_port()
        clusters = [cluster("up", cls.upstream.port), cluster("dead", free_port(), connect_timeout="1s")]
        manager = {"access_log": file_log(str(cls.log), log)}
        configuration = envoy_configuration([cls.port], clusters, routes, filters, **manager)
        cls.envoy("replies", configuration, cls.port)

    def logged(self, id):
        lines = lambda: [line for line in self.log.read_text().splitlines() if line.startswith(id)]
        return servers.wait_for(lines, f"{id} in the access log")

    def check(self, status, *lines, **how):
        answer = ask(self.port, *lines, **how)
        self.assertEqual(answer.status, status)
        [id] = answer.all("x-request-id")
        self.assertRegex(id, TXID)
        self.assertEqual(answer.all("traceparent"), [])
        [timing] = answer.all("server-timing")
        [line] = self.logged(id)
        self.assertRegex(line, f"^{id} [0-9a-f]{{32}} [0-9a-f]{{16}} {status}$")
        _, trace_id, span_id, _ = line.split(" ")
        span = f"00-{trace_id}-{span_id}-03"
        self.assertEqual(timing, f'traceparent;desc="{span}", trace;desc={span}')
        return id

    def test_a_response_of_the_upstream(self):
        id = self.check(200)
        self.assertIn(("x-request-id", id), self.upstream.seen["/"][-1])

    def test_replies_of_envoy_itself(self):
        self.check(400, common=["Connection: close"])
        self.check(431, *[f"X-{number}: {'a' * 8000}" for number in range(10)])
        self.check(426, version="1.0")
        self.check(403, path="/403")
        self.check(404, path="/404")
        self.check(301, path="/301")
        self.check(503, path="/dead")
        self.check(403, "Host: a", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", common=[])

    def test_a_rejected_request(self):
        self.check(400, "X-Request-Id: b,ad", source="127.0.0.2")
        self.assertEqual(ask(self.port, "X-Request-Id: good", source="127.0.0.2").all("x-request-id"), ["good"])

    def test_http_2(self):
        command = ["curl", "--silent", "--include", "--http2-prior-knowledge", f"http://127.0.0.1:{self.port}/404"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        id = re.search(r"^x-request-id: (.*?)\s*$", text, re.M)[1]
        self.assertRegex(text, "^HTTP/2 404")
        self.assertRegex(self.logged(id)[0], " 404$")

    def test_retries_have_one_id_and_one_span(self):
        answer = ask(self.port, path="/retried/502")
        tries = [[pair for pair in headers if WATCHED.fullmatch(pair[0])] for headers in self.upstream.seen["/retried/502"]]
        self.assertEqual((answer.status, len(tries)), (502, 3))
        self.assertEqual(tries[0], tries[1])
        self.assertEqual(tries[0], tries[2])
        self.assertIn(("x-request-id", answer.all("x-request-id")[0]), tries[0])


class Through(EnvoyCase):
    def test_one_id_and_one_trace_in_envoy_in_nginx_and_in_the_application(self):
        at, port, log = free_port(), free_port(), self.directory / "through.log"
        self.nginx(
            "through",
            'init_by_lua_block { request = require "resty.txid.request"\n'
            'request.configure { accept = "127.0.0.1/32", trace = "traceparent" } }\n'
            'map "" $request_txid { default ""; }\nmap "" $txid_trace_id { default ""; }\n'
            "log_format ids '$request_txid $txid_trace_id $status';\n"
            f"server {{ listen 127.0.0.1:{at}; access_log logs/ids.log ids; rewrite_by_lua_block {{ request.handle() }}\n"
            f"location / {{ proxy_pass http://127.0.0.1:{self.upstream.port}; }} }}",
        )
        line = "%DYNAMIC_METADATA(txid:id)% %DYNAMIC_METADATA(txid:trace_id)% %RESPONSE_CODE%"
        manager = {"access_log": file_log(str(log), line)}
        filters = [txid_filter('{ trace = "traceparent" }')]
        self.envoy("through", envoy_configuration([port], [cluster("up", at)], PROXY, filters, **manager), port)
        answer = ask(port, "X-Request-Id: from-a-client", PARENT, path="/through")
        headers = dict(self.upstream.seen["/through"][-1])
        trace_id = headers["traceparent"].split("-")[1]
        line = f"{headers['x-request-id']} {trace_id} 200\n"
        self.assertEqual(answer.all("x-request-id"), [headers["x-request-id"]])
        self.assertNotEqual(trace_id, TRACE)
        for logged in log, self.directory / "through/logs/ids.log":
            servers.wait_for(lambda logged=logged: logged.read_text() == line, f"the line in {logged.name}")


class WithoutResponse(EnvoyCase):
    def test_envoy_itself_can_set_the_id_in_the_response(self):
        port = free_port()
        filters, manager = [txid_filter("{ response = false }")], {"always_set_request_id_in_response": True}
        self.envoy("always", envoy_configuration([port], [cluster("up", self.upstream.port)], PROXY, filters, **manager), port)
        answer = ask(port, "X-Request-Id: from-a-client", path="/always")
        id = dict(self.upstream.seen["/always"][-1])["x-request-id"]
        self.assertRegex(id, TXID)
        self.assertEqual(answer.all("x-request-id"), [id])

    def test_the_timing_alone(self):
        port = free_port()
        filters = [txid_filter('{ response = false, upstream = false, trace = "traceparent", server_timing = true }')]
        self.envoy("timing", envoy_configuration([port], [cluster("up", self.upstream.port)], PROXY, filters), port)
        answer = ask(port, "X-Request-Id: from-a-client", path="/timing")
        self.assertEqual(dict(self.upstream.seen["/timing"][-1])["x-request-id"], "from-a-client")
        self.assertEqual((answer.all("x-request-id"), len(answer.all("server-timing"))), (["upstream"], 2))


class Options(EnvoyCase):
    def test_wrong_ones_are_found(self):
        for options, message in [
            ("{ acept = true }", 'resty.txid.envoy: new has no option "acept"'),
            ('{ accept = "10.0.0.0/33" }', 'resty.txid.envoy: accept: "10.0.0.0/33" is not an address'),
            ("{ accept = 1 }", "resty.txid.envoy: accept must be true, false, a list of networks or a function, not 1"),
            ('{ header = "Date" }', 'header: "Date" has a meaning of its own'),
            ('{ trace = "b3", sample = "$rate" }', 'sample: "$rate" is not a sampling ratio'),
            ('{ trace = "b4" }', '"b4" is not one of off, traceparent'),
            ('{ format = "uid" }', 'format must be the name of a format such as txid or uuid_v7, not "uid"'),
            ('{ valid = "[a-z]+" }', 'resty.txid.envoy: valid must be a function, not "[a-z]+"'),
            ('{ on_invalid = "reject" }', "on_invalid has no effect, because accept is off"),
            ("{ server_timing = true }", "resty.txid.envoy: server_timing is true, but trace is off"),
            ("(nil)", "bad argument #1 to 'new' (table expected, got nil)"),
        ]:
            with self.subTest(options=options):
                found = self.validate(options)
                self.assertNotEqual(found.returncode, 0)
                self.assertIn(message, found.stderr)
        self.assertEqual(self.validate("{}").returncode, 0)

    def test_a_missing_library_is_found_where_it_is_needed(self):
        found = self.validate('{ trace = "traceparent" }', library=False)
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("needs libtxid.so, which was not found", found.stderr)
        self.assertEqual(self.validate("{}", library=False).returncode, 0)

    def test_the_notice_of_the_plain_engine_comes_once(self):
        port = free_port()
        configuration = envoy_configuration([port], [cluster("up", self.upstream.port)], PROXY, [txid_filter("{}")])
        self.envoy("plain", configuration, port, library=False, log="plain.log")
        for _ in range(20):
            self.assertRegex(ask(port).all("x-request-id")[0], TXID)
        self.assertEqual((self.directory / "plain.log").read_text().count("libtxid.so was not found"), 1)


class Errors(EnvoyCase):
    """After an error, nothing that an untrusted client made up goes on."""

    FAILS = 'assert(not ready, "on purpose")'

    def check(self, options, *lines, said="on purpose", **how):
        port = free_port()
        # The functions work when options are checked.
        code = (
            f'local txid = require("resty.txid.envoy").new {options}\nready = true\n'
            "envoy_on_request, envoy_on_response = txid.on_request, txid.on_response"
        )
        configuration = envoy_configuration([port], [cluster("up", self.upstream.port)], PROXY, [lua_filter(code)])
        self.envoy(f"errors-{port}", configuration, port, log=f"errors-{port}.log")
        path = f"/errors-{port}"
        answer = ask(port, "X-Request-Id: from-a-client", PARENT, "tracestate: a=b", *B3, "b3: 0", *lines, path=path, **how)
        self.assertEqual(answer.status, 200)
        [headers] = self.upstream.seen[path]
        self.assertEqual([pair for pair in headers if WATCHED.fullmatch(pair[0])], [])
        self.assertRegex((self.directory / f"errors-{port}.log").read_text(), rf"\[error\].* resty\.txid\.envoy: (?:\[string .*\]:\d+: )?{said}\n")
        return answer

    def test_in_the_function_of_the_format(self):
        options = '{ trace = { "traceparent", "b3", "b3_single" }, format = function() ' + self.FAILS + ' return "one" end }'
        self.assertEqual(self.check(options).all("x-request-id"), [])

    def test_in_the_function_that_trusts(self):
        options = '{ trace = { "traceparent", "b3" }, accept = function() error("on purpose") end }'
        self.check(options)

    def test_in_the_function_that_checks_ids(self):
        options = '{ trace = { "traceparent", "b3" }, accept = true, valid = function() error("on purpose") end }'
        self.check(options)

    def test_a_format_that_makes_no_string(self):
        options = '{ trace = { "traceparent", "b3" }, format = function() return not ready and "one" or nil end }'
        self.check(options, said="format returned a nil, not a string")


class Many(EnvoyCase):
    """Ids over a hot restart, and memory."""

    IDS = 2_000_000
    A_REQUEST = 4_000

    def hot_restart(self, library):
        name, port = f"many-{library}", free_port()
        code = (
            'local txid = require "resty.txid"\nlocal ids = {}\nfunction envoy_on_request(handle)\n'
            f"for i = 1, {self.A_REQUEST} do ids[i] = txid() end\n"
            'handle:respond({ [":status"] = "200" }, table.concat(ids, " "))\nend'
        )
        configuration = envoy_configuration([port], [], [], [lua_filter(code)])
        base = str(os.getpid() % 10000 * 2 + library)
        options = ["--base-id", base, "--concurrency", "4", "--parent-shutdown-time-s", "3", "--drain-time-s", "1"]
        first = self.envoy(name, configuration, port, library, [*options, "--restart-epoch", "0"], log=f"{name}.log")
        seen, pids = set(), set()

        def ask_for_more(count):
            def one(_):
                return ask(port).body.split(" ")

            with ThreadPoolExecutor(8) as pool:
                for ids in pool.map(one, range(count)):
                    self.assertEqual(len(ids), self.A_REQUEST)
                    seen.update(ids)

        requests = self.IDS // self.A_REQUEST // 2
        ask_for_more(requests // 2)
        self.envoy(name, configuration, port, library, [*options, "--restart-epoch", "1"], log=f"{name}-1.log")
        ask_for_more(requests // 2)
        first.wait(120)
        ask_for_more(requests)
        self.assertEqual(len(seen), self.A_REQUEST * (requests // 2 * 2 + requests))
        self.assertTrue(all(map(TXID.fullmatch, seen)))

    def test_ids_over_a_hot_restart_are_distinct(self):
        self.hot_restart(True)

    def test_without_the_library_as_well(self):
        self.hot_restart(False)

    @unittest.skipUnless(servers.program("h2load"), "without h2load")
    def test_memory_does_not_grow(self):
        """A million requests with TXID_LONG=1."""
        requests = 1_000_000 if os.environ.get("TXID_LONG") else 60_000
        port = free_port()
        routes = [{"match": {"prefix": "/"}, "direct_response": {"status": 200}}]
        options = f'{{ {ACCEPT}, trace = {{ "traceparent", "b3" }} }}'
        process = self.envoy("memory", envoy_configuration([port], [], routes, [txid_filter(options)]), port)

        def send(count):
            headers = ["-H", "x-request-id: from-a-client", "-H", PARENT]
            command = ["h2load", "--h1", "-n", str(count), "-c", "16", "-t", "1", *headers, f"http://127.0.0.1:{port}/"]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertIn(f"{count} succeeded", text)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            return int(re.search(r"VmRSS:\s*(\d+)", status)[1])

        before = send(requests // 4)
        after = send(requests)
        print(f"memory: {before} kB, and {after} kB {requests} requests later", file=sys.stderr)
        self.assertLess(after - before, 8_000)


if __name__ == "__main__":
    unittest.main()
