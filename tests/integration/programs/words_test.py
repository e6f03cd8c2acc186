#!/usr/bin/python3
"""What is typed runs: words_test.py PROGRAMS_FOLDER SOURCE_DIR [TEST...]

Random texts as arguments, folders, values of variables and names go through the command line, through `#ZBS` lines and through REST, and are compared byte by
byte with what a rank got. ZBS_WORDS_SEED and ZBS_WORDS_ROUNDS choose others and more of them.
"""
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path[:0] = [SOURCE + "/tests/integration/federation", SOURCE + "/tests/integration/contract"]
import federation
from service import fresh_id

federation.BIN = PROGRAMS
SEED = int(os.environ.get("ZBS_WORDS_SEED", "26"))
ROUNDS = int(os.environ.get("ZBS_WORDS_ROUNDS", "6"))
OWNER = "spiffe://org-a/user/you"
REPORT = """import json, os, sys
print(json.dumps([[os.fsencode(word).hex() for word in sys.argv[1:]], os.getcwdb().hex(), {n: os.fsencode(v).hex() for n, v in os.environ.items() if n.startswith("W_")}]))
"""
# What other parsers on the way could take for their own.
HOSTILE = ["[1,2]", "[]", "[[x]]", "{a,b}", "{}", "-n", "-x", "--", "---", "--help", "--name=x", "-5", "1e3", ":", "=", "=:", "==", "a=b", "%", "%n", "%%", "%20", "$HOME", "${X}", "$(id)", "`id`", "\\", "\\n", "\\\\", "'",
           '"', "it's", "*", "?", "[a-z]*", "~", "~root", "!", "!!", "#", "#ZBS", ";", "&", "|", "<", ">", "(", ")", " ", "", "\t", "\n", "a\nb", "\r", "\x01", "\x7f", "\x1b[31m", "é", "日本", "\U0001f600", "\u202e", "@file", "+x", "null",
           "true", "0x10", "-genv", "-configfile", "-launcher", "//", "/./", ".", ".."]


def setUpModule():
    global world
    world = federation.Federation()
    world.__enter__()


def tearDownModule():
    world.__exit__()


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zbs-words-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o755)
        self.report = self.folder / "report.py"
        self.report.write_text(REPORT)
        self.random = random.Random(SEED)

    def text(self, longest=12, without=""):
        letters = "".join(HOSTILE) + "abc 019"
        parts = [self.random.choice(HOSTILE) if self.random.random() < 0.6 else "".join(self.random.choices(letters, k=self.random.randint(1, longest))) for _ in range(self.random.randint(1, 2))]
        return "".join(letter for letter in "".join(parts) if letter not in without)

    def case(self):
        """Arguments, an existing folder, variables."""
        words = [self.text() for _ in range(self.random.randint(1, 8))] + self.random.sample(HOSTILE, 6)
        folder = self.folder / ("f" + self.text(without="/"))
        folder.mkdir(exist_ok=True)
        return words, str(folder), {f"W_{number}": self.text() for number in range(3)}

    def compare(self, printed, words, folder, variables):
        got = json.loads(printed)
        self.assertEqual([bytes.fromhex(word) for word in got[0]], [word.encode() for word in words])
        self.assertEqual(bytes.fromhex(got[1]), os.fsencode(os.path.realpath(folder)))
        self.assertEqual({name: bytes.fromhex(value) for name, value in got[2].items()}, {name: value.encode() for name, value in variables.items()})

    def test_on_the_command_line(self):
        for number in range(ROUNDS):
            words, folder, variables = self.case()
            with self.subTest(seed=SEED, number=number, words=words, folder=folder, variables=variables):
                settings = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
                done = world.zbs("run", "-q", "-D", folder, *settings, "/usr/bin/python3", str(self.report), *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.compare(done.stdout, words, folder, variables)

    def test_in_lines_of_a_script(self):
        for number in range(ROUNDS):
            words, folder, variables = self.case()
            variables = {name: value.translate({10: None, 13: None}) for name, value in variables.items()}  # a line is a line
            folder = folder if "\n" not in folder and "\r" not in folder else str(self.folder)
            script = self.folder / "job.sh"
            lines = [f"#ZBS --env {shlex.quote(name + '=' + value)}" for name, value in variables.items()] + [f"#ZBS --chdir {shlex.quote(folder)}"]
            script.write_text("#!/bin/sh\n" + "\n".join(lines) + f'\nexec /usr/bin/python3 {shlex.quote(str(self.report))} "$@"\n')
            script.chmod(0o755)
            with self.subTest(seed=SEED, number=number, words=words, script=script.read_text()):
                done = world.zbs("run", "-q", str(script), *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.compare(done.stdout, words, folder, variables)

    def test_in_requests(self):
        url = world.zone_url("a")
        for number in range(ROUNDS):
            words, folder, variables = self.case()
            name = self.text(without="".join(map(chr, range(32))) + "\x7f\u202e") or "n"
            application = fresh_id(OWNER)
            with self.subTest(seed=SEED, number=number, words=words, folder=folder, variables=variables, name=name):
                request = {"id": application, "name": name, "ranks": 1, "argv": ["/usr/bin/python3", str(self.report), *words], "directory": folder, "environment": variables}
                status, answer = world.call(url + "/v1/applications", "POST", request)
                self.assertIn(status, (200, 201, 202), answer)
                world.wait_state(application, ("completed", "failed", "rejected"))
                shown = world.show(application)
                self.assertEqual((shown["state"], shown["name"]), ("completed", name), shown)
                self.compare(world.zbs("logs", application).stdout, words, folder, variables)

    def test_the_first_word_of_a_request_is_a_program(self):
        url = world.zone_url("a")
        for argv in (["-genv", "X", "1", "/usr/bin/env"], ["-configfile", "/etc/passwd"], ["-l", "/bin/true"], ["--", "/bin/true"], ["-"], ["-n", "2"], [":", "/bin/true"], [""], [], ["-launcher", "ssh"], ["-host", "x"]):
            with self.subTest(argv):
                status, answer = world.call(url + "/v1/applications", "POST", {"id": fresh_id(OWNER), "ranks": 1, "argv": argv, "directory": "/tmp"})
                self.assertEqual(status, 400, answer)

    def test_bytes_that_are_no_utf8_are_refused_and_named(self):
        for words in ((b"run", b"--", b"/bin/echo", b"caf\xe9"), (b"run", b"--env", b"W_0=caf\xe9", b"--", b"/bin/true"), (b"run", b"-D", b"/caf\xe9", b"--", b"/bin/true"), (b"run", b"--name", b"caf\xe9", b"--", b"/bin/true")):
            with self.subTest(words):
                done = subprocess.run([os.fsencode(PROGRAMS + "/zbs"), *words], env=world.environment, capture_output=True, timeout=60)
                self.assertNotEqual(done.returncode, 0, done)
                self.assertIn(b"UTF-8", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
