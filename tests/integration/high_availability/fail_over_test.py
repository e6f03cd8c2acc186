#!/usr/bin/python3 -B
"""Two schedulers of one zone on one PostgreSQL: fail_over_test.py BIN killed|stopped|ended

Two clients (`zbs run` with both addresses) submit all the time, and an MPI job runs. Meanwhile the active scheduler is killed; or stopped and continued; or
ended in order, and PostgreSQL itself goes down as in a power cut. Each time the other takes over, within 15 s with the usual lease; nothing accepted is
lost, nothing runs twice, no processor has two jobs, and who was stopped commits nothing any more and ends by itself. The times are printed.
"""
import http.client
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "federation"), str(HERE.parents[1] / "support")]

from federation import processes, until  # noqa: E402
from ports import free_port  # noqa: E402
from postgres_server import SKIPPED, PostgresServer, missing  # noqa: E402

DEADLINE_S = float(os.environ.get("ZBS_DEADLINE_S", "120"))  # for what takes seconds on an idle machine
TAKEN_OVER_S = 15  # of the requirement; the lease's default is 8 s
STORAGE_FAILED = 74
PROCESSORS, CLIENTS, MPI_RANKS = 4, 2, 2
FINAL = ("completed", "failed", "cancelled", "rejected")
# Each rank has a file while it runs; more files than processors would be a processor with two jobs.
RANK = ('me=slots/$0.$PMI_RANK; : > "$me"; [ "$(ls slots | wc -l)" -le %d ] || ls slots >> overbooked; [ "$PMI_RANK" != 0 ] || echo "$0" >> ran; '
        '%s; code=$?; rm "$me"; exit $code')


class Scheduler:
    """`zbs-zone run`, and its lives."""

    def __init__(self, world, name):
        self.name, self.port = name, free_port()
        self.url, self.log, self.config = f"http://127.0.0.1:{self.port}", world.folder / f"{name}.log", world.folder / f"{name}.toml"
        self.program, self.process = world.bin / "zbs-zone", None
        self.config.write_text(f"""name = "a"
organisation = "org-a"
state = "{world.folder}/state"
listen = "127.0.0.1:{self.port}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
queue = "fcfs"
queue_log = "{world.folder}/queue.jsonl"
{world.machines}[database]
url = "{world.server.url}"
[high_availability]
node = "{name}"
[rates]  # a test calls faster than any person
user_per_s = 0
anonymous_per_s = 0
connection_per_s = 0
""")

    def start(self):
        self.since = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.program, "run", "--config", self.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def text(self):
        return self.log.read_bytes()[self.since:].decode(errors="replace")

    def wait_for(self, words):
        until(lambda: words in self.text() or self.process.poll() is not None, DEADLINE_S, lambda: f"{self.name} says no '{words}': {self.text()}")
        assert words in self.text(), (self.name, self.process.returncode, self.text())

    def ask(self, target, token=None, timeout=5):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", target, headers={"Zbs-Identity": "spiffe://org-a/user/ana", "Zbs-Token": token} if token else {})
            answer = connection.getresponse()
            assert len(answer.getheader("Zbs-Request-Id", "")) == 26, (target, answer.getheaders())
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException) as fault:
            return 0, repr(fault)
        finally:
            connection.close()

    def serves(self):
        if self.url.startswith("https:"):
            return " listening on " in self.text()
        return self.ask("/readyz", timeout=1)[0] == 200


class Client(threading.Thread):
    """Submits jobs of one rank by the real client, one after the other."""

    def __init__(self, world, number):
        super().__init__(daemon=True)
        self.world, self.number, self.over, self.accepted, self.fault = world, number, threading.Event(), [], None

    def run(self):
        try:
            while not self.over.is_set():
                mark = f"client{self.number}-{len(self.accepted)}"
                self.accepted.append((mark, self.world.submit(mark, 1, "sleep 0.3")))
                self.over.wait(0.2)  # the load's own time
        except BaseException as fault:
            self.fault = fault


class World:
    machines = f'[[machine]]\nname = "m0"\nprocessors = {PROCESSORS}\n'

    def __init__(self, bin_folder, server):
        self.bin, self.server = pathlib.Path(bin_folder).resolve(), server
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-fail-over-"))
        (self.folder / "slots").mkdir()
        self.schedulers = [Scheduler(self, "one"), Scheduler(self, "two")]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for scheduler in self.schedulers:
            if scheduler.process and scheduler.process.poll() is None:
                scheduler.process.send_signal(signal.SIGCONT)
                scheduler.process.send_signal(signal.SIGTERM)
                scheduler.process.wait(DEADLINE_S)
        left = self.job_processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        if kind and os.environ.get("ZBS_KEEP"):
            print("kept:", self.folder, file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None:
            assert not left, left

    def job_processes(self):
        own = {scheduler.process.pid for scheduler in self.schedulers if scheduler.process}
        return {pid: argv[:3] for pid, (argv, _) in processes().items() if pid not in own and pid != os.getpid() and any(str(self.folder) in word for word in argv)}

    def token(self):
        return (self.folder / "state/local_token").read_text()

    def submit(self, mark, ranks, script, *options):
        """The id, once a scheduler has acknowledged it."""
        done = subprocess.run([self.bin / "zbs", "submit", "-n", str(ranks), "--walltime", "10m", "--output", "name", "--no-record", "--launcher", "mpich", *options, "--", "/bin/sh", "-c", RANK % (PROCESSORS, script), mark],
                              cwd=self.folder, capture_output=True, text=True, timeout=DEADLINE_S, stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "ZBS_URL": ",".join(s.url for s in self.schedulers), "ZBS_IDENTITY": "spiffe://org-a/user/ana",
                                   "ZBS_TOKEN": self.token()})
        assert done.returncode == 0, (mark, done.stdout, done.stderr)
        return done.stdout.split()[0]

    def active(self):
        return next((s for s in self.schedulers if s.process.poll() is None and s.serves()), None)

    def show(self, identifier):
        scheduler = self.active()
        return scheduler.ask(f"/v1/applications/{identifier}", self.token())[1] if scheduler else None

    def wait_final(self, identifier):
        return until(lambda: (lambda v: v if isinstance(v, dict) and v.get("state") in FINAL else None)(self.show(identifier)), DEADLINE_S, lambda: f"{identifier} does not end: {self.show(identifier)}")

    def number(self, sql):
        return int(self.server.ask(f'SET search_path TO a; {sql}')[-1])

    def until_taken_over(self, scheduler, what):
        begin = time.monotonic()
        until(scheduler.serves, DEADLINE_S, lambda: f"{scheduler.name} does not take over: {scheduler.text()}")
        took = time.monotonic() - begin
        print(f"{what}: {scheduler.name} serves after {took:.1f} s", flush=True)
        return took


def fail_over(world, one, two, phases):
    """Scheduler one is active at the start. `phases`: each takes the active scheduler, the standby and `under_load`."""
    one.start().wait_for(" listening on ")
    two.start().wait_for(" standing by on ")
    until(lambda: f"{one.name} at" in str(two.ask("/readyz", world.token())), DEADLINE_S, lambda: f"the standby does not know who is active: {two.ask('/readyz', world.token())}")
    status, problem = two.ask("/readyz")
    assert status == 503 and "stands by" in problem["detail"] and "active" not in problem["detail"] and one.url not in str(problem), "a stranger receives the address of the active scheduler"
    status, problem = two.ask("/v1/applications", world.token())
    assert status == 503 and one.url in problem["detail"], (status, problem)
    assert two.ask("/livez") == (200, {"status": "standby"}), two.ask("/livez")
    assert (world.folder / "state/address").read_text() == one.url + "\n", "operators are sent to the active one"

    epochs, tokens = [world.number("SELECT epoch FROM lease")], []
    mpi_job = world.submit("mpi", MPI_RANKS, f"until [ -e over ]; do sleep 0.2; done; {shlex.quote(str(world.bin / 'apps/ring'))}")
    clients = [Client(world, number) for number in range(CLIENTS)]
    for client in clients:
        client.start()

    def under_load(jobs=3):
        """Until each client has got so many more through; nothing has failed."""
        before = [len(client.accepted) for client in clients]
        until(lambda: any(c.fault for c in clients) or all(len(c.accepted) >= n + jobs for c, n in zip(clients, before)), DEADLINE_S, lambda: f"no jobs get through: {[s.text()[-2000:] for s in world.schedulers]}")
        assert not any(c.fault for c in clients), [c.fault for c in clients]
        epochs.append(world.number("SELECT epoch FROM lease"))
        # What was submitted may still wait for its first hold.
        token = until(lambda: (lambda value: value if not tokens or value != tokens[-1] else None)(world.number("SELECT value FROM counter WHERE name='token'")),
                      DEADLINE_S, "no part is held")
        tokens.append(token)
        assert world.show(mpi_job)["state"] == "running", world.show(mpi_job)

    until(lambda: world.show(mpi_job)["state"] == "running", DEADLINE_S, lambda: world.show(mpi_job))
    under_load()

    for phase in phases:
        phase(world, *sorted(world.schedulers, key=lambda scheduler: scheduler != world.active()), under_load)

    for client in clients:
        client.over.set()
    for client in clients:
        client.join(DEADLINE_S)
        assert not client.is_alive() and client.fault is None, client.fault
    (world.folder / "over").touch()
    assert world.wait_final(mpi_job)["state"] == "completed", world.show(mpi_job)
    accepted = [job for client in clients for job in client.accepted]
    for mark, identifier in accepted:
        assert world.wait_final(identifier)["state"] == "completed", (mark, world.show(identifier))
    ran = (world.folder / "ran").read_text().split()
    assert sorted(ran) == sorted(["mpi", *(mark for mark, _ in accepted)]), "lost or doubled"
    assert world.number("SELECT count(*) FROM application") == len(accepted) + 1
    assert not (world.folder / "overbooked").exists(), (world.folder / "overbooked").read_text()
    assert epochs == sorted(epochs) and len(set(epochs[1:])) == 1 + len(phases) and tokens == sorted(set(tokens)), (epochs, tokens)
    verified = subprocess.run([one.program, "audit", "verify", "--config", one.config], capture_output=True, text=True, timeout=DEADLINE_S)
    assert verified.returncode == 0, verified.stderr
    print(f"{len(accepted)} jobs beside the MPI job: none lost, none doubled; epochs {epochs}", flush=True)


def killed(world, active, standby, under_load):
    active.process.kill()
    assert world.until_taken_over(standby, "kill -9") < TAKEN_OVER_S
    active.process.wait()
    under_load()
    active.start().wait_for(" standing by on ")


def stopped(world, active, standby, under_load):
    active.process.send_signal(signal.SIGSTOP)
    assert world.until_taken_over(standby, "SIGSTOP") < TAKEN_OVER_S
    assert standby.text().count("queue_log_left_out") == 1, standby.text()
    under_load()
    written = world.number("SELECT epoch FROM lease")
    active.process.send_signal(signal.SIGCONT)
    assert active.process.wait(DEADLINE_S) == STORAGE_FAILED, active.text()
    assert "storage_failed" in active.text(), active.text()
    assert world.number("SELECT epoch FROM lease") == written and standby.serves(), "who was stopped has done something"
    under_load()
    active.start().wait_for(" standing by on ")


def ended(world, active, standby, under_load):
    active.process.terminate()
    world.until_taken_over(standby, "SIGTERM")
    assert active.process.wait(DEADLINE_S) == 0, active.text()
    under_load()
    active.start().wait_for(" standing by on ")


def power_cut(world, _, __, under_load):
    """Of PostgreSQL."""
    world.server.stop("immediate")
    for scheduler in world.schedulers:
        assert scheduler.process.wait(DEADLINE_S) == STORAGE_FAILED, scheduler.text()
    world.server.start()
    for scheduler in world.schedulers:  # as systemd does
        scheduler.start()
    begin = time.monotonic()
    until(world.active, DEADLINE_S, "nobody serves after PostgreSQL went down")
    print(f"PostgreSQL restarted: {world.active().name} serves {time.monotonic() - begin:.1f} s after both were started again", flush=True)
    under_load()


CASES = {"killed": (killed,), "stopped": (stopped,), "ended": (ended, power_cut)}
LAST = {"stopped"}  # cases that begin with the last of the clients' addresses: they would wait for a first one that is silent


def main():
    if missing():
        print(missing())
        return SKIPPED
    with PostgresServer() as server, World(sys.argv[1], server) as world:
        fail_over(world, *(reversed(world.schedulers) if sys.argv[2] in LAST else world.schedulers), CASES[sys.argv[2]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
