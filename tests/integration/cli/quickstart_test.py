"""`zbs quickstart` that cannot come up says why, and ends.

usage: quickstart_test.py BIN
"""
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from ports import free_ports  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv[1])


class Quickstart(unittest.TestCase):
    def test_a_port_that_is_taken_is_told(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        first = free_ports(4)
        with socket.socket() as other:
            other.bind(("127.0.0.1", first + 1))
            other.listen()
            done = subprocess.run([PROGRAMS / "zbs", "quickstart", "--folder", folder + "/state", "--first-port", str(first)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        told = done.stderr.splitlines()[-1]
        self.assertIn("zone a does not stay up", told)
        self.assertIn("in use", told)
        self.assertIn(str(first + 1), told)
        self.assertIn("a.log", told)
        self.assertLessEqual(done.stderr.count("starting it again"), 5, done.stderr)

    def test_settings_that_cannot_be_written_are_told(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        done = subprocess.run([PROGRAMS / "zbs", "quickstart", "--folder", folder + "/state", "--environment-file", folder + "/none/environment"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(f"{folder}/none/environment: cannot be written: No such file or directory", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
