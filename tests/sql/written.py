"""The functions in readers/sql/ are what write_sql.py makes of readers/formats.json."""

import subprocess
import sys
import unittest

import vectors


class Written(unittest.TestCase):
    def test_files_are_what_the_script_writes(self):
        check = subprocess.run([sys.executable, "-B", vectors.READERS / "write_sql.py", "--check"], capture_output=True, text=True)
        self.assertEqual((check.returncode, check.stderr), (0, ""))

    def test_most_formats_have_functions(self):
        self.assertGreater(len(vectors.WRITTEN), 12)
