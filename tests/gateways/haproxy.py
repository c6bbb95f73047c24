"""examples/haproxy in the real HAProxy, in front of nginx."""

import subprocess
import unittest

import servers
from servers import HAPROXY, TXID, Case, ask, free_port

OWN = servers.ROOT / "examples/haproxy"


# What HAProxy offers, for the interpreters of Lua: the ids of two times.
CORE = """
local times = { { sec = 655829050, usec = 2000 }, { sec = 655829049, usec = 999000 } }
core = { now = function() return table.remove(times, 1) end }
function core.register_fetches(name, fetch) txid = fetch end
dofile(FETCH)
print(txid())
print(txid())
"""


class Versions(unittest.TestCase):
    def test_the_fetch_in_each_version_of_lua(self):
        for version in ("lua5.3", "lua5.4"):
            with self.subTest(version):
                if not servers.program(version):
                    self.skipTest(f"without {version}")
                code = CORE.replace("FETCH", f'"{OWN}/txid.lua"')
                ids = subprocess.run([version, "-e", code], capture_output=True, text=True, check=True).stdout.split()
                # The clock went back by 3 ms, and the time of ids stayed.
                self.assertEqual([id[:8] for id in ids], ["4om9qi54"] * 2)
                self.assertTrue(all(id[8] in "ghijklmn" and TXID.fullmatch(id) for id in ids), ids)


@unittest.skipUnless(HAPROXY, "without HAProxy")
class Haproxy(Case, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port, cls.log, nginx = free_port(), cls.directory / "haproxy.log", free_port()
        text = (OWN / "haproxy.cfg").read_text()
        for theirs, ours in [
            ("/etc/haproxy/txid.lua", f"{OWN}/txid.lua"),
            ("bind :8080", f"bind 127.0.0.1:{cls.port}\n    use_backend dead if {{ path /dead }}"),
            ("default_backend", "http-request deny if { path /403 }\n    default_backend"),
            ("10.0.0.0/8", "127.0.0.2/32"),
            ("127.0.0.1:3000", f"127.0.0.1:{nginx}"),
        ]:
            assert theirs in text, theirs
            text = text.replace(theirs, ours)
        text += "\nbackend dead\n    server dead 127.0.0.1:1\n"
        cls.start(HAPROXY, "-f", cls.write("haproxy.cfg", text), log="haproxy.log", ready=lambda: servers.answers(cls.port))
        cls.nginx(
            "nginx",
            'init_by_lua_block { request = require "resty.txid.request"; request.configure { accept = "127.0.0.1/32" } }\n'
            f"server {{ listen 127.0.0.1:{nginx}; rewrite_by_lua_block {{ request.handle() }}\n"
            f"location / {{ proxy_pass http://127.0.0.1:{cls.upstream.port}; }} }}",
        )

    def check(self, *lines, **how):
        """The id, which is the same in the response and the log, and upstream, behind nginx."""
        answer = ask(self.port, *lines, **how)
        [id] = answer.all("x-request-id")
        servers.wait_for(lambda: f"{id} {answer.status} " in self.log.read_text(), f"{id} in the log")
        path = how.get("path", "/")
        if answer.status == 200:
            self.assertEqual([value for name, value in self.upstream.seen[path][-1] if name == "x-request-id"], [id])
        return id

    def test_a_new_id(self):
        self.assertRegex(self.check(), f"^{TXID.pattern}$")
        self.assertRegex(self.check("X-Request-Id: from-a-client"), f"^{TXID.pattern}$")

    def test_the_id_of_a_trusted_peer(self):
        self.assertEqual(self.check("X-Request-Id: from-the-front", source="127.0.0.2"), "from-the-front")
        for lines in [["X-Request-Id: b,ad"], ["X-Request-Id: b ad"], ["X-Request-Id: one", "X-Request-Id: two"], ["X-Request-Id: " + "a" * 129]]:
            self.assertRegex(self.check(*lines, source="127.0.0.2"), f"^{TXID.pattern}$")

    def test_responses_of_haproxy_itself(self):
        self.assertRegex(self.check(path="/403"), f"^{TXID.pattern}$")
        self.assertRegex(self.check(path="/dead"), f"^{TXID.pattern}$")

    def test_ids_are_distinct_and_of_this_time(self):
        before = servers.time.time()
        ids = [self.check() for _ in range(500)]
        self.assertEqual(len(set(ids)), 500)
        for id in ids:
            bits = 0
            for character in id:
                bits = bits << 5 | int(character, 32)
            self.assertAlmostEqual((bits >> 58) / 1000, before, delta=servers.time.time() - before + 2)
        # All digits that random bits reach come.
        for place in range(9, 19):
            self.assertGreater(len({id[place] for id in ids}), 25)
