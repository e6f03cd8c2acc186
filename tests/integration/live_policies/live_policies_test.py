#!/usr/bin/python3
"""Each policy by its name as the queue of a zone with node agents: live_policies_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [Sharing|OwnProcessors[.TEST]...]

One zone with two machines of two processors and their agents, all on this host, started again for each policy. Its log is decided again after each.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, SOURCE, APPS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Agents, until  # noqa: E402

MACHINES = ("node-1", "node-2")
OWN = ("fcfs", "easy", "sjbf", "conservative", "backfill:depth=4", "slack", "selective", "dynamic", "multiqueue:borrow=true", "los")
SHARED = ("gang:packing=best-fit", "gang:packing=buddy:slices=2", "adaptive-scojo:strategy=pri-b-wa-fa", "scojo", "elmer:threshold=1", "lazy-gang:patience=3s,3s,3s:undisturbed=0")


class World(Agents):
    policy = "fcfs"

    def zone_text(self, name, port):
        machines = "".join(f'\n[[machine]]\nname = "{machine}"\nprocessors = 2\nagent = true\n' for machine in MACHINES)
        return f"""
name = "{name}-one"
organisation = "{name}"
state = "{self.folder}/{name}"
listen = "127.0.0.1:{port}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
queue = "{self.policy}"
queue_log = "{self.log_of()}"
{machines}"""

    def log_of(self):
        return self.folder / f"{self.policy.split(':')[0]}.queue"

    def use(self, policy):
        assert self.zone.end() == 0, (self.folder / "alpha.log").read_text()[-3000:]
        self.policy = policy
        self.log_of().unlink(missing_ok=True)
        self.start_zone()
        until(lambda: self.zbs("zone", "show").returncode == 0, "the zone does not answer")

    def log_in(self):
        added = subprocess.run([PROGRAMS / "zbs-zone", "user", "add", "ana", "--config", self.folder / "alpha.toml"], capture_output=True, text=True, check=True)
        self.credentials = str(self.folder / "credentials")
        subprocess.run([PROGRAMS / "zbs", "--credentials", self.credentials, *added.stdout.split()[1:]], check=True, capture_output=True, timeout=30)

    def zbs(self, *arguments, timeout=90):
        return subprocess.run([PROGRAMS / "zbs", "--credentials", self.credentials, *arguments], capture_output=True, text=True, errors="replace", timeout=timeout,
                              env=dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}"))

    def submit(self, *arguments):
        done = self.zbs("submit", "--walltime", "2m", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def state(self, application):
        return json.loads(self.zbs("show", application, "-o", "json").stdout)["state"]


class OnAgents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="zbs-live-policies-")
        cls.world = World(pathlib.Path(cls.temporary.name), PROGRAMS)
        cls.world.log_in()
        for machine in MACHINES:
            cls.world.add(machine, "shared_memory = true")

    @classmethod
    def tearDownClass(cls):
        cls.world.stop()
        cls.temporary.cleanup()

    def complete(self, *jobs):
        until(lambda: all(self.world.state(job) in ("completed", "failed") for job in jobs), f"the end of {jobs}", 120, pause=0.2)
        for job in jobs:
            shown = json.loads(self.world.zbs("show", job, "-o", "json").stdout)
            self.assertEqual(shown["state"], "completed", shown)

    def decide_again(self):
        """The zone's log, by the code of the simulator."""
        done = self.world.zbs("queue", "replay", str(self.world.log_of()), "-o", "json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        replay = json.loads(done.stdout)
        self.assertTrue(replay["same"], replay)
        return replay


class OwnProcessors(OnAgents):
    def test_jobs_run_under_each_policy_and_its_decisions_are_those_of_the_simulator(self):
        for policy in OWN:
            with self.subTest(policy=policy):
                self.world.use(policy)
                self.complete(*(self.world.submit("-n", str(ranks), "--", str(APPS / "ring")) for ranks in (4, 2, 3)))
                self.assertGreaterEqual(self.decide_again()["starts"], 3)


class Sharing(OnAgents):
    def test_jobs_as_wide_as_the_zone_run_beside_each_other(self):
        """Each of the two waits for the other, so with processors of their own neither would end."""
        for policy in SHARED:
            with self.subTest(policy=policy):
                self.world.use(policy)
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.world.folder))

                def meeting(mine, other):
                    return self.world.submit("-n", "4", "--", "/bin/sh", "-c", f"touch {folder}/{mine}; until [ -e {folder}/{other} ]; do sleep 0.05; done")

                jobs = [meeting("first", "second"), meeting("second", "first")]
                jobs.append(self.world.submit("-n", "4", "--", str(APPS / "ring")))
                self.complete(*jobs)
                self.assertGreaterEqual(self.decide_again()["starts"], 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
