#!/usr/bin/python3
"""A zone in front of a real Slurm, beside local zones: zone_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [CLASS[.TEST]...]

`zbs quickstart --slurm`: zones a, b and c of 4 processors each and d, whose machines are the four nodes of a Slurm that the test
starts. Jobs run as whoever runs the test (root, for the sake of slurmd).
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, SOURCE, APPS = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path[:0] = [SOURCE + "/tests/support", SOURCE + "/tests/integration/federation"]
import federation
import slurm_cluster

federation.BIN = PROGRAMS
until = federation.until
# Slurm's ranks are root's with all its capabilities, those of the other zones have none: on one machine they share memory by names only.
RING = ["--env", "UCX_POSIX_USE_PROC_LINK=n", "--env", "UCX_TLS=posix,self", "--", APPS + "/ring"]

# Each rank notes the signals that it got, and saves for a second longer than the one before.
SAVES = """
import os, signal, sys, time
rank, got = int(os.environ["PMI_RANK"]), []
def note(words):
    with open(f"{sys.argv[1]}/{rank}", "a") as file: file.write(words + "\\n")
signal.signal(signal.SIGTERM, lambda *_: got.append(time.monotonic()))
note("up")
while not got: time.sleep(0.02)
while time.monotonic() < got[0] + 1 + rank: time.sleep(0.02)
note(f"saved after {len(got)}")
sys.exit(5)
"""


def setUpModule():
    global cluster, world
    cluster = slurm_cluster.SlurmCluster(["n1", "n2", "n3", "n4"], 2)
    try:
        world = federation.Federation(quickstart_options=["--slurm", cluster.folder + "/slurm.conf"])
        world.__enter__()
    except BaseException:
        cluster.stop()
        raise


def tearDownModule():
    try:
        world.__exit__()
    finally:
        cluster.stop()


def jobs():
    """State of each job of Slurm that is not over: number -> state."""
    return dict(line.split() for line in cluster.client("squeue", "-h", "-o", "%i %T").splitlines())


def zones_of(shown):
    return sorted({part["zone"] for part in shown["parts"]})


class Zone(unittest.TestCase):
    def tearDown(self):
        until(lambda: not jobs(), 30, lambda: f"jobs of Slurm are left: {jobs()}\n{cluster.logs()}")


class Runs(Zone):
    def test_a_job_runs_across_local_zones_and_the_nodes_of_slurm(self):
        done = world.zbs("run", "-n", "16", *RING, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        last = json.loads(world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)
        shown = world.show(last["id"])
        self.assertIn("d", zones_of(shown))
        self.assertGreater(len(zones_of(shown)), 1)
        machines = {place["machine"] for part in shown["parts"] if part["zone"] == "d" for place in part["assignment"]}
        self.assertEqual(len(machines), 4, "the names are aliases: another organisation does not receive the names of its nodes")

    def test_its_ranks_run_inside_the_allocation(self):
        application = world.submit("-n", "20", "--", "/bin/sh", "-c", "sleep 60")  # all that there is
        world.wait_state(application, {"running"}, 60)
        self.assertEqual(list(jobs().values()), ["RUNNING"])
        number = next(iter(jobs()))
        steps = until(lambda: cluster.client("squeue", "-h", "-s", "-j", number, "-o", "%i").split(), 10, "no step of Slurm")
        self.assertTrue(steps)
        self.assertEqual(world.zbs("cancel", application).returncode, 0)
        world.wait_state(application, {"cancelled"}, 60)

    def test_what_others_have_in_slurm_is_not_offered(self):
        other = cluster.client("sbatch", "--parsable", "-n", "8", "-t", "5", "--output=/dev/null", "--wrap", "sleep 300").strip()
        until(lambda: jobs().get(other) == "RUNNING", 30, "the other's job does not run")
        try:
            # Before the zone has looked, it asks Slurm in vain, and home plans without it.
            done = world.zbs("run", "-n", "8", *RING, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = world.show(json.loads(world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)["id"])
            self.assertNotIn("d", zones_of(shown))
        finally:
            cluster.client("scancel", other)


class Endings(Zone):
    def test_its_ranks_get_one_signal_and_have_time_to_save(self):
        notes = lambda: [[open(f"{folder}/{rank}").read().splitlines() for rank in sorted(os.listdir(folder))] for folder in folders]
        folders = [tempfile.mkdtemp(dir=world.folder) for _ in range(2)]
        for folder in folders:
            os.chmod(folder, 0o777)
        cancelled, ended = (world.submit("-n", "4", "--zones", "d", "-t", walltime, "--", "/usr/bin/python3", "-c", SAVES, folder) for walltime, folder in zip(("10m", "10s"), folders))
        until(lambda: [len(ranks) for ranks in notes()] == [4, 4], 60, lambda: f"ranks are not there: {notes()}")
        begin = time.monotonic()
        self.assertEqual(world.zbs("cancel", cancelled).returncode, 0)
        world.wait_state(cancelled, {"cancelled"}, 60)
        world.wait_state(ended, {"failed"}, 60)
        self.assertEqual(notes(), [[["up", "saved after 1"]] * 4] * 2)
        self.assertLess(time.monotonic() - begin, 30, "they have ended by themselves")

    def test_a_job_that_slurm_ends_fails_with_slurms_reason(self):
        application = world.submit("-n", "20", "--", "/bin/sh", "-c", "sleep 60")
        world.wait_state(application, {"running"}, 60)
        cluster.client("scancel", next(iter(jobs())))
        shown = world.wait_state(application, {"failed"}, 60)
        self.assertEqual(shown["reason"], "processors were taken back by zone d")
        self.assertIn("was cancelled", federation.read(world.folder + "/state/d.log"))


class Losses(Zone):
    def test_a_zone_that_is_killed_finds_its_parts_in_slurm_again(self):
        application = world.submit("-n", "20", "--", "/bin/sh", "-c", "sleep 8")
        world.wait_state(application, {"running"}, 60)
        [pid] = [pid for pid, (argv, _) in federation.processes().items() if argv[0].endswith("zbs-zone") and argv[-1].endswith("/d.toml")]
        os.kill(pid, signal.SIGKILL)  # quickstart starts it again
        shown = world.wait_state(application, {"completed", "failed"}, 90)
        self.assertEqual(shown["state"], "completed", shown)

    def test_slurm_that_does_not_answer_ends_nothing(self):
        application = world.submit("-n", "20", "--", "/bin/sh", "-c", "sleep 5")
        world.wait_state(application, {"running"}, 60)
        cluster.send("slurmctld", signal.SIGSTOP)
        try:
            time.sleep(8)  # the job ends meanwhile; this is how long Slurm is silent, not a wait for something
            self.assertIn(world.show(application)["state"], {"running", "completed"})
        finally:
            cluster.send("slurmctld", signal.SIGCONT)
        world.wait_state(application, {"completed"}, 90)


if __name__ == "__main__":
    why = slurm_cluster.missing()
    if why:
        print("skipped: " + why)
        sys.exit(slurm_cluster.SKIPPED)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
