#!/usr/bin/python3
"""Two partitions of a zone with policies of their own: partitions_test.py PROGRAMS_FOLDER SOURCE_DIR.

`debug` has fcfs, `batch` gang scheduling; each is one machine of two processors with its agent, on this host. Jobs run in both at once. Then the file
is edited and read again.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Agents, until  # noqa: E402

MACHINES = {"node-1": "debug", "node-2": "batch"}


class World(Agents):
    debug, batch = "fcfs", "gang:slices=2"

    def zone_text(self, name, port):
        machines = "".join(f'[[machine]]\nname = "{machine}"\nprocessors = 2\nagent = true\npartition = "{partition}"\n' for machine, partition in MACHINES.items())
        return f"""
name = "{name}-one"
organisation = "{name}"
state = "{self.folder}/{name}"
listen = "127.0.0.1:{port}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
queue_log = "{self.folder}/{name}.queue"
{machines}
[[partition]]
name = "debug"
queue = "{self.debug}"
[[partition]]
name = "batch"
queue = "{self.batch}"
slice_s = 0.1
"""

    def log_in(self):
        added = subprocess.run([PROGRAMS / "zbs-zone", "user", "add", "ana", "--config", self.folder / "alpha.toml"], capture_output=True, text=True, check=True)
        self.credentials = str(self.folder / "credentials")
        subprocess.run([PROGRAMS / "zbs", "--credentials", self.credentials, *added.stdout.split()[1:]], check=True, capture_output=True, timeout=30)

    def zbs(self, *arguments):
        done = subprocess.run([PROGRAMS / "zbs", "--credentials", self.credentials, *arguments], capture_output=True, text=True, timeout=90,
                              env=dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}"))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def submit(self, script, *options):
        return self.zbs("submit", "--walltime", "2m", "-n", "2", *options, "--", "/bin/sh", "-c", script).strip()

    def job_state(self, job):
        return json.loads(self.zbs("show", job, "-o", "json"))["state"]

    def parts(self):
        """Partition and state of the part of each job that is in a queue or has processors."""
        return {row["application"]: (row["partition"], "waits" if "queue" in row else row["state"])
                for row in self.ask_zone("GET", "/v1/queue", self.issue("alpha", "operator", "olga")).json["parts"]}

    def edit(self, word, **policies):
        """Lines of the zone's log from the reload on, up to the first with `word`."""
        log = self.folder / "alpha.log"
        before = log.stat().st_size
        for partition, policy in policies.items():
            setattr(self, partition, policy)
        (self.folder / "alpha.toml").write_text(self.zone_text("alpha", self.zone.port))
        self.zone.process.send_signal(signal.SIGHUP)

        def lines():
            with open(log, encoding="utf-8") as file:
                file.seek(before)
                text = file.read()
            return text if word in text else None
        return until(lines, f"'{word}' in the zone's log")

    def events(self, partition):
        return [json.loads(line) for line in (self.folder / f"alpha.queue.{partition}").read_text().splitlines()]


class Partitions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="zbs-partitions-")
        cls.world = World(pathlib.Path(cls.temporary.name), PROGRAMS)
        cls.world.log_in()
        for machine in MACHINES:
            cls.world.add(machine, "shared_memory = true")

    @classmethod
    def tearDownClass(cls):
        cls.world.stop()
        cls.temporary.cleanup()

    def reach(self, jobs, what):
        until(lambda: {job: self.world.parts().get(job) for job in jobs} == what, f"{what}, last seen {self.world.parts()}", pause=0.2)

    def test_each_partition_has_its_policy_and_a_reload_changes_one(self):
        world, folder = self.world, self.world.folder
        wait_for = "touch {0}/{1}; until [ -e {0}/{2} ]; do sleep 0.05; done".format
        named = world.submit(wait_for(folder, "named", "named-end"), "--partition", "batch")
        self.reach([named], {named: ("batch", "running")})  # though debug, which comes first, is free
        self.assertIn("partition  batch\n", world.zbs("show", named))
        (folder / "named-end").touch()
        until(lambda: world.job_state(named) == "completed", "a job in the partition that it names")
        alone = world.submit(wait_for(folder, "alone", "end"))
        self.reach([alone], {alone: ("debug", "running")})
        # Each waits for the other to start, on the same two processors.
        jobs = [world.submit(wait_for(folder, "first", "second")), world.submit(wait_for(folder, "second", "first"))]
        until(lambda: all(world.job_state(job) == "completed" for job in jobs), "two jobs that take turns in batch", pause=0.2)
        stay = [world.submit(wait_for(folder, name, "end")) for name in ("third", "fourth")]
        self.reach(stay, dict.fromkeys(stay, ("batch", "running")))
        behind = world.submit("true")
        self.reach([alone, behind], {alone: ("debug", "running"), behind: ("debug", "waits")})

        before = len(world.events("batch"))
        self.assertNotIn("[[partition]]", world.edit("rules_reloaded", debug="easy"))
        self.assertEqual([event["policy"] for event in world.events("debug") if event["event"] == "discipline"], ["fcfs", "easy"])
        self.assertNotIn("discipline", [event["event"] for event in world.events("batch")[before:]])
        self.reach([alone, behind], {alone: ("debug", "running"), behind: ("debug", "waits")})
        lines = world.edit("rules_reloaded", debug="gang:slices=2")
        self.assertIn("[[partition]] debug", lines)
        self.assertIn("restart it with the new queue", lines)
        lines = world.edit("rules_not_reloaded", debug="fastest")
        self.assertIn("[[partition]] 'debug'", lines)
        world.edit("rules_reloaded", debug="easy")

        (folder / "end").touch()
        ended = [alone, behind, *stay]
        until(lambda: all(world.job_state(job) == "completed" for job in ended), "the end of all jobs", pause=0.2)
        for partition in MACHINES.values():
            replay = json.loads(world.zbs("queue", "replay", str(folder / f"alpha.queue.{partition}"), "-o", "json"))
            self.assertTrue(replay["same"], replay)
            self.assertGreaterEqual(replay["starts"], 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
