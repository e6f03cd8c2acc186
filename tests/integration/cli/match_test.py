"""`zbs-zone match`: each workload of docs/examples/match prints the text beside it; a file with a fault is refused with place and remedy.

usage: match_test.py BIN SOURCE_DIR      (ZBS_WRITE_GOLDEN=1 writes the texts anew)
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, EXAMPLES = pathlib.Path(sys.argv[1]).resolve() / "zbs-zone", pathlib.Path(sys.argv[2]).resolve() / "docs/examples/match"


def match(path, *options):
    environment = {name: value for name, value in os.environ.items() if name != "ZBS_OUTPUT"}
    return subprocess.run([PROGRAM, "match", path, *options], capture_output=True, text=True, timeout=60, env=environment)


class Match(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-match-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.text = (EXAMPLES / "easy.toml").read_text()
        self.path = self.folder / "workload.toml"

    def changed(self, old, new, *options):
        self.assertIn(old, self.text)
        self.path.write_text(self.text.replace(old, new, 1))
        return match(self.path, *options)

    def test_each_example_prints_the_text_beside_it(self):
        examples = sorted(EXAMPLES.glob("*.toml"))
        self.assertTrue(examples)
        for path in examples:
            with self.subTest(path.name):
                done = match(path)
                self.assertEqual(done.returncode, 0, done.stderr)
                if os.environ.get("ZBS_WRITE_GOLDEN"):
                    path.with_suffix(".txt").write_text(done.stdout)
                self.assertEqual(done.stdout, path.with_suffix(".txt").read_text(), "ZBS_WRITE_GOLDEN=1 writes it anew")
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), 120)

    def test_another_discipline_starts_others(self):
        starts = {part["part"]: part["start_s"] for part in json.loads(self.changed('"easy"', '"fcfs"', "-o", "json").stdout)["parts"]}
        self.assertEqual((starts["wide"], starts["short"], starts["too-early"]), (2760.0, 4560.0, None))

    def test_a_refused_part_is_named_with_the_reason(self):
        done = match(EXAMPLES / "easy.toml")
        self.assertEqual(done.stderr, "note: the zone refuses part 'too-early': 4 processors wanted, 0 free at its start for as long as it may run\n")

    def test_a_file_with_a_fault_is_refused_with_place_and_remedy(self):
        for old, new, message in (("ranks = 8", "ranks = 9", "part 'wide' has 9 ranks, the zone 8 processors; lower 'ranks', or add a [[machine]]"), ('"easy"', '"eazy"', "easy"),
                                  ('"wide"', '"first"', "a [[part]] is called 'first' already"), ('submit = "1m"', 'submitted = "1m"', "submitted")):
            with self.subTest(new):
                done = self.changed(old, new)
                line = self.text[:self.text.index(old)].count("\n") + 1
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(f"{self.path}:{line}: ", done.stderr)
                self.assertIn(message, done.stderr)
        self.assertEqual(match(self.folder / "none.toml").returncode, 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
