#!/usr/bin/python3
"""MPI jobs of a zone whose machines have agents of their own: zone_jobs_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [GROUP|CLASS[.TEST]...]

One zone, two machines with two processors each, and their agents, all on this host. Ranks share memory across steps, so the agents leave
it to the host (`shared_memory`).
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, SOURCE, APPS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import Agents, Contract, marked, own, until  # noqa: E402

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
        return until(lambda: (lambda shown: shown if shown["state"] in states else None)(self.show(application)), f"{application} is not {states}", seconds, pause=0.1)  # each look is a program

    def free(self):
        nodes = json.loads(self.ask_zone("GET", "/v1/nodes", self.operator()).body)["nodes"]
        return sum(node["processors"] - node["used"] for node in nodes)

    def operator(self):
        return self.folder / "alpha/identity/operator"


class OnMachines(unittest.TestCase):
    """With a zone of its own, and the agents of its machines."""
    world_of = World
    agent_settings = "shared_memory = true"

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="zbs-node-jobs-")
        cls.world = cls.world_of(pathlib.Path(cls.temporary.name), PROGRAMS)
        cls.world.log_in()
        for machine in MACHINES:
            cls.world.add(machine, cls.agent_settings)

    @classmethod
    def tearDownClass(cls):
        cls.world.stop()
        cls.temporary.cleanup()


class JobsOnMachines(OnMachines):
    def steps(self):
        """Operations that an agent knows, by machine."""
        return {machine: self.steps_of(machine) for machine in MACHINES}

    def steps_of(self, machine):
        return [step["operation"] for step in self.world.call(machine, "GET", "/v1/steps").json["steps"]]

    def run_ring(self, ranks=4):
        done = self.world.zbs("run", "-n", str(ranks), "--", str(APPS / "ring"))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done


class ZoneJobs(JobsOnMachines):
    def test_a_job_runs_on_the_machines_of_its_agents_and_leaves_a_profile(self):
        done = self.run_ring()
        self.assertEqual(done.stdout.count("of 4"), 4, done.stdout)
        last = json.loads(self.world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)
        shown = self.world.show(last["id"])
        self.assertEqual({place["machine"] for part in shown["parts"] for place in part["assignment"]}, set(MACHINES))
        self.assertTrue(shown.get("profile"), shown)
        until(lambda: self.steps() == {machine: [] for machine in MACHINES}, "steps are left at an agent")

    def test_ranks_of_open_mpi_run_on_the_machines_of_agents_and_their_output_comes_home(self):
        program = APPS / "ring_openmpi"
        if not program.exists():
            self.skipTest("no Open MPI to compile with (package libopenmpi-dev)")
        done = self.world.zbs("run", "-n", "4", "--", str(program), "--rounds", "10", "--bytes", "50000")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(sorted(line.split()[1] for line in done.stdout.splitlines()), ["0", "1", "2", "3"], done)
        shown = self.world.show(json.loads(self.world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)["id"])
        self.assertEqual({place["machine"] for part in shown["parts"] for place in part["assignment"]}, set(MACHINES))
        until(lambda: self.steps() == {machine: [] for machine in MACHINES}, "steps are left at an agent")

    def test_an_agent_that_is_killed_finds_its_steps_again_and_the_job_goes_on(self):
        application = self.world.submit("-n", "4", "--", "/bin/sh", "-c", "sleep 6")
        self.world.wait_state(application, {"running"})
        self.world.agents["node-2"].end(signal.SIGKILL)
        self.world.start("node-2")
        shown = self.world.wait_state(application, {"completed", "failed"})
        self.assertEqual(shown["state"], "completed", shown["reason"])

    def test_a_zone_that_is_killed_finds_its_steps_again(self):
        application = self.world.submit("-n", "4", "--", "/bin/sh", "-c", "sleep 6")
        self.world.wait_state(application, {"running"})
        self.world.zone.end(signal.SIGKILL)
        self.world.start_zone()
        shown = self.world.wait_state(application, {"completed", "failed"})
        self.assertEqual(shown["state"], "completed", shown["reason"])

    def test_a_cancelled_job_leaves_nothing_anywhere(self):
        application = self.world.submit("-n", "4", "--grace", "1s", "--", "/bin/sh", "-c", "trap '' TERM; sleep 100 & sleep 100")
        self.world.wait_state(application, {"running"})
        operations = [operation for steps in self.steps().values() for operation in steps]
        self.assertEqual(len(operations), 2)
        self.assertEqual(self.world.zbs("cancel", application).returncode, 0)
        self.world.wait_state(application, {"cancelled"})
        until(lambda: not any(marked(operation) for operation in operations), "processes are left")
        until(lambda: self.steps() == {machine: [] for machine in MACHINES}, "steps are left at an agent")


class LostMachines(JobsOnMachines):
    """Waits for the most part, for what a machine is believed for; a lost one for a minute, by `scripts/soak periods`."""
    def test_a_machine_that_answers_no_more_ends_its_job_which_says_so(self):
        application = self.world.submit("-n", "4", "--walltime", "10m", "--", "/bin/sh", "-c", "sleep 500 & sleep 500")
        self.world.wait_state(application, {"running"})
        operations = [operation for steps in self.steps().values() for operation in steps]
        silent = self.world.agents["node-2"].process.pid  # as behind a cable that was pulled
        os.kill(silent, signal.SIGSTOP)
        try:
            until(lambda: self.world.show(application)["state"] == "failed", "the job of a lost machine goes on", 120, pause=1)
            reason = self.world.show(application)["reason"]
            self.assertTrue(reason.startswith("lost machine: machine node-2 has not answered"), reason)
            until(lambda: self.steps_of("node-1") == [], "what ran on the other machine is left", 30)
        finally:
            os.kill(silent, signal.SIGCONT)
        until(lambda: not any(marked(operation) for operation in operations), "it came back, and what it ran goes on", 60)
        self.run_ring()

    def test_a_machine_whose_agent_is_gone_offers_nothing(self):
        self.world.agents["node-2"].end()
        try:
            # Its lease runs out after 40 s; until then a start there fails with its name.
            until(lambda: self.world.zbs("run", "-n", "4", "--dry-run", "--", "/bin/true").returncode != 0, "the machine is still offered", 60, pause=1)
        finally:
            self.world.start("node-2")
        until(lambda: self.world.zbs("run", "-n", "4", "--dry-run", "--", "/bin/true").returncode == 0, "it is not offered again", 30)
        self.run_ring()


class ProbingWorld(World):
    def zone_text(self, name, port):
        return super().zone_text(name, port) + "\n[sensors]\nprobe_s = 0.5\n"


class LinksBetweenMachines(OnMachines):
    world_of = ProbingWorld

    def links(self):
        reply = self.world.ask_zone("GET", "/v1/links", own(self.world.cas["alpha"] / "operator"))
        Contract("zone").check("GET", "/v1/links", reply)
        return reply.json["machines"]

    def measured(self):
        links = self.links()
        return links if links["source"] == "measured" and links["pairs"] == 2 and not any(pair["failures"] for pair in links["worst"]) else None

    def test_they_are_measured_planned_with_and_shown_and_a_dead_machine_stops_nobody(self):
        links = until(self.measured, "both ways are not measured", 30)
        self.assertEqual({(pair["from"], pair["to"]) for pair in links["worst"]}, {("node-1", "node-2"), ("node-2", "node-1")})
        # What is planned with is what was measured; a round may have ended between the two calls.
        def capacity_agrees():
            answer = self.world.ask_zone("POST", "/v1/capacity", self.world.zone_identity(),
                                       {"user": "spiffe://alpha/user/ana", "processors": 1, "walltime_s": 60, "zones": []})
            self.assertEqual(answer.status, 200, answer.body)
            return answer.json["within_zone"] == self.links()["link"]
        until(capacity_agrees, "capacity reports another link")
        rows = json.loads(self.world.zbs("zone", "machine-links", "-o", "json").stdout)["machine_links"]
        self.assertEqual({row["from"] for row in rows}, set(MACHINES))
        shown = self.world.zbs("zone", "show").stdout
        self.assertRegex(shown, r"Between machines plans take .*\(measured")
        self.assertRegex(shown, r"node-1 +node-2 ")

        self.world.agents["node-2"].end(signal.SIGKILL)
        failing = until(lambda: (pairs := self.links()["worst"]) and pairs[0]["failures"] >= 1 and pairs, "nobody notices", 30)
        self.assertIn("node-2", (failing[0]["from"], failing[0]["to"]))
        self.assertEqual(self.links()["source"], "measured", "the last forecast stays")
        self.world.start("node-2")
        until(self.measured, "it is not measured again", 60)


class SharedWorld(World):
    def zone_text(self, name, port):
        return 'queue = "gang:slices=2"\n' + super().zone_text(name, port) + "\n[time_sharing]\nslice_s = 0.1\n"


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


SPIN = """import os, sys, time
name, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
os.sched_setaffinity(0, {0})  # one processor, that all want
end, noted = time.monotonic() + seconds, 0
while (now := time.monotonic()) < end:
    if now - noted < 0.2: continue
    noted = now
    note = os.path.join(folder, f"{name}-{os.getpid()}")
    with open(note + ".new", "w") as out: out.write(f"{time.process_time()} {os.getpriority(os.PRIO_PROCESS, 0)}")
    os.replace(note + ".new", note)
"""


class Spinning(OnMachines):
    """Jobs of one rank a machine, all on the same processor of the host: who gets how much of it is up to their zone."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(cls.temporary.name)
        cls.program, cls.notes = folder / "spin.py", folder / "notes"
        cls.program.write_text(SPIN)
        cls.notes.mkdir()

    def spin(self, name, *options, seconds=60, ranks=4):
        return self.world.submit("-n", str(ranks), *options, "--", "/usr/bin/python3", str(self.program), name, str(self.notes), str(seconds))

    def noted(self, name):
        """Processor time and nice level by process, once all have noted something."""
        found = {}
        for path in self.notes.glob(f"{name}-*[0-9]"):
            cpu, nice = path.read_text().split()
            found[path.name] = (float(cpu), int(nice))
        return found if len(found) == 4 else None

    def levels(self, name):
        return {nice for _, nice in (self.noted(name) or {}).values()}

    def used(self, name):
        return sum(cpu for cpu, _ in until(lambda: self.noted(name), f"{name} does not run", 60).values())

    def grown(self, names, seconds):
        """Processor seconds that each got within this time."""
        begin = {name: self.used(name) for name in names}
        time.sleep(seconds)  # what is measured
        return {name: self.used(name) - begin[name] for name in names}

    def cancel(self, *jobs):
        for job in jobs:
            self.world.zbs("cancel", job)
        for job in jobs:
            self.world.wait_state(job, {"cancelled", "completed", "failed"})
        for path in self.notes.iterdir():
            path.unlink(missing_ok=True)

    def shared_by(self):
        said = re.search(r"^Parts share processors by (.+)\.$", self.world.zbs("zone", "show").stdout, re.M)
        return said and said.group(1)


class PriorityWorld(World):
    def zone_text(self, name, port):
        return 'queue = "elmer:degree=2:threshold=1"\n' + super().zone_text(name, port)


class ByPriority(Spinning):
    world_of = PriorityWorld

    def test_the_first_goes_first_until_one_of_higher_priority_comes_and_levels_outlive_agent_and_zone(self):
        first = self.spin("first")
        until(lambda: self.levels("first") == {0}, "the first has not level 0")
        self.assertEqual(self.shared_by(), "nice levels")
        second = self.spin("second")
        until(lambda: self.levels("second") == {19}, "the second is not below")
        # The level of the ranks' sessions follows with the agent's next sample.
        until(lambda: (lambda got: got["first"] > 5 * got["second"])(self.grown(["first", "second"], 2)), "the first does not go first")
        # The agent forgets its table, the zone its life; the order stays, and a newcomer is put in its place.
        self.world.agents["node-1"].end(signal.SIGKILL)
        self.world.start("node-1")
        self.world.zone.end(signal.SIGKILL)
        self.world.start_zone()
        self.cancel_named(second)
        high = self.spin("high", "--priority", "9")
        until(lambda: self.levels("high") == {0}, "the higher priority does not go first", 60)
        until(lambda: self.levels("first") == {19}, "the first has not gone down", 60)
        self.cancel(high)
        until(lambda: self.levels("first") == {0} or self.noted("first") is None, "the first has not gone up", 60)
        self.cancel(first)

    def cancel_named(self, job):
        until(lambda: self.world.zbs("cancel", job).returncode == 0, "the zone does not answer", 60)
        self.world.wait_state(job, {"cancelled"})


class TurnsOfShares(World):
    def zone_text(self, name, port):
        return 'queue = "scojo:level=3"\n' + super().zone_text(name, port) + "\n[time_sharing]\nslice_s = 0.2\n"


class Shares(Spinning):
    """Duty cycles: the agents have no control group."""
    world_of = TurnsOfShares
    means = "turns"

    def test_two_that_spin_get_processor_time_by_their_shares_and_what_is_left_over_in_proportion(self):
        large, small = self.spin("large", "--share", "60"), self.spin("small", "--share", "20")
        until(lambda: self.noted("large") and self.noted("small"), "not both run", 60)
        until(lambda: self.shared_by() == self.means, f"parts are not shared by {self.means}", 30)
        until(lambda: self.world.show(large)["parts"][0].get("work") == "computation", "nobody says that it computes", 30)
        got = self.grown(["large", "small"], 6)
        ratio = got["large"] / got["small"]
        print(f"\nshares 60 and 20 by {self.means}: {got['large']:.2f} s and {got['small']:.2f} s of a processor in 6 s, {ratio:.2f} to 1")
        self.assertGreater(ratio, 2, got)
        self.assertLess(ratio, 6, got)  # 3 on a quiet host; other work on the machine shifts it
        over = self.world.zbs("run", "-n", "4", "--share", "30", "--dry-run", "--", "/bin/true")
        self.assertIn("expected to start in ", over.stdout, "60, 20 and 30 are more than all")
        fits = self.world.zbs("run", "-n", "4", "--share", "20", "--dry-run", "--", "/bin/true")
        self.assertEqual(fits.returncode, 0, fits.stderr)
        self.assertNotIn("expected to start in ", fits.stdout)
        self.cancel(large, small)


class WeightsOfShares(Shares):
    """Where the agents may use control groups, of version 1 as of 2."""
    means = "weights"

    @classmethod
    def setUpClass(cls):
        cls.group = pathlib.Path(f"/sys/fs/cgroup/cpu/zbs-test-{os.getpid()}")
        if os.geteuid() != 0 or not (cls.group.parent / "cpu.shares").exists():
            raise unittest.SkipTest("no control group of the processor controller (version 1) may be made here")
        cls.group.mkdir()
        cls.agent_settings = f'shared_memory = true\ncontrol_group = "{cls.group}"'
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.group.rmdir()


GROUPS = {"Jobs": (ZoneJobs,), "LostMachines": (LostMachines,), "Links": (LinksBetweenMachines,), "Turns": (TakingTurns,), "Priority": (ByPriority,), "Shares": (Shares,), "Weights": (WeightsOfShares,)}


def names(words):
    """Of the tests that the words of a command line name, where a group stands for its classes. Each class is in one."""
    grouped = {case for group in GROUPS.values() for case in group}
    for case in list(globals().values()):
        if isinstance(case, type) and issubclass(case, unittest.TestCase) and unittest.defaultTestLoader.getTestCaseNames(case):
            assert case in grouped, f"{case.__name__} is in no group of GROUPS, so nobody would run it"
    return [name for word in words for name in ([case.__name__ for case in GROUPS[word]] if word in GROUPS else [word])]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *names(sys.argv[4:])])
