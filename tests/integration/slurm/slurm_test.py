#!/usr/bin/python3
"""The adapter of Slurm against a real Slurm on this machine: slurm_test.py PROGRAMS_FOLDER SOURCE_DIR GROUP [TEST...]

Jobs belong to `nobody`, for a service that is root; one class has a service that is `nobody` itself. What the adapter says is
held against Slurm's own commands and against the processes of this machine.
"""
import concurrent.futures
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

PROGRAMS, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, SOURCE + "/tests/support")
import slurm_cluster

USER = "nobody"
WAIT_S = slurm_cluster.WAIT_S
MARK = f"zbs-mark-{os.getpid()}"  # what long-running programs of jobs call themselves


def until(condition, what):
    """The first true answer."""
    deadline = time.monotonic() + WAIT_S
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError("in vain: " + what)
        time.sleep(0.05)


def processes(mark):
    """Those alive that call themselves so."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/stat") as stat:
                if line.read().startswith(mark.encode()) and stat.read().rsplit(")", 1)[1].split()[0] not in "ZX":
                    found.append(int(pid))
        except OSError:
            pass
    return found


class Driver:
    """The adapter in a process of its own, as a zone would have it."""

    def __init__(self, world, *options, user=None):
        self.answers = queue.Queue()
        before = ["setpriv", "--reuid=" + user, "--regid=nogroup", "--clear-groups", "--inh-caps=-all"] if user else []
        self.process = subprocess.Popen(
            [*before, world.bin + "/slurm_driver", "--steps", f"{world.folder}/steps-{user or 'root'}", "--supervisor", world.bin + "/zbs-step", "--configuration",
             world.cluster.folder + "/slurm.conf", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PATH": "/usr/bin:/bin"}, cwd="/")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.greeting = self._answer()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def _answer(self):
        line = self.answers.get(timeout=2 * WAIT_S)
        if line is None:
            raise RuntimeError(f"the driver ended with {self.process.wait(10)}")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    # Questions about an operation of USER.
    def hold(self, operation, **fields):
        fields = {"user": USER, "processors": 2, "walltime": 300, "wait": 30, **fields}
        return self.ask("hold", operation, *(f"{name}={value}" for name, value in fields.items()))

    def look(self, operation):
        return self.ask("look", operation, USER)

    def keep(self, operation):
        return self.ask("keep", operation, USER)

    def release(self, operation, manner="at_once"):
        return self.ask("release", operation, USER, manner)

    def start(self, step, operation, places, *program, walltime=0, environment=""):
        return self.ask("start", step, operation, USER, ",".join(places), walltime, environment, "--", *program)

    def step(self, step, operation):
        return self.ask("step", step, operation, USER)

    def wait_for(self, step, operation):
        def exited():
            answer = self.step(step, operation)
            return answer if answer.get("exited") else None
        return until(exited, f"the end of step {step}")


class World(unittest.TestCase):
    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="zbs-slurm-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        os.chmod(cls.folder, 0o755)
        cls.bin = cls.folder + "/bin"
        os.mkdir(cls.bin)
        for program in ("slurm_driver", "zbs-step"):
            shutil.copy(f"{PROGRAMS}/{program}", cls.bin)
        for user in ("root", USER):
            os.mkdir(f"{cls.folder}/steps-{user}", 0o711)
            shutil.chown(f"{cls.folder}/steps-{user}", user)
        cls.nodes = [f"z{os.getpid()}n{i}" for i in range(1, 5)]
        cls.cluster = slurm_cluster.SlurmCluster(
            cls.nodes, 4, {"main": "Nodes=ALL Default=YES MaxTime=60", "short": f"Nodes={cls.nodes[0]},{cls.nodes[1]} MaxTime=2 MaxNodes=1"}, cls.settings, cgroups=True)
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        # Operations of its own: Slurm remembers those that have ended.
        self.a, self.b, self.c, self.d, self.e, self.none = (f"{uuid.uuid4()}" for _ in range(6))
        self.driver = self.make_driver()
        self.assertEqual(self.driver.greeting, "ready")

    def make_driver(self, *options, user=None):
        driver = Driver(self, *options, user=user)
        self.addCleanup(driver.kill)
        return driver

    def tearDown(self):
        """Every test begins with an idle cluster."""
        self.cluster.client("scancel", "--signal=KILL", "--full", "--user=" + USER, check=False)
        self.cluster.client("scancel", "--user=" + USER, check=False)
        until(lambda: not self.cluster.client("squeue", "-h"), "an empty queue")
        shutil.rmtree(self.folder + "/steps-root")
        os.mkdir(self.folder + "/steps-root", 0o711)

    def held(self, operation, **fields):
        answer = self.driver.hold(operation, **fields)
        self.assertEqual(answer.get("strength"), "placeholder", answer)
        return answer

    def jobs(self, operation):
        """Numbers of its jobs that have not ended, as squeue lists them."""
        return self.cluster.client("squeue", "-h", "--name=zbs-" + operation, "-o", "%A").split()

    def expect_error(self, answer, word, *texts):
        self.assertEqual(answer.get("error") if isinstance(answer, dict) else answer, word, answer)
        for text in texts:
            self.assertIn(text, answer["message"])


class Holds(World):
    def test_site_is_the_one_of_the_configuration(self):
        site = self.driver.ask("site")
        self.assertEqual((site["cluster"], site["kill_wait_s"]), ("zbs", slurm_cluster.KILL_WAIT_S))
        self.assertEqual(site["nodes"], [{"name": node, "processors": 4, "fault": ""} for node in self.nodes])
        self.assertEqual(site["partitions"], [
            {"name": "main", "default": True, "fault": "", "max_walltime_s": 3600, "max_nodes": None, "nodes": self.nodes},
            {"name": "short", "default": False, "fault": "", "max_walltime_s": 120, "max_nodes": 1, "nodes": self.nodes[:2]}])

    def test_hold_has_processors_of_its_own_and_says_which(self):
        first = self.held(self.a, processors=6, nodes=2)
        second = self.held(self.b, shares=f"{self.nodes[3]}:1,{self.nodes[2]}:3")
        self.assertEqual(sum(first["nodes"].values()), 6)
        self.assertEqual(len(first["nodes"]), 2)
        self.assertEqual(second["nodes"], {self.nodes[2]: 3, self.nodes[3]: 1})
        self.assertEqual(set(first["nodes"]) & set(second["nodes"]), set())
        self.assertEqual((first["user"], first["partition"]), (USER, "main"))
        self.assertEqual(first["end"] - first["start"], 300)

    def test_operation_starts_nothing_twice_and_is_found_by_another_process(self):
        first = self.held(self.a)
        self.assertEqual(self.driver.hold(self.a)["job"], first["job"])
        self.driver.kill()
        again = self.make_driver()
        self.assertEqual(again.look(self.a), first)
        self.assertEqual(again.hold(self.a)["job"], first["job"])
        self.assertEqual(self.jobs(self.a), [str(first["job"])])

    def test_lost_answer_of_a_submission_is_looked_for(self):
        folder = self.commands(sbatch="/usr/bin/sbatch \"$@\"\necho 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2\nexit 1")
        answer = self.make_driver("--folder", folder).hold(self.a)
        self.assertEqual(answer.get("strength"), "placeholder", answer)
        self.assertEqual(self.jobs(self.a), [str(answer["job"])])

    def test_submission_that_arrives_after_it_was_given_up_is_found_by_the_next_try(self):
        controller = self.cluster.started["slurmctld"].pid
        folder = self.commands(sbatch=f"kill -STOP {controller}\nexec /usr/bin/sbatch \"$@\"")
        hasty = self.make_driver("--folder", folder, "--deadline-ms", "2000")
        self.expect_error(hasty.hold(self.a), "timeout", "ask for the operation")
        self.cluster.send("slurmctld", signal.SIGCONT)
        (late,) = until(lambda: self.jobs(self.a), "the late job")
        self.assertEqual(str(self.driver.hold(self.a)["job"]), late)
        self.assertEqual(self.jobs(self.a), [late])

    def test_second_job_of_a_lost_answer_is_taken_back(self):
        first = self.held(self.a)
        self.cluster.client("sbatch", "--uid=" + USER, "--gid=nogroup", "--chdir=/", "--job-name=zbs-" + self.a, "--dependency=singleton", "--output=/dev/null", "--wrap", "sleep 600")
        self.assertEqual(len(self.jobs(self.a)), 2)
        self.assertEqual(self.driver.hold(self.a)["job"], first["job"])
        self.assertEqual(self.jobs(self.a), [str(first["job"])])

    def commands(self, **scripts):
        """Slurm's commands with some of them replaced."""
        folder = tempfile.mkdtemp(dir=self.folder)
        for program in ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun"):
            if program in scripts:
                with open(f"{folder}/{program}", "w") as file:
                    file.write("#!/bin/sh\n" + scripts[program] + "\n")
                os.chmod(f"{folder}/{program}", 0o755)
            else:
                os.symlink(slurm_cluster.find(program), f"{folder}/{program}")
        return folder

    def test_what_is_released_is_free_for_others(self):
        self.held(self.a, processors=16)
        waiting = self.driver.hold(self.b, processors=16, wait=0)
        self.assertEqual((waiting["strength"], waiting["phase"]), ("queued", "waiting"))
        self.assertIs(self.driver.release(self.a, "gently"), True)
        until(lambda: self.driver.look(self.b)["strength"] == "placeholder", "the one that waited")
        self.assertEqual(self.driver.look(self.a)["state"], "CANCELLED")
        self.assertIs(self.driver.release(self.a), False)
        self.assertIs(self.driver.release(self.none), False)

    def test_what_slurm_would_never_run_is_rejected_and_leaves_nothing(self):
        self.expect_error(self.driver.hold(self.a, partition="short", walltime=600), "rejected", "(Partition", "short")
        self.expect_error(self.driver.hold(self.b, partition="short", processors=5), "rejected", "short")
        self.expect_error(self.driver.hold(self.c, processors=99), "rejected")
        self.expect_error(self.driver.hold(self.d, partition="none"), "invalid_argument", "sinfo")
        self.expect_error(self.driver.hold(self.e, shares="no-such-node:1"), "invalid_argument", "sinfo --Node")
        self.assertEqual(self.cluster.client("squeue", "-h"), "")

    def test_job_of_another_user_under_the_same_name_is_not_believed(self):
        self.cluster.client("sbatch", "--uid=games", "--job-name=zbs-" + self.a, "--output=/dev/null", "--wrap", "sleep 60")
        try:
            self.assertIsNone(self.driver.look(self.a))
            self.assertIs(self.driver.release(self.a), False)
            self.assertEqual(len(self.jobs(self.a)), 1)
            self.assertEqual(self.held(self.a)["user"], USER)
        finally:
            self.cluster.client("scancel", "--user=games")


class Reservations(World):
    """Holds that begin later or end by themselves."""

    def test_hold_expires_by_itself_unless_it_was_kept(self):
        self.held(self.a, expiry=3, walltime=240)
        kept = self.held(self.b, expiry=3, walltime=180)
        self.assertFalse(kept["kept"])
        self.assertEqual(self.driver.keep(self.b), {})
        self.driver.kill()  # nobody is needed for it
        until(lambda: not self.jobs(self.a), "the end of the hold that nobody kept")
        until(lambda: processes(f"sleep\0{180 + 3600}"), "the kept one to be past its expiry")
        again = self.make_driver()
        self.assertTrue(again.look(self.b)["kept"])
        self.assertEqual(again.look(self.b)["phase"], "running")
        self.assertEqual(again.look(self.a)["phase"], "ended")
        self.expect_error(again.keep(self.a), "conflict", "hold anew")
        self.expect_error(again.hold(self.a), "conflict", "new operation")
        self.expect_error(again.keep(self.none), "not_found")

    def test_hold_for_later_is_a_reservation_and_becomes_processors(self):
        start = int(time.time()) + 12
        answer = self.driver.hold(self.a, processors=8, nodes=2, start=start, wait=0)
        self.assertEqual((answer.get("strength"), answer.get("phase")), ("reservation", "waiting"), answer)
        self.assertIn(f"Users={USER}", self.cluster.client("scontrol", "show", "reservation", "zbs-" + self.a))
        self.assertEqual(self.driver.hold(self.a, processors=8, nodes=2, start=start, wait=0)["job"], answer["job"])
        running = until(lambda: [t for t in [self.driver.look(self.a)] if t["phase"] == "running"], "its start")[0]
        self.assertEqual(running["strength"], "placeholder")
        self.assertGreaterEqual(running["start"], start)
        until(lambda: self.driver.release(self.a) in (True, False) and ("zbs-" + self.a) not in self.cluster.client("scontrol", "show", "reservation"),
              "neither job nor reservation")

    def test_released_hold_for_later_takes_its_reservation_along(self):
        self.driver.hold(self.a, start=int(time.time()) + 3600, wait=0)
        self.assertIs(self.driver.release(self.a), True)
        self.assertNotIn("zbs-" + self.a, self.cluster.client("scontrol", "show", "reservation"))

    def test_service_that_is_no_operator_says_that_it_only_waits(self):
        own = self.make_driver(user=USER)
        answer = own.hold(self.a, start=int(time.time()) + 3600, wait=0)
        self.assertEqual((answer.get("strength"), answer.get("reason")), ("queued", "BeginTime"), answer)
        self.assertEqual(own.hold(self.b, expiry=60)["strength"], "placeholder")
        self.assertEqual(own.keep(self.b), {})
        self.expect_error(own.hold(self.c, user="games"), "denied", "as root")
        self.assertIs(own.release(self.b), True)


class StepsOfHolds(World):
    def run_program(self, operation, nodes, *program, **options):
        self.assertEqual(self.driver.start("step", operation, nodes, *program, **options), {})
        answer = self.driver.wait_for("step", operation)
        return answer, self.read("step", ".zbs-stdout"), self.read("step", ".zbs-stderr")

    def read(self, step, name):
        return self.driver.ask("read", step, name)

    # Without the mark of local steps: on a real cluster their supervisor does not see what runs on the nodes.
    ELSEWHERE = ["/usr/bin/env", "-u", "ZBS_STEP_step"]
    STUBBORN = [*ELSEWHERE, "/bin/bash", "-c", "trap '' TERM INT HUP; (exec -a %s-child sleep 600) & (exec -a %s-self sleep 600); wait" % (MARK, MARK)]

    def start_stubborn(self):
        nodes = list(self.held(self.a, processors=2, nodes=2)["nodes"])
        self.assertEqual(self.driver.start("step", self.a, nodes, *self.STUBBORN), {})
        until(lambda: len(processes(MARK + "-child")) == 2 and len(processes(MARK + "-self")) == 2, "the tree on both nodes")


class Steps(StepsOfHolds):
    def test_program_runs_on_two_nodes_as_its_user_and_output_comes_here(self):
        one, two = self.held(self.a, shares=f"{self.nodes[0]}:1,{self.nodes[1]}:3")["nodes"]
        places = [two, one, two, two]
        answer, out, error = self.run_program(self.a, places, "/bin/sh", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME $(id -un) $A-$LD_X $(pwd); echo to error >&2",
                                            environment="A=x y;LD_X=z")
        self.assertEqual((answer["exit_code"], answer["reason"]), (0, ""), error)
        self.assertEqual(sorted(out.splitlines()), [f"{rank} {node} {USER} x y-z /tmp" for rank, node in enumerate(places)])
        self.assertEqual(error.count("to error\n"), 4)

    def test_exit_code_is_the_highest_and_the_others_go_on(self):
        nodes = list(self.held(self.a, processors=2, nodes=2)["nodes"])
        answer, out, _ = self.run_program(self.a, nodes, "/bin/sh", "-c", "test $SLURM_PROCID = 0 || exit 7; sleep 2; echo went on")
        self.assertEqual((answer["exit_code"], out), (7, "went on\n"))

    def test_program_that_is_not_there_is_told_by_name(self):
        nodes = list(self.held(self.a)["nodes"])
        answer, _, error = self.run_program(self.a, nodes, "/no/such/program")
        self.assertNotEqual(answer["exit_code"], 0)
        self.assertIn("/no/such/program: No such file", error)

    def test_steps_run_beside_each_other(self):
        nodes = list(self.held(self.a, processors=1)["nodes"])
        self.assertEqual(self.driver.start("first", self.a, nodes, "/bin/sleep", "600"), {})
        answer, out, _ = self.run_program(self.a, nodes, "/bin/echo", "second")
        self.assertEqual((answer["exit_code"], out), (0, "second\n"))
        self.assertFalse(self.driver.step("first", self.a)["exited"])

    def test_nothing_starts_where_nothing_is_held(self):
        self.held(self.a, processors=16)
        self.driver.hold(self.b, wait=0)
        self.expect_error(self.driver.start("step", self.b, [self.nodes[0]], "/bin/true"), "conflict", "PENDING")
        self.expect_error(self.driver.start("step", self.a, ["elsewhere"], "/bin/true"), "invalid_argument", "elsewhere")
        self.expect_error(self.driver.start("step", self.a, [self.nodes[0]] * 17, "/bin/true"), "invalid_argument", "16 processors")

    def test_step_outlives_its_service_and_is_found_again(self):
        nodes = list(self.held(self.a)["nodes"])
        flag = self.folder + "/go"
        self.assertEqual(self.driver.start("step", self.a, nodes, "/bin/sh", "-c", f"echo begun; until test -e {flag}; do sleep 0.1; done; echo done; exit 5"), {})
        until(lambda: self.read("step", ".zbs-stdout") == "begun\n", "its begin")
        self.driver.kill()
        open(flag, "w").close()
        self.driver = self.make_driver()
        self.assertEqual(self.driver.wait_for("step", self.a)["exit_code"], 5)
        self.assertEqual(self.read("step", ".zbs-stdout"), "begun\ndone\n")


class Stops(StepsOfHolds):
    def test_stopped_step_leaves_nothing_of_a_tree_that_ignores_sigterm(self):
        self.start_stubborn()
        self.driver.ask("stop", "step", 1000 * (slurm_cluster.KILL_WAIT_S + 8))
        self.assertNotEqual(self.driver.wait_for("step", self.a)["exit_code"], 0)
        until(lambda: not processes(MARK), "an end of the tree")
        self.assertEqual(self.driver.look(self.a)["phase"], "running")  # the processors are ours still

    def test_stop_gives_each_task_one_signal_and_time_to_save(self):
        notes = tempfile.mkdtemp(dir=self.folder)
        os.chmod(notes, 0o777)
        nodes = list(self.held(self.a, processors=2, nodes=2)["nodes"])
        saves = (f"f={notes}/$SLURM_PROCID; trap 'echo TERM >> $f' TERM; echo up >> $f; until grep -q TERM $f; do sleep 0.05; done; "
                 "sleep $((1 + 2 * SLURM_PROCID)); echo saved >> $f")
        self.assertEqual(self.driver.start("step", self.a, nodes, *self.ELSEWHERE, "/bin/bash", "-c", saves), {})
        read = lambda: [open(f"{notes}/{task}").read().split() for task in sorted(os.listdir(notes))]
        until(lambda: read() == [["up"], ["up"]], "both tasks")
        begin = time.monotonic()
        self.driver.ask("stop", "step", 60000)
        self.assertEqual(self.driver.wait_for("step", self.a)["exit_code"], 0)
        self.assertEqual(read(), [["up", "TERM", "saved"]] * 2)
        self.assertLess(time.monotonic() - begin, 30, "it has ended by itself, long before its grace was over")

    def test_walltime_of_a_step_leaves_its_hold(self):
        nodes = list(self.held(self.a)["nodes"])
        self.assertEqual(self.driver.start("step", self.a, nodes, *self.ELSEWHERE, "/bin/bash", "-c", f"exec -a {MARK} sleep 600", walltime=2), {})
        answer = self.driver.wait_for("step", self.a)
        self.assertTrue(answer["reason"].startswith("walltime"), answer)
        until(lambda: not processes(MARK), "an end of the tree")
        self.assertEqual(self.driver.look(self.a)["phase"], "running")


class Releases(StepsOfHolds):
    def test_released_hold_ends_the_tree_at_once(self):
        self.start_stubborn()
        self.driver.release(self.a)
        until(lambda: not processes(MARK), "an end of the tree")
        answer = self.driver.wait_for("step", self.a)
        self.assertNotEqual(answer["exit_code"], 0)
        self.assertIn("was cancelled", answer["reason"])

    def test_release_ends_what_is_left_where_this_host_died(self):
        self.start_stubborn()
        for what in (signal.SIGSTOP, signal.SIGKILL):  # at once: each of srun's two processes ends the step when the other goes
            self.assertGreater(self.driver.ask("signal", "step", int(what)), 0)
        self.driver.wait_for("step", self.a)
        self.assertEqual(len(processes(MARK + "-self")), 2)
        self.driver.release(self.a)
        until(lambda: not processes(MARK), "an end of the tree")

    def test_release_ends_what_forked_away(self):
        if not self.cluster.tracks_all:
            self.skipTest("no freezer of cgroup v1 here: Slurm loses what leaves its parents")
        nodes = list(self.held(self.a, processors=1)["nodes"])
        away = f"setsid /bin/bash -c '(exec -a {MARK}-away sleep 600 >/dev/null 2>&1) & disown'; exec -a {MARK}-self sleep 600"
        self.assertEqual(self.driver.start("step", self.a, nodes, *self.ELSEWHERE, "/bin/bash", "-c", away), {})
        until(lambda: len(processes(MARK)) == 2, "what forked away")
        self.driver.release(self.a)
        until(lambda: not processes(MARK), "an end of what forked away")


class Walltime(World):
    """Slurm counts minutes, and looks twice in one: this takes up to two, and runs by `scripts/soak periods`."""

    def test_walltime_of_a_hold_ends_all_in_it_and_is_no_success(self):
        nodes = list(self.held(self.a, walltime=60)["nodes"])
        # Ends with 0 when it is asked to, and srun with it.
        self.assertEqual(self.driver.start("step", self.a, nodes, "/bin/bash", "-c", f"trap 'exit 0' TERM; (exec -a {MARK} sleep 600) & wait"), {})
        until(lambda: processes(MARK), "its begin")
        deadline = time.monotonic() + 150
        while not (answer := self.driver.step("step", self.a)).get("exited") and time.monotonic() < deadline:
            time.sleep(0.5)
        self.assertTrue(answer.get("exited"), answer)
        self.assertNotEqual(answer["exit_code"], 0)
        self.assertTrue(answer["reason"].startswith("walltime"), answer)
        until(lambda: self.driver.look(self.a)["state"] == "TIMEOUT", "Slurm's own word for it")
        self.assertEqual(processes(MARK), [])


class Faults(World):
    def test_drained_node_is_no_machine_and_gives_no_processors(self):
        node = self.nodes[3]
        self.cluster.client("scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=disk | failing = 3")
        try:
            faults = {n["name"]: n["fault"] for n in self.driver.ask("site")["nodes"]}
            self.assertEqual(faults, {**{n: "" for n in self.nodes}, node: "DRAIN: disk | failing = 3"})
            answer = self.driver.hold(self.a, shares=node + ":1", wait=2)
            self.assertEqual(answer.get("strength"), "queued", answer)
            self.assertIn("UnavailableNodes:" + node, answer["reason"])
            self.assertNotIn(node, self.held(self.b, processors=12)["nodes"])
        finally:
            self.cluster.client("scontrol", "update", "NodeName=" + node, "State=RESUME")

    def test_without_munge_the_error_names_it(self):
        self.cluster.end("munged")
        try:
            self.expect_error(self.driver.look(self.a), "unavailable", "munged")
        finally:
            self.cluster.start_munge()
        self.assertIsNone(self.driver.look(self.a))

    def test_configuration_that_is_not_there_is_named(self):
        lost = Driver(self, "--configuration", "/no/such/slurm.conf", "--deadline-ms", "3000")
        self.addCleanup(lost.kill)
        self.expect_error(lost.greeting, "unavailable", "SLURM_CONF")


class ControllerDown(World):
    def test_controller_that_is_down_is_told_and_what_runs_goes_on(self):
        nodes = list(self.held(self.a, expiry=200)["nodes"])
        flag = self.folder + "/go"
        self.assertEqual(self.driver.start("step", self.a, nodes, "/bin/sh", "-c", f"echo begun; until test -e {flag}; do sleep 0.1; done; echo done"), {})
        until(lambda: self.driver.ask("read", "step", ".zbs-stdout") == "begun\n", "its begin")
        questions = (("site",), ("hold", self.b, "user=" + USER, "walltime=60"), ("look", self.a, USER), ("keep", self.a, USER), ("release", self.a, USER, "gently"))
        drivers = [self.make_driver() for _ in questions]
        self.cluster.end("slurmctld")
        try:
            with concurrent.futures.ThreadPoolExecutor(len(questions)) as threads:  # Slurm's own patience is 10 s
                answers = list(threads.map(lambda driver, question: driver.ask(*question), drivers, questions))
            for question, answer in zip(questions, answers):
                with self.subTest(question[0]):
                    self.expect_error(answer, "unavailable", "slurmctld", "scontrol ping")
            open(flag, "w").close()
            until(lambda: self.driver.ask("read", "step", ".zbs-stdout") == "begun\ndone\n", "its end without the controller")
        finally:
            self.cluster.start_controller()
            until(lambda: set(self.cluster.states().values()) <= {"idle", "mix", "alloc"} and self.cluster.states(), "the controller")
        self.assertEqual(until(lambda: self.driver.look(self.a), "the hold")["phase"], "running")
        self.assertEqual(self.driver.wait_for("step", self.a)["exit_code"], 0)


class ControllerLate(World):
    def test_controller_that_answers_late_is_told_as_a_timeout(self):
        hasty = self.make_driver("--deadline-ms", "1000")
        self.cluster.send("slurmctld", signal.SIGSTOP)
        try:
            self.expect_error(hasty.hold(self.a), "timeout", "too late", "squeue gave no answer within 1 s")
            self.expect_error(hasty.ask("site"), "timeout", "too late")
            # Slurm's own patience is 10 s.
            self.expect_error(self.driver.look(self.a), "timeout", "too late")
        finally:
            self.cluster.send("slurmctld", signal.SIGCONT)
        self.assertIsNone(self.driver.look(self.a))

    def test_controller_that_does_not_answer_makes_no_grace_longer(self):
        nodes = list(self.held(self.a, processors=1)["nodes"])
        self.assertEqual(self.driver.start("step", self.a, nodes, *StepsOfHolds.STUBBORN), {})
        until(lambda: processes(MARK + "-self"), "its begin")
        self.cluster.send("slurmctld", signal.SIGSTOP)
        try:
            begin = time.monotonic()
            self.driver.ask("stop", "step", 3000)
            # Slurm is not asked why it ended: it would not answer.
            until(lambda: os.path.exists(self.folder + "/steps-root/step/exit"), "an end of the step")
            self.assertGreater(time.monotonic() - begin, 2.5)
            self.assertLess(time.monotonic() - begin, 20)
        finally:
            self.cluster.send("slurmctld", signal.SIGCONT)
        self.driver.release(self.a)
        until(lambda: not processes(MARK), "an end of the tree")


class LostNode(World):
    settings = {"SlurmdTimeout": 8}

    def test_lost_node_is_the_reason_of_the_end(self):
        held = self.held(self.a, processors=2, nodes=2)
        nodes = list(held["nodes"])
        self.assertEqual(self.driver.start("step", self.a, nodes, "/bin/bash", "-c", f"exec -a {MARK} sleep 600"), {})
        until(lambda: len(processes(MARK)) == 2, "its begin")
        self.cluster.lose_node(nodes[1])
        try:
            answer = self.driver.wait_for("step", self.a)
            answer = until(lambda: [t for t in [self.driver.step("step", self.a)] if t.get("reason")], "a reason")[0]
            self.assertNotEqual(answer["exit_code"], 0)
            self.assertIn("node of Slurm job", answer["reason"])
            self.assertIn(nodes[1], {n["name"] for n in self.driver.ask("site")["nodes"] if n["fault"]})
        finally:
            self.cluster.start_node(nodes[1])
            until(lambda: self.cluster.states().get(nodes[1]) == "idle", "the node")


if __name__ == "__main__":
    why = slurm_cluster.missing()
    if why:
        print("skipped: no local Slurm: " + why)
        sys.exit(slurm_cluster.SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
