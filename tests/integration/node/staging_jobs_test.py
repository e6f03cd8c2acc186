#!/usr/bin/python3
"""Files of jobs on machines that have nothing but an agent: staging_jobs_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [CLASS[.TEST]...]

One zone and the agents of its two machines, all on this host, each with a state folder of its own: what one of them has, the others got by being sent it.
"""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, SOURCE, APPS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests/integration/node"))
from agents import until  # noqa: E402
sys.argv[1:4] = [str(PROGRAMS), str(SOURCE), str(APPS)]
from zone_jobs_test import MACHINES, OnMachines, World  # noqa: E402

MIB = 1024 * 1024
FINAL = {"completed", "failed", "rejected", "cancelled"}
SOLVER = """#!/bin/sh
[ -s in.dat ] || { echo "no input in $PWD" >&2; exit 3; }
cksum < in.dat > "sum.$PMI_RANK"
[ "$1" = copy ] && cp in.dat "copy.$PMI_RANK"
echo "$PWD" > "folder.$PMI_RANK"
ln -s /etc/passwd "link.$PMI_RANK"
"""


class Staged(OnMachines):
    agent_settings = "shared_memory = true\nfiles_MiB = 200"

    def setUp(self):
        self.here = pathlib.Path(tempfile.mkdtemp(prefix="zbs-agent-staging-"))
        self.addCleanup(shutil.rmtree, self.here, True)
        (self.here / "solver").write_text(SOLVER)
        (self.here / "solver").chmod(0o755)

    def input(self, size):
        data = os.urandom(size)
        (self.here / "in.dat").write_bytes(data)
        return data

    def zbs(self, *words, timeout=120):
        return subprocess.run([PROGRAMS / "zbs", "--credentials", self.world.credentials, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=timeout,
                              cwd=self.here, env=dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}"))

    def submit(self, *options):
        done = self.zbs("submit", "-n", 4, "--no-record", "--stage-in", "solver", "--stage-in", "in.dat", *options, "--", "./solver")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def folder(self, machine):
        return self.world.folder / machine

    def files_of(self, machine):
        """Name and size of what an agent keeps, whole and begun."""
        found = {}
        for path in (self.folder(machine) / "files/inputs").glob("*"):
            try:
                found[path.name] = path.stat().st_size
            except FileNotFoundError:  # it has got its last name meanwhile
                pass
        return found

    def sent(self, machine):
        """Bytes of inputs that the zone has sent there, as it says."""
        text = (self.world.folder / "alpha.log").read_text(errors="replace")
        return [line for line in text.splitlines() if "input_sent" in line and machine in line]

    def run_solver(self, *options):
        into = self.here / "results"
        into.mkdir(exist_ok=True)
        done = self.zbs("run", "-n", 4, "--no-record", "--stage-in", "solver", "--stage-in", "in.dat", "--stage-out", "copy.*", "--stage-out", "folder.*", "--stage-out", "link.*",
                        "--results", into, *options, "--", "./solver", "copy")
        return done, into

    def test_program_and_input_go_to_all_machines_and_results_come_home(self):
        data = self.input(3 * MIB)
        done, into = self.run_solver()
        self.assertEqual(done.returncode, 9, done.stderr)  # the links
        for rank in range(4):
            self.assertEqual((into / f"copy.{rank}").read_bytes(), data)
        folders = {(into / f"folder.{rank}").read_text().strip() for rank in range(4)}
        self.assertEqual({folder.split("/steps/")[0] for folder in folders}, {str(self.folder(machine).resolve()) for machine in MACHINES})
        self.assertFalse(list(into.glob("link.*")), "a link to somebody else's file")
        for machine in MACHINES:
            self.assertEqual(self.files_of(machine)[hashlib.sha256(data).hexdigest()], len(data))
            until(lambda: not list((self.folder(machine) / "steps").glob("*/job/in.dat")), "a copy of the input is left")
        before = [self.sent(machine) for machine in MACHINES]
        shutil.rmtree(into)
        done, into = self.run_solver()
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertEqual([self.sent(machine) for machine in MACHINES], before, "a repeat sends nothing")

    def killed_while_sending(self, kill):
        data = self.input(60 * MIB)
        application = self.submit("--stage-out", "sum.*")
        part = f".{hashlib.sha256(data).hexdigest()}.part"
        until(lambda: self.files_of("node-2").get(part, 0) > 5 * MIB, "nothing is sent", 60)
        kill()
        shown = self.world.wait_state(application, FINAL, 120)
        self.assertEqual(shown["state"], "completed", shown.get("reason"))
        into = self.here / "results"
        into.mkdir()
        self.assertEqual(self.zbs("fetch", application, "-d", into).returncode, 0)
        sums = {path.read_text() for path in into.glob("sum.*")}
        expected = subprocess.run(["cksum"], input=data, capture_output=True, check=True).stdout.decode()
        self.assertEqual((len(list(into.glob("sum.*"))), sums), (4, {expected}))

    def test_kill_of_an_agent_while_it_takes_a_file(self):
        def kill():
            self.world.agents["node-2"].end(signal.SIGKILL)
            self.world.start("node-2")
        self.killed_while_sending(kill)

    def test_kill_of_the_zone_while_it_sends_to_an_agent(self):
        def kill():
            self.world.zone.end(signal.SIGKILL)
            self.world.start_zone()
        self.killed_while_sending(kill)

    def test_a_file_that_no_agent_takes_is_told_with_the_remedy(self):
        with open(self.here / "in.dat", "wb") as big:
            big.truncate(201 * MIB)
        application = self.submit()
        shown = self.world.wait_state(application, FINAL, 60)
        self.assertEqual(shown["state"], "rejected", shown)
        self.assertIn("files_MiB", json.dumps(self.world.show(application)) + self.zbs("explain", application).stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
