#!/usr/bin/python3
"""Policies as the queue of a zone with node agents: live_policies_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER JOBS POLICY...

One zone with two machines of two processors and their agents, all on this host, started again for each policy. Three jobs where JOBS is 0; else so
many random ones, which are submitted faster than they can run. Then the log of the queue is decided again by the code of the simulator.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, SOURCE, APPS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
JOBS, POLICIES = int(sys.argv[4]), sys.argv[5:]
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Agents, until  # noqa: E402

MACHINES = ("node-1", "node-2")
SHARING = ("gang", "lazy-gang", "scojo", "adaptive-scojo", "elmer")


class World(Agents):
    policy = POLICIES[0]

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
        return self.folder / f"{POLICIES.index(self.policy)}.queue"

    def use(self, policy):
        if policy == self.policy:
            return
        assert self.zone.end() == 0, (self.folder / "alpha.log").read_text()[-3000:]
        self.policy = policy
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

    def ended(self):
        """How each job that has ended did so."""
        done = self.zbs("list", "--limit", "1000", "-o", "json")
        assert done.returncode == 0, done.stderr
        return {row["id"]: row for row in json.loads(done.stdout)["applications"] if row["state"] in ("completed", "failed", "cancelled")}


class LivePolicy(unittest.TestCase):
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

    def complete(self, jobs, seconds):
        until(lambda: self.world.ended().keys() >= set(jobs), f"the end of {len(jobs)} jobs", seconds, pause=0.2)
        ended = self.world.ended()
        self.assertEqual({job: ended[job] for job in jobs if ended[job]["state"] != "completed"}, {})

    def decide_again(self, starts):
        done = self.world.zbs("queue", "replay", str(self.world.log_of()), "-o", "json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        replay = json.loads(done.stdout)
        self.assertTrue(replay["same"], replay)
        self.assertGreaterEqual(replay["starts"], starts)
        return replay

    def meeting(self, folder, mine, other):
        """A job that ends when `other` has started, too."""
        return self.world.submit("-n", "4", "--", "/bin/sh", "-c", f"touch {folder}/{mine}; until [ -e {folder}/{other} ]; do sleep 0.05; done")

    def test_jobs_run_and_the_decisions_are_those_of_the_simulator(self):
        for policy in POLICIES:
            with self.subTest(policy=policy):
                self.world.use(policy)
                self.run_jobs(policy)

    def run_jobs(self, policy):
        if JOBS:
            rng = random.Random(JOBS)
            jobs = [self.world.submit("-n", str(rng.choice((1, 1, 2, 2, 3, 4))), "--", *rng.choice((("/bin/sleep", f"{rng.uniform(0, 1):.2f}"), (str(APPS / "ring"),))))
                    for _ in range(JOBS)]
        elif policy.split(":")[0] in SHARING:
            # Each of the two is as wide as the zone and waits for the other, so with processors of their own neither would end.
            folder = tempfile.mkdtemp(dir=self.world.folder)
            jobs = [self.meeting(folder, "first", "second"), self.meeting(folder, "second", "first"), self.world.submit("-n", "4", "--", str(APPS / "ring"))]
        else:
            jobs = [self.world.submit("-n", str(ranks), "--", str(APPS / "ring")) for ranks in (4, 2, 3)]
        self.complete(jobs, 120 + 5 * JOBS)
        replay = self.decide_again(len(jobs))
        print(f"{policy}: {len(jobs)} jobs completed, {replay['decisions']} decisions are the same", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
