"""A zone and node agents for a test, and calls to them with any certificate. Everything is ended by `stop`."""
import http.client
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "contract"))
from identities import Organisations, context, own, run  # noqa: E402
from service import Contract, Reply, checked  # noqa: E402

DEADLINE_S = 60  # for what takes a second on an idle machine
_busy = ("/usr/bin/python3", str(pathlib.Path(__file__).resolve().parent / "busy.py"))


def until(look, what, seconds=DEADLINE_S, pause=0.02):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s: {what}")


def marked(operation):
    """Live processes of a step, by the variable that all of them carry."""
    mark, found = f"ZBS_STEP_{operation.replace('-', '_')}=".encode(), []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes() and (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


class Program:
    """A service that says where it listens."""

    def __init__(self, command, log):
        self.log = open(log, "ab")
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=self.log)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        line = self.process.stdout.readline() if ready else b""
        found = re.search(rb"listening on https://([0-9.]+):(\d+)$", line.strip())
        if not found:
            self.end(signal.SIGKILL)
            raise AssertionError(f"{command[0]} did not start: {line} {pathlib.Path(log).read_text()[-2000:]}")
        self.address, self.port = found.group(1).decode(), int(found.group(2))

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return code


class Starter:
    """`zbs-step serve`, in a control group where one is given; `manager` is in place of systemd-run."""

    def __init__(self, program, folder, manager, group=None):
        self.program, self.folder, self.group, self.socket, self.manager = program, folder, group, folder / "starter.socket", manager
        self.start()

    def start(self):
        enter = f"echo $$ > {self.group}/cgroup.procs; " if self.group else ""
        with open(self.folder / "starter.log", "ab") as log:
            self.process = subprocess.Popen(["/bin/sh", "-c", f'{enter}exec "$0" serve --socket "$@"', self.program, self.socket, "--units", self.manager], stdout=subprocess.PIPE, stderr=log)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        assert ready and b"starts steps" in self.process.stdout.readline(), (self.folder / "starter.log").read_text()

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        code = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        return code


class Agents:
    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        self.contract = Contract("node")
        self.agents, self.zone = {}, None
        for name in ("alpha", "gamma"):
            (folder / f"{name}.toml").write_text(self.zone_text(name, 0))
            run(programs / "zbs-zone", "init", "--config", folder / f"{name}.toml")
        self.cas = {name: folder / name / "identity" for name in ("alpha", "gamma")}
        self.start_zone()

    def zone_text(self, name, port):
        return f"""
name = "{name}-one"
organisation = "{name}"
state = "{self.folder}/{name}"
listen = "127.0.0.1:{port}"
run_as = "self"
[[machine]]
name = "node-1"
processors = 2
"""

    def enter(self, name):
        """Words before the command of that agent, or of "zone"."""
        return []

    def address_of(self, name):
        """Where that agent listens."""
        return "127.0.0.1"

    def start_zone(self):
        """The same address as before, where there was one."""
        port = self.zone.port if self.zone else 0
        (self.folder / "alpha.toml").write_text(self.zone_text("alpha", port))
        self.zone = Program([*self.enter("zone"), self.programs / "zbs-zone", "run", "--config", self.folder / "alpha.toml"], self.folder / "alpha.log")

    def add(self, name, settings=""):
        run(self.programs / "zbs-zone", "node", "add", name, "--out", self.folder / f"{name}-identity", "--config", self.folder / "alpha.toml")
        (self.folder / f"{name}.toml").write_text(f"""
name = "{name}"
zone = "https://{self.zone.address}:{self.zone.port}"
zone_name = "alpha-one"
state = "{self.folder}/{name}"
identity = "{self.folder}/{name}-identity"
listen = "{self.address_of(name)}:0"
run_as = "self"
{settings}
""")
        self.start(name)

    def start(self, name):
        self.agents[name] = Program([*self.enter(name), self.programs / "zbs-node", "run", "--config", self.folder / f"{name}.toml"], self.folder / f"{name}.log")

    def stop(self):
        faults = []
        for name, agent in self.agents.items():
            for step in self.call(name, "GET", "/v1/steps").json["steps"]:
                if step["state"] == "running":
                    self.call(name, "POST", f"/v1/steps/{step['operation']}/stop", {"grace_s": 0}, 200)
                    # Its zone may make the agent forget it meanwhile.
                    until(lambda: self.state(name, step["operation"])["state"] != "running", f"the end of {step['operation']}")
            if agent.end() != 0:
                faults.append(name)
        if self.zone.end() != 0:
            faults.append("zone")
        assert not faults, [(name, (self.folder / f"{name}.log").read_text()[-3000:]) for name in faults]

    def issue(self, *who):
        return Organisations(self.folder, self.cas).issue(*who)

    def zone_identity(self):
        return own(self.cas["alpha"])

    def call_program(self, program, method, target, identity=None, body=None):
        connection = http.client.HTTPSConnection(program.address, program.port, timeout=DEADLINE_S, context=context(identity))
        try:
            connection.request(method, target, None if body is None else json.dumps(body), {} if body is None else {"Content-Type": "application/json"})
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def call(self, name, method, target, body=None, status=None, identity="zone"):
        identity = self.zone_identity() if identity == "zone" else identity
        reply = self.call_program(self.agents[name], method, target, identity, body)
        self.contract.check(method, target, reply)
        if status is not None:
            assert reply.status == status, f"{method} {target}: {reply.status} {reply.body[:500]!r}"
        return reply

    def ask_zone(self, method, target, identity, body=None):
        reply = self.call_program(self.zone, method, target, identity, body)
        checked("zone", method, target, reply.status, reply.headers, reply.body)
        return reply

    def begin(self, name, operation, script, status=200, **spec):
        argv = script if isinstance(script, list) else ["/bin/sh", "-c", script]
        return self.call(name, "PUT", f"/v1/steps/{operation}", {"argv": argv, "environment": [{"name": "PATH", "value": "/usr/bin:/bin"}],
                                                                 "files": [], "shares": [], "walltime_s": 120, **spec}, status).json

    def begin_busy(self, name, operation, seconds):
        return self.begin(name, operation, [*_busy, str(seconds), "times"])

    def state(self, name, operation):
        return self.call(name, "GET", f"/v1/steps?operations={operation}", status=200).json["steps"][0]

    def wait(self, name, operation, seconds=DEADLINE_S):
        return until(lambda: (step := self.state(name, operation))["state"] == "exited" and step, f"the end of {operation}", seconds)

    def read(self, name, operation, file):
        reply = self.call(name, "GET", f"/v1/steps/{operation}/files/{file}")
        return reply.body.decode() if reply.status == 200 else ""

    def end_step(self, name, operation):
        self.call(name, "POST", f"/v1/steps/{operation}/stop", {"grace_s": 0}, 200)
        return self.wait(name, operation)
