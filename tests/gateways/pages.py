"""The configurations of Envoy in docs/ and examples/envoy/ run in the real Envoy, and do what the pages say."""

import json
import re
import unittest

import envoy
import servers
from servers import ENVOY, TXID, ask, cluster, envoy_configuration, free_port, lua_filter

try:
    import yaml
except ImportError:
    yaml = None

UUID = "6f1c3a52-8d0e-4b7f-9a61-2c4d5e6f7a8b"


def blocks(page):
    """All blocks of YAML of a page, read."""
    text = (servers.ROOT / "docs" / page).read_text()
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)]


def example(name):
    return yaml.safe_load((servers.ROOT / "examples" / "envoy" / name).read_text())


def patches(name):
    """The values of the patches of an EnvoyFilter of Istio."""
    return [patch["patch"]["value"] for patch in example(name)["spec"]["configPatches"]]


@unittest.skipUnless(ENVOY and yaml, "without Envoy")
class Pages(envoy.EnvoyCase):
    def run_manager(self, name, filters, **manager):
        port = free_port()
        configuration = envoy_configuration([port], [cluster("up", self.upstream.port)], envoy.PROXY, filters, **manager)
        self.envoy(name, configuration, port)
        return port

    def id_upstream(self, port, *lines):
        path = f"/pages-{port}"
        answer = ask(port, *lines, path=path)
        self.assertEqual(answer.status, 200)
        return dict(self.upstream.seen[path][-1]).get("x-request-id")

    def test_the_quick_start(self):
        [configuration] = [block for block in blocks("quick-start-envoy.md") if "static_resources" in block]
        port, log = free_port(), self.directory / "envoy.log.txt"
        text = json.dumps(configuration)
        for theirs, ours in [
            ('"address": "0.0.0.0", "port_value": 8080', f'"address": "127.0.0.1", "port_value": {port}'),
            ('"port_value": 3000', f'"port_value": {self.upstream.port}'),
            ("/var/log/envoy.log", str(log)),
            ("10.1.2.3", "127.0.0.2"),
        ]:
            self.assertIn(theirs, text)
            text = text.replace(theirs, ours)
        self.envoy("quick-start", text, port)
        trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
        for source, trace in [("127.0.0.1", None), ("127.0.0.2", f"00-{trace_id}-00f067aa0ba902b7-01")]:
            answer = ask(port, "X-Request-Id: sent", f"traceparent: 00-{trace_id}-00f067aa0ba902b7-01", path="/quick", source=source)
            [id] = answer.all("x-request-id")
            headers = dict(self.upstream.seen["/quick"][-1])
            self.assertEqual((headers["x-request-id"], headers.get("traceparent"), id == "sent"), (id, trace, bool(trace)))
            line = f" {trace_id if trace else '-'} {id}\n"
            servers.wait_for(lambda: '"GET /quick HTTP/1.1" 200 ' in log.read_text() and line in log.read_text(), "the line of the page")

    def test_the_lua_of_the_patches(self):
        codes = [policy["inline"] for policy in example("envoy-gateway.yml")["spec"]["lua"]]
        for value in patches("istio.yml"):
            if value.get("name") == "txid":
                codes.append(value["typed_config"]["default_source_code"]["inline_string"])
        self.assertEqual(len(codes), 2)
        for number, code in enumerate(codes):
            port = self.run_manager(f"patch-{number}", [lua_filter(code)])
            self.assertRegex(self.id_upstream(port, "X-Request-Id: from-a-client"), f"^{TXID.pattern}$")

    def test_what_patches_set_in_the_manager(self):
        for number, value in enumerate(patches("istio.yml") + patches("istio-behind-a-gateway.yml")):
            if value.get("name") == "txid":
                continue
            # As Istio does, what is not there is Envoy's default.
            manager = {"generate_request_id": True, **value["typed_config"]}
            port = self.run_manager(f"manager-{number}", [], **manager)
            self.assertEqual(self.id_upstream(port, f"X-Request-Id: {UUID}"), UUID)

    def test_any_id_sampled_by_the_trace(self):
        manager = blocks("mesh.md")[0]
        tracer = "type.googleapis.com/envoy.config.trace.v3.ZipkinConfig"
        zipkin = {"@type": tracer, "collector_cluster": "up", "collector_endpoint": "/spans", "collector_endpoint_version": "HTTP_JSON"}
        tracing = {"provider": {"name": "envoy.tracers.zipkin", "typed_config": zipkin}}
        port = self.run_manager("mesh", [], generate_request_id=True, tracing=tracing, **{key: value for key, value in manager.items() if key != "generate_request_id"})
        for id in [UUID, "d1vl2rqu9bbhj13kdhk0"]:
            path = f"/pages-{port}"
            self.assertEqual(self.id_upstream(port, f"X-Request-Id: {id}"), id)
            # It is traced, although a txid is no hexadecimal number.
            self.assertEqual(dict(self.upstream.seen[path][-1]).get("x-b3-sampled"), "1")
