#!/usr/bin/python3
"""Ranks that share processors, in real zones: overcommit_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER

Three zones of two processors; a and b let two ranks share one, c none.
"""
import collections
import os
import pathlib
import signal
import sys
import unittest

PROGRAMS, SOURCE, APPS = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path[:0] = [SOURCE + "/tests/integration/federation"]
import federation

federation.BIN = PROGRAMS
until = federation.until
BOTH = ["--overcommit", "2", "--zones", "a,b", "-n", "8"]


def setUpModule():
    global world
    world = federation.Federation(("--processors", "2"))
    world.__enter__()
    for zone in "ab":
        settings = pathlib.Path(f"{world.folder}/state/{zone}.toml")
        settings.write_text("max_overcommit = 2\n" + settings.read_text())
        os.kill(world.service("zbs-zone", f"{zone}.toml"), signal.SIGHUP)
    planned = None

    def is_planned():
        nonlocal planned
        planned = world.zbs("run", "--dry-run", *BOTH, "--", "/bin/true")
        return planned.returncode == 0
    until(is_planned, 40, lambda: planned)


def tearDownModule():
    world.__exit__()


class Overcommit(unittest.TestCase):
    def test_eight_ranks_run_on_four_processors_of_two_zones(self):
        job = world.submit(*BOTH, "--no-record", "--", APPS + "/ring", "--sleep", "10")
        world.wait_state(job, ["running"], 60)
        self.assertEqual(world.used(), {"a": 2, "b": 2, "c": 0})
        for part in world.show(job)["parts"]:
            ranks_of = collections.Counter((place["machine"], place["processor"]) for place in part["assignment"])
            self.assertEqual(sorted(ranks_of.values()), [2, 2], part)
        behind = world.submit("-n", "3", "--", "/bin/true")
        until(lambda: world.show(behind)["reason"].startswith("waiting for processors"), 30, "the third rank waits for a processor")
        done = world.zbs("wait", job, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        ranks = sorted(line.split()[1] for line in world.zbs("logs", job).stdout.splitlines())
        self.assertEqual(ranks, list("01234567"))
        self.assertEqual(world.zbs("wait", behind).returncode, 0)
        until(world.idle, 15, world.used)

    def test_a_zone_that_does_not_allow_it_is_named(self):
        done = world.zbs("run", "--overcommit", "2", "-n", "11", "--", "/bin/true")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("11 places for ranks, but all zones that accept it hold 10", done.stderr)
        self.assertIn("c: puts at most 1 of the ranks on a processor, not 2 (its operator may raise 'max_overcommit')", done.stderr)
        refused = world.zbs("run", "--overcommit", "65", "--", "/bin/true")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--overcommit", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
