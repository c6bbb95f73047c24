"""Apache's ids here, and ours as Apache has them."""

import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from library import Maker, now_ms, read

# Without limits, Apache starts a third process after a second, to have enough spare threads.
CONFIGURATION = """
ServerRoot {directory}
ServerName localhost
PidFile {directory}/pid
ErrorLog {directory}/error.log
DefaultRuntimeDir {directory}
Mutex pthread
Listen 127.0.0.1:{port}
DocumentRoot {directory}/documents
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule headers_module {modules}/mod_headers.so
LoadModule unique_id_module {modules}/mod_unique_id.so
StartServers 2
ServerLimit 2
MaxRequestWorkers 50
Header always set X-Unique-Id "%{{UNIQUE_ID}}e"
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Apache(unittest.TestCase):
    def setUp(self):
        server = shutil.which("apache2", path="/usr/sbin:/usr/bin") or self.fail("apache2 is not installed")
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        self.directory.chmod(0o755)
        (self.directory / "documents").mkdir()
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        configuration = self.directory / "httpd.conf"
        modules = "/usr/lib/apache2/modules"
        configuration.write_text(CONFIGURATION.format(directory=self.directory, port=port, modules=modules))
        self.server = subprocess.Popen([server, "-f", configuration, "-D", "FOREGROUND"])
        self.addCleanup(self.stop)

    def stop(self):
        self.server.terminate()
        self.server.wait(timeout=60)

    def unique_id(self):
        """The id of one request, which Apache may not be there for yet."""
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(self.url) as response:
                    return response.headers["X-Unique-Id"]
            except urllib.error.HTTPError as error:
                return error.headers["X-Unique-Id"]
            except OSError:
                if time.monotonic() > deadline or self.server.poll() is not None:
                    raise
                time.sleep(0.05)

    def test_apaches_ids_are_read_and_ours_look_the_same(self):
        self.unique_id()
        made_by, make = set(), Maker("unique_id")
        for _ in range(100):
            before = now_ms() // 1000 * 1000
            theirs = self.unique_id()
            parts = read("unique_id", theirs)
            self.assertIsNotNone(parts, theirs)
            self.assertTrue(before <= parts["ms"] <= now_ms(), theirs)
            made_by.add(parts["random"])

            ours = make(parts["ms"])
            self.assertRegex(theirs, "^[A-Za-z0-9_-]{27}$")
            self.assertRegex(ours, "^[A-Za-z0-9_-]{27}$")
            # 30 of the 32 bits of the time, and the last character with two bits that are not used.
            self.assertEqual(ours[:5], theirs[:5])
            self.assertIn(theirs[-1], "AEIMQUYcgkosw048")
            self.assertIn(ours[-1], "AEIMQUYcgkosw048")
        self.assertIn(len(made_by), (1, 2), "a random number for each of two processes")
