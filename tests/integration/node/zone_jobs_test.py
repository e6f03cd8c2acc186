#!/usr/bin/python3
"""MPI jobs of a zone whose machines have agents of their own: zone_jobs_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [CLASS[.TEST]...]

One zone, two machines with two processors each, and their agents, all on this host. Ranks share memory across steps, so the agents leave
it to the host (`shared_memory`).
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, SOURCE, APPS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Agents, marked, until  # noqa: E402

MACHINES = ("node-1", "node-2")


class World(Agents):
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
{machines}"""

    def log_in(self):
        added = subprocess.run([PROGRAMS / "zbs-zone", "user", "add", "ana", "--config", self.folder / "alpha.toml"], capture_output=True, text=True, check=True)
        self.credentials = str(self.folder / "credentials")
        subprocess.run([PROGRAMS / "zbs", "--credentials", self.credentials, *added.stdout.split()[1:]], check=True, capture_output=True, timeout=30)

    def zbs(self, *arguments, timeout=90):
        return subprocess.run([PROGRAMS / "zbs", "--credentials", self.credentials, *arguments], capture_output=True, text=True, errors="replace", timeout=timeout,
                              env=dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}"))

    def show(self, application):
        return json.loads(self.zbs("show", application, "-o", "json").stdout)

    def submit(self, *arguments):
        done = self.zbs("submit", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def wait_state(self, application, states, seconds=60):
        return until(lambda: (lambda shown: shown if shown["state"] in states else None)(self.show(application)), f"{application} is not {states}", seconds)

    def free(self):
        nodes = json.loads(self.ask_zone("GET", "/v1/nodes", self.operator()).body)["nodes"]
        return sum(node["processors"] - node["used"] for node in nodes)

    def operator(self):
        return self.folder / "alpha/identity/operator"


class OnMachines(unittest.TestCase):
    """With a zone of its own, and the agents of its machines."""
    world_of = World

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="zbs-node-jobs-")
        cls.world = cls.world_of(pathlib.Path(cls.temporary.name), PROGRAMS, SOURCE)
        cls.world.log_in()
        for machine in MACHINES:
            cls.world.add(machine, "shared_memory = true")

    @classmethod
    def tearDownClass(cls):
        cls.world.stop()
        cls.temporary.cleanup()


class ZoneJobs(OnMachines):
    def steps(self):
        """Operations that an agent knows, by machine."""
        return {machine: [step["operation"] for step in self.world.call(machine, "GET", "/v1/steps").json["steps"]] for machine in MACHINES}

    def run_ring(self, ranks=4):
        done = self.world.zbs("run", "-n", str(ranks), "--", str(APPS / "ring"))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done

    def test_a_job_runs_on_the_machines_of_its_agents_and_leaves_a_profile(self):
        done = self.run_ring()
        self.assertEqual(done.stdout.count("of 4"), 4, done.stdout)
        last = json.loads(self.world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)
        shown = self.world.show(last["id"])
        self.assertEqual({place["machine"] for part in shown["parts"] for place in part["assignment"]}, set(MACHINES))
        self.assertTrue(shown.get("profile"), shown)
        until(lambda: self.steps() == {machine: [] for machine in MACHINES}, "steps are left at an agent")

    def test_an_agent_that_is_killed_finds_its_steps_again_and_the_job_goes_on(self):
        application = self.world.submit("-n", "4", "--", "/bin/sh", "-c", "sleep 6")
        self.world.wait_state(application, {"running"})
        self.world.agents["node-2"].end(signal.SIGKILL)
        self.world.start("node-2")
        self.assertEqual(self.world.wait_state(application, {"completed", "failed"})["state"], "completed")

    def test_a_zone_that_is_killed_finds_its_steps_again(self):
        application = self.world.submit("-n", "4", "--", "/bin/sh", "-c", "sleep 6")
        self.world.wait_state(application, {"running"})
        self.world.zone.end(signal.SIGKILL)
        self.world.start_zone()
        self.assertEqual(self.world.wait_state(application, {"completed", "failed"})["state"], "completed")

    def test_a_cancelled_job_leaves_nothing_anywhere(self):
        application = self.world.submit("-n", "4", "--", "/bin/sh", "-c", "trap '' TERM; sleep 100 & sleep 100")
        self.world.wait_state(application, {"running"})
        operations = [operation for steps in self.steps().values() for operation in steps]
        self.assertEqual(len(operations), 2)
        self.assertEqual(self.world.zbs("cancel", application).returncode, 0)
        self.world.wait_state(application, {"cancelled"})
        until(lambda: not any(marked(operation) for operation in operations), "processes are left")
        until(lambda: self.steps() == {machine: [] for machine in MACHINES}, "steps are left at an agent")

    def test_a_machine_whose_agent_is_gone_offers_nothing(self):
        self.world.agents["node-2"].end()
        try:
            # Its lease runs out after 40 s; until then a start there fails with its name.
            until(lambda: self.world.zbs("run", "-n", "4", "--dry-run", "--", "/bin/true").returncode != 0, "the machine is still offered", 60)
        finally:
            self.world.start("node-2")
        until(lambda: self.world.zbs("run", "-n", "4", "--dry-run", "--", "/bin/true").returncode == 0, "it is not offered again", 30)
        self.run_ring()


class SharedWorld(World):
    def zone_text(self, name, port):
        return super().zone_text(name, port) + '\n[time_sharing]\nmode = "gang"\nslots = 2\nslice_s = 0.1\n'


class TakingTurns(OnMachines):
    """Two jobs, each on all processors of both machines."""
    world_of = SharedWorld

    def node(self, machine):
        return self.world.call(machine, "GET", "/v1/node").json

    def test_two_jobs_take_turns_on_the_same_processors_and_both_end(self):
        before = {machine: self.node(machine)["switches"]["late"]["count"] for machine in MACHINES}
        # Each rank notes when it had a processor for a while: a gap of half a slice is a turn of the others.
        note = ("import os,sys,time\nend=time.time()+6\nlast=time.time();begin=last\nout=[]\n"
                "while time.time()<end:\n now=time.time()\n if now-last>0.05: out.append((begin,last)); begin=now\n last=now\n"
                "out.append((begin,last))\nopen(os.path.join(sys.argv[1],f'{sys.argv[2]}-{os.getpid()}'),'w').write(repr(out))\n")
        program = pathlib.Path(self.temporary.name) / "note.py"
        program.write_text(note)
        results = pathlib.Path(self.temporary.name) / "times"
        results.mkdir()
        jobs = [self.world.submit("-n", "4", "--", "/usr/bin/python3", str(program), str(results), name) for name in ("one", "two")]
        for job in jobs:
            self.assertEqual(self.world.wait_state(job, {"completed", "failed"}, 90)["state"], "completed")
        for machine in MACHINES:
            self.assertGreater(self.node(machine)["switches"]["late"]["count"], before[machine] + 10)
        times = {name: [eval(path.read_text()) for path in results.glob(f"{name}-*")] for name in ("one", "two")}  # written by the program above
        self.assertEqual([len(times[name]) for name in ("one", "two")], [4, 4])
        until(lambda: self.node("node-1")["slices"] > 0 and not self.world.call("node-1", "GET", "/v1/steps").json["steps"], "steps are left")
        # While both ran under a column in force, no rank of one had a processor when a rank of the other had one, but for the switches.
        begin = max(min(turns[0][0] for turns in times[name]) for name in times) + 1
        end = min(max(turns[-1][1] for turns in times[name]) for name in times) - 0.5
        together = total = 0
        for one in times["one"]:
            for a, b in one:
                total += max(0, min(b, end) - max(a, begin))
                for two in times["two"]:
                    for c, d in two:
                        together += max(0, min(b, d, end) - max(a, c, begin)) / len(times["two"])
        self.assertGreater(total, 0)
        self.assertLess(together / total, 0.35, f"{together:.2f} of {total:.2f} s of one job's turns were in turns of the other")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
