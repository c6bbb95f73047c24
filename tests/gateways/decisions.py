"""tests/vectors/decisions.json and traces.json in real gateways: nginx with its module and with Lua, and Envoy; with the library and
without. With plugins.sh, in Kong and APISIX."""

import functools
import json
import os
import pathlib
import re
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import servers
from envoy import PROXY
from servers import ENVOY, Case, ask, cluster, envoy_configuration, free_port, txid_filter

TRUSTED, UNTRUSTED = "127.0.0.2", "127.0.0.1"
NAMES = re.compile(r"traceparent|tracestate|sw8.*|b3|x-b3-.*|x-amzn-trace-id|x-cloud-trace-context|uber-trace-id|x-datadog-.*|x-trace-id|x-request-id|x-correlation-id|cf-ray")
SENTENCE = re.compile(r'client sent an invalid "([^"]*)" header')


def vectors(name):
    return json.loads((servers.ROOT / f"tests/vectors/{name}.json").read_text())


def table():
    """All rows, in the form of decisions.json, but that the policy of each is its options. "sent" of others may lack the id."""
    found = vectors("decisions")
    for row in found["requests"]:
        yield {**row, "policy": found["policies"][row["policy"]]}
    for row in vectors("traces")["requests"]:
        policy = {"accept": [TRUSTED], "trace": row["kinds"]}
        if "trace_id_header" in row:
            policy["trace_id_header"] = row["trace_id_header"]
        name = f"{' '.join(row['kinds'])}: {row['name']}"
        yield {**row, "name": name, "policy": policy, "peer": TRUSTED if row["accepted"] else UNTRUSTED}
    for row in vectors("validity")["requests"]:
        how = {"status": "400"} if row["answer"] == "bad_request" else {"sent": {}}
        yield {**row, **how, "policy": {"accept": [TRUSTED]}, "peer": TRUSTED}
    for row in vectors("trust")["networks"]:
        for answer, peers in ("kept", row["inside"]), ("new", row["outside"]):
            if UNTRUSTED in peers:
                how = {"lines": ["X-Request-Id: 7f3a"], "sent": {}, "id": "7f3a" if answer == "kept" else "ID"}
                yield {**row, **how, "policy": {"accept": row["networks"]}, "peer": UNTRUSTED}


def lua_of(value):
    if isinstance(value, list):
        return "{" + ", ".join(map(lua_of, value)) + "}"
    return json.dumps(value)


def options_of(policy, in_envoy):
    """The options of configure() and new()."""
    options = dict(policy)
    if options.pop("is_function", False):
        options["accept"] = f"function(address) for _, known in ipairs {lua_of(policy['accept'])} do if address == known then return true end end return false end"
    options = {name: value if name == "accept" and isinstance(value, str) else lua_of(value) for name, value in options.items()}
    if in_envoy and "valid" in options:
        options["valid"] = f'function(id) return id:find("^{policy["valid"]}$") ~= nil end'
    return "{" + ", ".join(f"{name} = {value}" for name, value in options.items()) + "}"


def directives_of(policy):
    def words(value):
        return " ".join(value) if isinstance(value, list) else {True: "on", False: "off"}.get(value, value)

    return " ".join(f"txid_{name} {words(value)};" for name, value in policy.items())


def lines_of(row):
    for line in row["lines"]:
        line = line if isinstance(line, dict) else {"line": line}
        yield from [line["line"] + "a" * int(line.get("pad", 0))] * int(line.get("times", 1))


# What ids of traces that sort by time count from.
SORTED = {"SORTED": 0, "SORTED2020": 1_577_836_800_000}
HEX = {**dict.fromkeys(["TRACE", *SORTED], "[0-9a-f]{32}"), "SPAN": "[0-9a-f]{16}", "ID": "[0-9a-v]{19}[0g]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"}
# Where an id is written otherwise, and in which parts of the trace's id that is.
OTHERWISE = {
    ("x-amzn-trace-id", "TRACE"): ("[0-9a-f]{8}-[0-9a-f]{24}", lambda text: text.replace("-", "")),
    ("x-cloud-trace-context", "SPAN"): ("[0-9]+", lambda text: f"{int(text):016x}"),
    ("x-datadog-trace-id", "TRACE"): ("[0-9]+", lambda text: "." * 16 + f"{int(text):016x}"),
    ("x-datadog-parent-id", "SPAN"): ("[0-9]+", lambda text: f"{int(text):016x}"),
    ("x-datadog-tags", "TRACE"): ("[0-9a-f]{16}", lambda text: text + "." * 16),
}


def difference(expected, found, came_in):
    """Why headers that went on are not those of a row; or None. All that stands for one id must be the same one, and new."""
    if sorted(expected) != sorted(found):
        return f"headers {sorted(found)}"
    made = {}
    for name, value in expected.items():
        pattern, kinds = "", []
        for part in re.split(r"\b(ID|TRACE|SPAN|SORTED(?:2020)?)\b", value):
            form, read = OTHERWISE.get((name, part), (HEX.get(part, re.escape(part)), str))
            pattern += f"({form})" if part in HEX else form
            kinds += [(part, read)] if part in HEX else []
        match = re.fullmatch(pattern, found[name])
        if not match:
            return f"{name}: {found[name]}"
        for (kind, read), text in zip(kinds, match.groups()):
            made.setdefault(kind, []).append(read(text))
            if kind in SORTED and abs((int(text, 16) >> 87) + SORTED[kind] - time.time() * 1000) > 60_000:
                return f"{name} is not of now: {text}"
    for kind, texts in made.items():
        if not all(re.fullmatch(one, other) or re.fullmatch(other, one) or "." in one + other for one in texts for other in texts):
            return f"{kind}: {texts}"
        if any(text in came_in for text in texts):
            return f"{kind} came in: {texts}"
    return None


def sent_to(body):
    """The headers of a request, of those that count, from its head. Several values of one are joined by commas."""
    headers = {}
    for line in body.split("\r\n")[1:]:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t")
        if NAMES.fullmatch(name):
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


class Table(Case):
    """Starts a gateway with a place for each policy. A subclass says which rows it knows, and starts it."""

    path = "/"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.start_upstream()
        cls.rows = [row for row in cls.table() if cls.knows(row)]
        cls.policies = []
        for row in cls.rows:
            if row["policy"] not in cls.policies:
                cls.policies.append(row["policy"])
        cls.start_gateway()

    @classmethod
    def start_upstream(cls):
        # Answers with the head of the request.
        cls.echo = free_port()
        cls.nginx("echo", f'server {{ listen 127.0.0.1:{cls.echo}; add_header X-Request-Id upstream; location / {{ content_by_lua_block {{ local head = ngx.req.raw_header() ngx.header.content_length = #head ngx.print(head) }} }} }}')

    @staticmethod
    def table():
        return table()

    @classmethod
    def knows(cls, row):
        return True

    @classmethod
    def counted(cls, policy, headers):
        return headers

    def ask(self, row):
        policy, peer = self.policies.index(row["policy"]), row["peer"]
        where = self.at(policy, peer)
        return ask(where, *lines_of(row), path=self.path, source=peer if "." in peer else None, common=(f"Host: policy-{policy}", "Connection: close"))

    def check(self, row):
        header = row["policy"].get("header", ["X-Request-Id"])[0].lower()
        answer = self.ask(row)
        self.assertEqual(str(answer.status), row.get("status", "200"))
        ids = answer.all(header)
        made = {header: row.get("id", "ID")}
        if "sent" in row:
            sent = self.counted(row["policy"], sent_to(answer.body))
            self.assertEqual(ids, [sent.get(header)], "the response has the id")
            expected = self.counted(row["policy"], {**made, **row["sent"]})
            self.assertIsNone(difference(expected, sent, "\n".join(lines_of(row)).lower()))
        else:
            self.assertIsNone(difference(made, {header: ",".join(ids)}, ""))
        if "log" in row:
            self.logged.append(row["log"])

    def test_each_row(self):
        self.logged = []
        for row in self.rows:
            with self.subTest(row=row["name"]):
                self.check(row)
        found = lambda: SENTENCE.findall(self.log.read_text())
        servers.wait_for(lambda: len(found()) >= len(self.logged), "the log", 5)
        self.assertEqual(found(), self.logged)


@functools.cache
def nginx_version():
    return subprocess.run([os.environ["TXID_NGINX"], "-v"], capture_output=True, text=True).stderr


class Nginx(Table):
    library, modules = True, []

    @classmethod
    def knows(cls, row):
        # nginx before 1.21.1 leaves out a line that begins with a space.
        return not re.search(r"/1\.(\d|1\d|20|21\.0)\b", nginx_version()) or not any(str(line).startswith(" ") for line in row["lines"])

    @classmethod
    def start_gateway(cls):
        cls.port, cls.port6, cls.log = free_port(), free_port(socket.AF_INET6), cls.directory / "gateway/logs/error.log"
        listen = f"listen 127.0.0.1:{cls.port}; listen [::1]:{cls.port6}; listen unix:{cls.directory}/nginx.sock; set_real_ip_from 0.0.0.0/0; lingering_timeout 100ms;"
        proxy = f"proxy_hide_header X-Request-Id; proxy_pass http://127.0.0.1:{cls.echo};"
        text = "".join(cls.server(number, policy, listen, proxy) for number, policy in enumerate(cls.policies))
        cls.nginx("gateway", cls.beginning() + text, cls.library, cls.modules)

    @classmethod
    def beginning(cls):
        return ""

    @classmethod
    def at(cls, _, peer):
        return {"::1": ("::1", cls.port6), "unix:": f"{cls.directory}/nginx.sock"}.get(peer, cls.port)


class NativeNginx(Nginx, unittest.TestCase):
    modules = list(filter(None, [os.environ.get("TXID_NGINX_MODULE", servers.ROOT / "target/nginx/ngx_http_txid_module.so")]))

    @classmethod
    def knows(cls, row):
        return super().knows(row) and "valid" not in row["policy"] and "is_function" not in row["policy"]

    @classmethod
    def server(cls, number, policy, listen, proxy):
        return f"server {{ {listen} server_name policy-{number}; {directives_of(policy)} {cls.handled(policy)} location / {{ {proxy} }} }}\n"

    @classmethod
    def handled(cls, policy):
        return "txid_handle on;"


class NativeNginxOfGrpc(NativeNginx):
    """Asked by HTTP/2, from a server in front, and asking by gRPC."""

    @classmethod
    def knows(cls, row):
        return super().knows(row) and row["peer"] in (TRUSTED, UNTRUSTED) and row.get("answer") != "bad_request"

    @classmethod
    def start_gateway(cls):
        cls.front, cls.asked = free_port(), free_port()
        super().start_gateway()

    @classmethod
    def beginning(cls):
        front = f"grpc_bind $remote_addr; grpc_set_header Host $http_host; grpc_pass grpc://127.0.0.1:{cls.port};"
        return (
            f"server {{ listen 127.0.0.1:{cls.front}; location / {{ {front} }} }}\n"
            f"server {{ listen 127.0.0.1:{cls.asked} http2; location / {{ proxy_pass http://127.0.0.1:{cls.echo}; }} }}\n"
        )

    @classmethod
    def server(cls, number, policy, listen, proxy):
        proxy = f"grpc_hide_header X-Request-Id; grpc_pass grpc://127.0.0.1:{cls.asked};"
        return super().server(number, policy, f"listen 127.0.0.1:{cls.port} http2;", proxy)

    @classmethod
    def at(cls, _, peer):
        return cls.front


class VariablesOfNginx(NativeNginx):
    """What the variables of nginx are. Headers that nobody sets go on as they came."""

    SETS = {
        "traceparent": "traceparent $txid_traceparent; tracestate $txid_tracestate",
        "b3": "X-B3-TraceId $txid_trace_id; X-B3-SpanId $txid_span_id; X-B3-ParentSpanId $txid_parent_span_id; X-B3-Sampled $txid_b3_sampled; "
        "X-B3-Flags $txid_b3_flags",
        "b3_single": "b3 $txid_b3",
        "aws": "X-Amzn-Trace-Id $txid_amzn_trace_id",
        "gcp": "X-Cloud-Trace-Context $txid_cloud_trace_context",
        "jaeger": "uber-trace-id $txid_uber_trace_id",
        "datadog": "X-Datadog-Trace-Id $txid_datadog_trace_id; X-Datadog-Parent-Id $txid_datadog_parent_id; X-Datadog-Origin $txid_datadog_origin; "
        "X-Datadog-Sampling-Priority $txid_datadog_sampling_priority; X-Datadog-Tags $txid_datadog_tags",
    }

    @classmethod
    def knows(cls, row):
        # Without a span, each kind that is set would be that of another one.
        return super().knows(row) and not ("trace_span" in row["policy"] and len(row["policy"]["trace"]) > 1)

    @classmethod
    def sets(cls, policy):
        header = policy.get("header", ["X-Request-Id"])[0]
        pairs = [f"{header} $request_txid", *(cls.SETS[kind] for kind in policy.get("trace", []))]
        pairs += [f"{policy['trace_id_header']} $txid_trace_id"] if "trace_id_header" in policy else []
        return "; ".join(pairs).split("; ")

    @classmethod
    def handled(cls, policy):
        sets = cls.sets(policy)
        return f"txid_response_header {sets[0].split()[0]}; " + "".join(f"proxy_set_header {pair};" for pair in sets)

    @classmethod
    def counted(cls, policy, headers):
        names = [pair.split()[0].lower() for pair in cls.sets(policy)]
        return {name: value for name, value in headers.items() if name in names}


class LuaNginx(Nginx, unittest.TestCase):
    @classmethod
    def beginning(cls):
        policies = ",\n".join(options_of(policy, False) for policy in cls.policies)
        return f'init_by_lua_block {{ request, policies = require "resty.txid.request", {{ [0] =\n{policies} }} }}\n'

    @classmethod
    def server(cls, number, policy, listen, proxy):
        # A worker has one policy at a time.
        return (
            f"server {{ {listen} server_name policy-{number}; rewrite_by_lua_block {{ if now ~= {number} then now = {number} request.configure(policies[now]) end request.handle() }}\n"
            f"header_filter_by_lua_block {{ request.handle() }} location / {{ {proxy} }} }}\n"
        )


class LuaNginxWithoutLibrary(LuaNginx):
    library = False

    @classmethod
    def knows(cls, row):
        return super().knows(row) and "trace" not in row["policy"] and row["policy"].get("format", "txid") == "txid"


@unittest.skipUnless(ENVOY, "without Envoy")
class Envoy(Table, unittest.TestCase):
    library = True

    @classmethod
    def knows(cls, row):
        # It reads HTTP in another way, has no regular expressions, and no variables.
        policy = row["policy"]
        return row.get("answer") != "bad_request" and row.get("name") != "DEL" and "|" not in policy.get("valid", "") and "$" not in policy.get("sample", "")

    @classmethod
    def start_gateway(cls):
        cls.log, cls.ports, listeners = cls.directory / "envoy.log", [], []
        for number, policy in enumerate(cls.policies):
            cls.ports.append({TRUSTED: free_port(), "::1": ("::1", free_port(socket.AF_INET6)), "unix:": f"{cls.directory}/{number}.sock"})
            asked = {row["peer"] for row in cls.rows if row["policy"] == policy}
            at = [port for peer, port in cls.ports[-1].items() if peer == TRUSTED or peer in asked]
            filters = [txid_filter(options_of(policy, True))]
            text = envoy_configuration(at, [cluster("up", cls.echo)], PROXY, filters, common_http_protocol_options={"max_headers_count": 200})
            resources = json.loads(text)["static_resources"]
            listeners += resources["listeners"]
        path = cls.write("envoy.json", json.dumps({"static_resources": {**resources, "listeners": listeners}}))
        command = [ENVOY, "-c", path, "-l", "error", "--component-log-level", "lua:info", "--use-dynamic-base-id", "--concurrency", "1"]
        cls.start(*command, log="envoy.log", ready=lambda: servers.answers(cls.ports[-1][TRUSTED]), env=servers.lua_environment(cls.library))

    @classmethod
    def at(cls, policy, peer):
        return cls.ports[policy].get(peer, cls.ports[policy][TRUSTED])


class EnvoyWithoutLibrary(Envoy):
    library = False

    @classmethod
    def knows(cls, row):
        return super().knows(row) and "trace" not in row["policy"] and row["policy"].get("format", "txid") == "txid"


class Plugin(Table):
    """A route for each policy, with the plugin's options, in the gateway that plugins.sh has started."""

    @classmethod
    def knows(cls, row):
        # A bad request has no route, JSON no functions, and neither gateway listens on Unix sockets.
        return row.get("answer") != "bad_request" and "is_function" not in row["policy"] and row["peer"] != "unix:"

    @classmethod
    def start_upstream(cls):
        pass

    @classmethod
    def start_gateway(cls):
        port, cls.echo, log, cls.configuration = os.environ["TXID_PLUGIN"].split()
        cls.port, cls.log, cls.changes = int(port), pathlib.Path(log), 0

    @classmethod
    def at(cls, _, peer):
        return ("::1", cls.port) if peer == "::1" else cls.port

    @classmethod
    def configure(cls, routes, everywhere=None):
        """Gives the gateway these routes and the whole of it these options, or None, and waits until it has them, and nothing else."""
        cls.changes += 1
        host = f"change-{cls.changes}"

        def is_there():
            answer = ask(cls.port, path=f"/{host}", common=(f"Host: {host}", "Connection: close"))
            return answer.status == 200 and (answer.all("x-request-id") == ["upstream"]) == (everywhere is None)

        cls.send({**routes, host: None}, everywhere)
        servers.wait_for(is_there, host)

    def setUp(self):
        # APISIX reads routes and what is for all of them at different times.
        self.configure({})

    def ids(self, host, name="x-request-id"):
        """What the upstream gets, and what the client."""
        answer = ask(self.port, "X-Request-Id: a-client-s", common=(f"Host: {host}", "Connection: close"))
        return sent_to(answer.body).get(name), answer.all(name)

    def assert_one(self, form, host, name="x-request-id"):
        sent, answered = self.ids(host, name)
        self.assertRegex(sent, form)
        self.assertEqual(answered, [sent])

    def test_each_row(self):
        self.configure({f"policy-{number}": policy for number, policy in enumerate(self.policies)})
        self.log.write_text("")
        super().test_each_row()

    def test_options_of_routes(self):
        uuid = "-7[0-9a-f]{3}-"
        self.configure({"one": {"format": "uuid_v7"}, "other": {"accept": [UNTRUSTED]}})
        self.assert_one(uuid, "one")
        self.assert_one("^a-client-s$", "other")
        self.configure({"one": None, "other": {"format": "uuid_v7"}})
        self.assertEqual(self.ids("one"), ("a-client-s", ["upstream"]))
        self.assert_one(uuid, "other")
        # Beside options for the whole gateway, which decide on the id.
        self.configure({"one": {"response": False}, "other": {"header": ["X-Correlation-Id"]}}, {"format": "uuid_v7"})
        sent, answered = self.ids("one")
        self.assertRegex(sent, uuid)
        self.assertEqual(answered, ["upstream"])
        self.assert_one(uuid, "other", "x-correlation-id")
        self.assertEqual(self.ids("other")[1], ["upstream"])

    def test_bad_requests(self):
        self.configure({}, {"accept": [TRUSTED], "on_invalid": "reject"})
        rejected = {"name": "rejected before there is a route", "lines": ["X-Request-Id: b,ad"]}
        for row in [rejected, *(row for row in table() if row.get("answer") == "bad_request")]:
            with self.subTest(row=row["name"]):
                answer = ask(self.port, *lines_of(row), source=TRUSTED)
                self.assertEqual(answer.status, 400)
                ids = ",".join(answer.all("x-request-id"))
                self.assertIsNone(difference({"x-request-id": row.get("id", "ID")}, {"x-request-id": ids}, ""))

    def test_wrong_options(self):
        for options, reason in (
            ({"accept": ["10.0.0.0/33"]}, 'accept: "10.0.0.0/33" is not an address'),
            ({"format": "uuid_v9"}, "format must be the name of a format"),
            ({"sample": "1%"}, "sample has no effect, because trace is off"),
            ({"acept": ["10.0.0.0/8"]}, self.unknown),
        ):
            with self.subTest(options=options):
                self.assertIn(reason, self.refusal({"wrong": options}))


@unittest.skipUnless("/config" in os.environ.get("TXID_PLUGIN", ""), "plugins.sh starts it")
class Kong(Plugin, unittest.TestCase):
    unknown = "unknown field"

    @classmethod
    def send(cls, routes, everywhere=None):
        plugins = lambda options: [] if options is None else [{"name": "txid", "config": options}]
        routes = [{"name": host, "hosts": [host], "plugins": plugins(options)} for host, options in routes.items()]
        service = {"name": "up", "url": f"http://127.0.0.1:{cls.echo}", "routes": routes}
        text = json.dumps({"_format_version": "3.0", "plugins": plugins(everywhere), "services": [service]}).encode()
        urllib.request.urlopen(urllib.request.Request(cls.configuration, text, {"Content-Type": "application/json"}))

    def refusal(self, routes):
        with self.assertRaises(urllib.error.HTTPError) as raised:
            self.send(routes)
        return json.dumps(json.load(raised.exception), ensure_ascii=False).replace('\\"', '"')


@unittest.skipUnless(".yaml" in os.environ.get("TXID_PLUGIN", ""), "plugins.sh starts it")
class Apisix(Plugin, unittest.TestCase):
    unknown = "additional properties forbidden, found acept"

    @classmethod
    def send(cls, routes, everywhere=None):
        # They are besides those of plugin_attr.
        plugins = lambda options: {} if options is None else {"txid": {"accept": False, "trace": "off", **options}}
        upstream = {"type": "roundrobin", "nodes": {f"127.0.0.1:{cls.echo}": 1}}
        routes = [{"id": host, "host": host, "uri": "/*", "plugins": plugins(options), "upstream": upstream} for host, options in routes.items()]
        text = json.dumps({"routes": routes, "global_rules": [{"id": "all", "plugins": plugins(everywhere)}]})
        pathlib.Path(cls.configuration).write_text(f"{text}\n#END\n")
        # APISIX compares whole seconds of the file's time.
        os.utime(cls.configuration, times=(time.time() + cls.changes,) * 2)

    def refusal(self, routes):
        before = len(self.log.read_text())
        self.configure(routes)
        # With these, there is an id; the schema's own refusals leave the route out.
        if "acept" not in str(routes):
            self.assert_one(servers.TXID, "wrong")
        return self.log.read_text()[before:]


if __name__ == "__main__":
    unittest.main()
