#!/usr/bin/python3
"""How a job is stopped, in real zones: time_to_save_test.py PROGRAMS_FOLDER SOURCE_DIR [TEST...]

Each process gets SIGTERM once, and its grace to save. Each rank writes the signals that it got, and how long it lived after the first.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path[:0] = [SOURCE + "/tests/integration/federation"]
import federation

federation.BIN = PROGRAMS
until = federation.until

# The folder of the notes; seconds to save, each rank so much longer than the one before; exit code.
SAVES = """
import os, signal, sys, time
folder, seconds, code = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
rank = int(os.environ.get("PMI_RANK", "0"))
note, first = open(f"{folder}/{rank}", "a", buffering=1), []
def got(number, frame):
    first.append(time.monotonic())
    note.write(f"signal {number}\\n")
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, got)
note.write("up\\n")
while not first: time.sleep(0.02)
while time.monotonic() < first[0] + seconds * (1 + rank):
    time.sleep(0.1)
    note.write(f"alive {time.monotonic() - first[0]:.2f}\\n")
print("saved", rank, flush=True)
note.write("saved\\n")
sys.exit(code)
"""


def setUpModule():
    global world
    world = federation.Federation()
    world.__enter__()


def tearDownModule():
    world.__exit__()


class TimeToSave(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zbs-save-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o777)

    def saves(self, seconds, code=0):
        return ["/usr/bin/python3", "-c", SAVES, self.folder, str(seconds), str(code)]

    def notes(self, rank=0):
        path = pathlib.Path(f"{self.folder}/{rank}")
        return path.read_text().splitlines() if path.exists() else []

    def signals(self, rank=0):
        return [line for line in self.notes(rank) if line.startswith("signal")]

    def lived(self, rank=0):
        return max((float(line.split()[1]) for line in self.notes(rank) if line.startswith("alive")), default=0)

    def begin(self, ranks, *arguments):
        application = world.submit("-n", str(ranks), *arguments)
        until(lambda: all("up" in self.notes(rank) for rank in range(ranks)), 60, "the ranks are not there")
        return application

    def cancel(self, application, within):
        begin = time.monotonic()
        self.assertEqual(world.zbs("cancel", application).returncode, 0)
        self.assertEqual(world.wait_state(application, ["cancelled"], within)["state"], "cancelled")
        return time.monotonic() - begin


class Cancels(TimeToSave):
    def test_a_cancel_gives_the_same_in_every_zone(self):
        for zone in ("a", "b"):
            with self.subTest(zone=zone):
                took = self.cancel(self.begin(1, "--zones", zone, "--", *self.saves(3)), 20)
                self.assertEqual((self.signals(), self.notes()[-1]), (["signal 15"], "saved"))
                self.assertLess(took, 8, "it has ended by itself long before its grace was over")
                os.unlink(f"{self.folder}/0")

    def test_a_program_behind_a_shell_has_its_time(self):
        words = " ".join(f"'{word}'" for word in self.saves(2))
        application = self.begin(2, "--", "/bin/sh", "-c", f"{words}; echo over")
        self.cancel(application, 30)
        for rank in (0, 1):
            self.assertEqual((self.signals(rank), self.notes(rank)[-1]), (["signal 15"], "saved"))
        self.assertIn("saved 1", world.zbs("logs", application, "--rank", "1").stdout)

    def test_a_job_that_ends_at_the_signal_is_not_waited_for(self):
        application = world.submit("-n", "6", "--", "/bin/sleep", "600")
        world.wait_state(application, ["running"])
        self.assertLess(self.cancel(application, 20), 8)


class Graces(TimeToSave):
    def test_the_grace_is_the_one_asked_for(self):
        took = self.cancel(self.begin(2, "--grace", "2s", "--", *self.saves(60)), 20)
        for rank in (0, 1):
            self.assertEqual(self.signals(rank), ["signal 15"])
            self.assertGreater(self.lived(rank), 1.5)
            self.assertLess(self.lived(rank), 4)
        self.assertLess(took, 10)

    def test_a_zone_that_gives_less_is_named(self):
        done = world.zbs("run", "-n", "1", "--zones", "b", "--grace", "10m", "--", "/bin/true", timeout=60)
        text = "5m in zone b, which gives no more (10m asked for)"
        self.assertEqual((done.returncode, done.stderr.count(text)), (0, 1), done)
        application = json.loads(world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)["id"]
        self.assertIn(f"grace      {text}\n", world.zbs("show", application).stdout)
        self.assertEqual([part["grace_s"] for part in world.show(application)["parts"]], [300])
        done = world.zbs("run", "-n", "1", "--grace", "5m", "--", "/bin/true", timeout=60)
        self.assertNotIn("time to save", done.stderr)

    def test_a_zone_that_is_killed_in_the_grace_goes_on_with_the_stop(self):
        application = self.begin(1, "--zones", "a", "--grace", "8s", "--", *self.saves(60))
        self.assertEqual(world.zbs("cancel", application).returncode, 0)
        until(self.signals, 20, "no signal came")
        (old,) = (pid for pid, (argv, _) in federation.processes().items() if argv[0].endswith("/zbs-zone") and argv[-1] == f"{world.folder}/state/a.toml")
        os.kill(old, 9)  # quickstart starts it again
        self.assertEqual(world.wait_state(application, ["cancelled"], 40)["state"], "cancelled")
        self.assertEqual(self.signals(), ["signal 15"])
        self.assertGreater(self.lived(), 6)
        self.assertLess(self.lived(), 12)


class Walltime(TimeToSave):
    def test_the_walltime_gives_one_signal_and_time_to_save(self):
        for code in (0, 3):
            with self.subTest(code=code):
                done = world.zbs("run", "-n", "1", "-t", "2s", "--", *self.saves(3, code), timeout=60)
                self.assertEqual(done.returncode, 143, "its time was over, however it ended")
                self.assertIn("walltime of 2 s reached", done.stderr)
                self.assertIn("saved 0", done.stdout)
                self.assertEqual(self.signals(), ["signal 15"])
                self.assertEqual(self.notes()[-1], "saved")
                os.unlink(f"{self.folder}/0")


class Ranks(TimeToSave):
    def test_no_rank_ends_before_its_time_because_another_one_has_saved(self):
        for how, code in (("cancel", 0), ("cancel", 5), ("walltime", 5)):
            with self.subTest(how=how, code=code):
                # Six ranks are in two zones at least.
                application = self.begin(6, "-t", "2s" if how == "walltime" else "10m", "--", *self.saves(0.6, code))
                if how == "cancel":
                    self.cancel(application, 30)
                shown = world.wait_state(application, ["cancelled", "failed"], 30)
                self.assertGreater(len({part["zone"] for part in shown["parts"]}), 1)
                for rank in range(6):
                    self.assertEqual((rank, self.signals(rank), self.notes(rank)[-1]), (rank, ["signal 15"], "saved"))
                    os.unlink(f"{self.folder}/{rank}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
