#!/usr/bin/python3 -B
"""Two schedulers of a zone whose machines have agents, on one PostgreSQL over TCP with a password in a file: agents_test.py BIN CASE

Each of two machines runs one rank of an MPI job when the active scheduler is killed: the other takes over, the agents register there, and the job ends well, each of its ranks having run once. Or the
active one is stopped, the other takes over and cancels a job, and who was stopped goes on: it ends, and what was cancelled stays so. Or the launcher of a job was on another host, as its record says: the job
fails with that reason, and nothing of it is left anywhere.
"""
import json
import shlex
import signal
import subprocess
import sys

from fail_over_test import DEADLINE_S, STORAGE_FAILED, TAKEN_OVER_S, Scheduler, World, until
from postgres_server import SKIPPED, PostgresServer, missing

MACHINES = ("node-1", "node-2")
# Each rank says once that it has begun, and waits for a word.
RANK = 'echo "$PMI_RANK" >> {mark}.begun; until [ -e {mark}.go ]; do sleep 0.1; done; {then}'


class Agents:
    """`zbs-node run` of each machine, with keys from the zone."""

    def __init__(self, world):
        self.world, self.processes = world, {}

    def start(self):
        world = self.world
        for name in MACHINES:
            world.good("zbs-zone", "node", "add", name, "--out", world.folder / f"{name}-identity", "--config", world.schedulers[0].config)
            config = world.folder / f"{name}.toml"
            config.write_text(f"""name = "{name}"
zone = "{','.join(scheduler.url for scheduler in world.schedulers)}"
zone_name = "a"
state = "{world.folder}/{name}"
identity = "{world.folder}/{name}-identity"
run_as = "self"
shared_memory = true
""")
            with open(world.folder / f"{name}.log", "wb") as log:
                self.processes[name] = subprocess.Popen([world.bin / "zbs-node", "run", "--config", config], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for name in MACHINES:
            until(lambda: "registered" in self.text(name), DEADLINE_S, lambda: self.text(name))

    def text(self, name):
        return (self.world.folder / f"{name}.log").read_text()

    def end(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(DEADLINE_S)


class WithAgents(World):
    machines = "".join(f'[[machine]]\nname = "{name}"\nprocessors = 1\nagent = true\n' for name in MACHINES)

    def run(self, program, *words):
        return subprocess.run([self.bin / program, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE_S, cwd=self.folder, stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "ZBS_CREDENTIALS": str(self.folder / "ana"), "ZBS_URL": ",".join(s.url for s in self.schedulers)})

    def good(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def log_in(self):
        code = self.good("zbs-zone", "user", "add", "ana", "--config", self.schedulers[0].config).split()[1:]
        done = subprocess.run([self.bin / "zbs", *code], capture_output=True, text=True, timeout=DEADLINE_S, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "ZBS_CREDENTIALS": str(self.folder / "ana")})
        assert done.returncode == 0, done.stderr

    def begin(self, mark, then="true"):
        """A job of one rank on each machine, all of which run."""
        script = RANK.format(mark=self.folder / mark, then=then)
        job = self.good("zbs", "submit", "-n", str(len(MACHINES)), "--walltime", "10m", "--launcher", "mpich", "--no-record", "--output", "name", "--", "/bin/sh", "-c", script).split()[0]
        until(lambda: self.begun(mark) == ["0", "1"], DEADLINE_S, lambda: f"{mark}: {self.begun(mark)} {self.view(job)}")
        return job

    def job_processes(self):
        agents = {process.pid for process in self.agents.processes.values()}
        return {pid: argv for pid, argv in super().job_processes().items() if pid not in agents}

    def begun(self, mark):
        file = self.folder / f"{mark}.begun"
        return sorted(file.read_text().split()) if file.exists() else []

    def view(self, job):
        return json.loads(self.good("zbs", "show", job, "-o", "json"))

    def until_state(self, job, state):
        return until(lambda: (lambda view: view if view["state"] == state else None)(self.view(job)), DEADLINE_S, lambda: f"{job} is not {state}: {self.view(job)}")


def begin(world):
    """One is active, two stands by, and a user and agents are there."""
    one, two = world.schedulers
    world.good("zbs-zone", "init", "--config", one.config)
    one.url, two.url = (scheduler.url.replace("http:", "https:") for scheduler in world.schedulers)
    one.start().wait_for(" listening on https://")
    two.start().wait_for(" standing by on https://")
    assert world.run("zbs-zone", "ready", "--config", one.config).stdout == "active\n"
    standby = world.run("zbs-zone", "ready", "--config", two.config)
    assert (standby.returncode, standby.stdout) == (0, "standby\n"), standby
    assert world.run("zbs-zone", "ready", "--active", "--config", two.config).returncode == 1
    world.log_in()
    world.agents.start()


def kill_while_ranks_run(world, one, two):
    job = world.begin("first", shlex.quote(f"{world.bin}/apps/ring"))
    places = {place["machine"] for part in world.view(job)["parts"] for place in part["assignment"]}
    assert places == set(MACHINES), places
    one.process.kill()
    assert world.until_taken_over(two, "kill -9 while ranks run at agents") < TAKEN_OVER_S
    one.process.wait()
    assert world.until_state(job, "running")
    (world.folder / "first.go").touch()
    view = world.until_state(job, "completed")
    assert view["exit_code"] == 0 and world.begun("first") == ["0", "1"], (view, world.begun("first"))


def stop_while_ranks_run(world, one, two):
    one.process.terminate()
    world.until_taken_over(two, "SIGTERM")
    one.process.wait()
    one.start().wait_for(" standing by on https://")
    job = world.begin("second", "echo ended >> second.ended")  # at agents that have registered with the new one
    two.process.send_signal(signal.SIGSTOP)
    assert world.until_taken_over(one, "SIGSTOP while ranks run at agents") < TAKEN_OVER_S
    world.good("zbs", "cancel", job)
    world.until_state(job, "cancelled")
    two.process.send_signal(signal.SIGCONT)
    assert two.process.wait(DEADLINE_S) == STORAGE_FAILED, two.text()
    (world.folder / "second.go").touch()
    job = world.begin("third")
    (world.folder / "third.go").touch()
    world.until_state(job, "completed")
    assert world.begun("second") == ["0", "1"] and not (world.folder / "second.ended").exists(), "a step was started anew, or not stopped"


def kill_of_another_host(world, one, two):
    job = world.begin("fourth")
    one.process.kill()
    record = world.folder / f"state/steps/mpi-{job}/supervisor"
    pid, start, _, _ = record.read_text().split()
    record.write_text(f"{pid} {start} another-boot/pid:[1] far-host\n")  # as if the launcher ran on another host
    one.process.wait()
    world.until_taken_over(two, "kill -9, as of another host")
    view = world.until_state(job, "failed")
    assert "it ran on host far-host" in view["reason"], view
    until(lambda: not world.job_processes(), DEADLINE_S, lambda: f"left: {world.job_processes()}")  # its supervisor finds that it is to end, and the agents have received the stop
    assert world.begun("fourth") == ["0", "1"]


def main():
    if missing():
        print(missing())
        return SKIPPED
    with PostgresServer(over_tcp=True) as server, WithAgents(sys.argv[1], server) as world:
        world.agents = Agents(world)
        try:
            begin(world)
            {case.__name__: case for case in (kill_while_ranks_run, stop_while_ranks_run, kill_of_another_host)}[sys.argv[2]](world, *world.schedulers)
        finally:
            world.agents.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
