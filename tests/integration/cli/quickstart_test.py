"""`zbs quickstart` says where its pages are; one that cannot come up says why, and ends.

usage: quickstart_test.py BIN
"""
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

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

    def test_it_says_where_the_pages_are_and_what_opens_them(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        process = subprocess.Popen([PROGRAMS / "zbs", "quickstart", "--folder", folder + "/state"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        said = ""
        while "Stop with Ctrl-C." not in said:
            line = process.stdout.readline()
            self.assertTrue(line, said)
            said += line
        zones = re.findall(r"^zone (\w+)  (https://127\.0\.0\.1:\d+)$", said, re.M)
        self.assertEqual([name for name, _ in zones], ["a", "b", "c"], said)
        unknown = ssl._create_unverified_context()
        for name, url in zones:
            with urllib.request.urlopen(url + "/", context=unknown, timeout=30) as page:
                self.assertTrue(page.headers["Content-Type"].startswith("text/html"))
        settings = dict(re.findall(r"^export (\w+)=(.*)$", said, re.M))
        command = re.search(r"^zbs dashboard.*$", said, re.M).group().split()
        command.remove("--open")  # nobody is here to look
        dashboard = subprocess.Popen([PROGRAMS / command[0], *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, **settings))
        self.addCleanup(dashboard.stdout.close)
        self.addCleanup(dashboard.wait, 60)
        self.addCleanup(dashboard.terminate)
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(dashboard.stdout.readline().strip(), timeout=30) as page:
            self.assertEqual(page.status, 200)

    def test_settings_that_cannot_be_written_are_told(self):
        folder = tempfile.mkdtemp(prefix="zbs-quickstart-")
        self.addCleanup(shutil.rmtree, folder, True)
        done = subprocess.run([PROGRAMS / "zbs", "quickstart", "--folder", folder + "/state", "--environment-file", folder + "/none/environment"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(f"{folder}/none/environment: cannot be written: No such file or directory", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
