"""examples/caddy in the real Caddy, in front of nginx."""

import json
import unittest

import servers
from servers import CADDY, TXID, Case, ask, free_port


@unittest.skipUnless(CADDY, "without Caddy")
class Caddy(Case, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port, cls.log, nginx = free_port(), cls.directory / "access.log", free_port()
        text = (servers.ROOT / "examples/caddy/Caddyfile").read_text()
        for theirs, ours in [
            (":8080 {", f":{cls.port} {{\n\tbind 127.0.0.1"),
            ("10.0.0.0/8", "127.0.0.2/32"),
            ("127.0.0.1:3000", f"127.0.0.1:{nginx}"),
            ("/var/log/caddy/access.log", str(cls.log)),
        ]:
            assert theirs in text, theirs
            text = text.replace(theirs, ours, 1)
        path = cls.write("Caddyfile", "{\n\tadmin off\n}\n" + text)
        home = {"HOME": str(cls.directory), "XDG_DATA_HOME": str(cls.directory), "XDG_CONFIG_HOME": str(cls.directory)}
        cls.start(CADDY, "run", "--adapter", "caddyfile", "--config", path, log="caddy.log", ready=lambda: servers.answers(cls.port), env=home)
        cls.nginx(
            "nginx",
            'init_by_lua_block { request = require "resty.txid.request"; request.configure { accept = "127.0.0.1/32" } }\n'
            f"server {{ listen 127.0.0.1:{nginx}; rewrite_by_lua_block {{ request.handle() }}\n"
            f"location / {{ proxy_hide_header X-Request-Id; proxy_pass http://127.0.0.1:{cls.upstream.port}; }} }}",
        )

    def check(self, *lines, **how):
        answer = ask(self.port, *lines, **how)
        [id] = answer.all("x-request-id")
        self.assertIn(("x-request-id", id), self.upstream.seen["/"][-1])

        def is_logged():
            found = [json.loads(line) for line in self.log.read_text().splitlines()]
            return any(entry["resp_headers"].get("X-Request-Id") == [id] for entry in found)

        servers.wait_for(is_logged, f"{id} in the log")
        return id

    def test_the_id_of_an_untrusted_client(self):
        self.assertRegex(self.check(), f"^{TXID.pattern}$")
        self.assertRegex(self.check("X-Request-Id: from-a-client"), f"^{TXID.pattern}$")

    def test_the_id_of_a_trusted_peer(self):
        self.assertEqual(self.check("X-Request-Id: from-the-front", source="127.0.0.2"), "from-the-front")
