"""Zones of several organisations and their registry, as processes that a test kills, stops, arms and starts again; and what must hold after it.

Nothing here starts a service by itself but `Service.watch`, as systemd would: a service that died is started again, without what it was armed with.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "contract"), str(HERE.parent / "federation"), str(HERE.parents[1] / "support")]

from chaos_proxy import MODES, ChaosProxy  # noqa: E402
from federation import processes, until  # noqa: E402
from lossy_network import LossyNetwork, why_not as why_no_network  # noqa: E402
from identities import Organisations, context, own, run  # noqa: E402
from ids import fresh_id  # noqa: E402
from ports import free_port  # noqa: E402
from service import checked  # noqa: E402

DEADLINE_S = float(os.environ.get("ZBS_DEADLINE_S", "60"))  # for what takes a second on an idle machine
PROXY_HOST = "127.0.0.2"
FINAL = ("completed", "failed", "cancelled", "rejected")


class Service:
    """One service, and its lives."""

    def __init__(self, name, command, log):
        self.name, self.command, self.log = name, command, log
        self.process, self.exits, self.lives = None, [], 0
        self.lock = threading.RLock()
        self.wanted = False  # is it to be started again?

    def start(self, failpoints="", wrapper=(), environment=None):
        with self.lock:
            self.wanted = True
            self.lives += 1
            settings = dict(os.environ, **(environment or {}))
            settings.pop("ZBS_FAILPOINTS", None)
            if failpoints:
                settings["ZBS_FAILPOINTS"] = failpoints
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen([*wrapper, *map(str, self.command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=settings)

    def watch(self):
        """Starts it again, unarmed, if it died."""
        with self.lock:
            if self.wanted and self.process.poll() is not None:
                self.exits.append(self.process.returncode)
                self.start()

    def kill(self, number=signal.SIGKILL):
        with self.lock:
            if self.process.poll() is None:
                self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Ends it; it stays down."""
        with self.lock:
            self.wanted = False
            if self.process is None:
                return 0
            if self.process.poll() is None:
                self.process.send_signal(number)
            try:
                return self.process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise

    def text(self, since=0):
        with open(self.log, errors="replace") as log:
            log.seek(since)
            return log.read()

    def size(self):
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0


class FaultWorld:
    """`machines`: zone -> numbers of processors, one per machine. Zone a is home, of the users, too."""

    def __init__(self, programs, machines, timing="", watched=True, proxied=None, network=None, settings=""):
        """`settings`: further lines of every zone's file, "{zone}" in them replaced, before its first table. `proxied`: the zone that others reach through a ChaosProxy only, `self.proxy`. `network`: a LossyNetwork with a host for each service and one
        "test", in which this process is already."""
        self.programs, self.machines, self.timing, self.watched, self.proxied = pathlib.Path(programs), machines, timing, watched, proxied
        self.proxy, self.network, self.settings = None, network, settings
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-faults-"))
        self.jobs = self.folder / "jobs"
        self.jobs.mkdir()
        self.services = {}
        self.over = threading.Event()

    # ---- life

    def __enter__(self):
        try:
            self._begin()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def _begin(self):
        self.ports = {name: free_port() for name in ("registry", *self.machines)}
        if self.proxied:  # the same port at another address of loopback
            self.proxy = ChaosProxy((PROXY_HOST, self.ports[self.proxied]), ("127.0.0.1", self.ports[self.proxied])).__enter__()
        registry = self.programs / "zbs-registry"
        on = lambda name: self.network.hosts[name].enter if self.network else []  # noqa: E731
        run(registry, "init", "--state", self.folder / "registry", "--organisation", "grid")
        for peers in (False, True):
            for zone in self.machines:
                self.config(zone).write_text(self._config_text(zone, peers))
                if not peers:
                    run(self.programs / "zbs-zone", "init", "--config", self.config(zone))
        self.cas = {f"org-{zone}": self.folder / zone / "identity" for zone in self.machines}
        (self.folder / "issued").mkdir()
        self.organisations = Organisations(self.folder / "issued", self.cas)
        self.user = self.organisations.issue("org-a", "user", "ana")
        self.services["registry"] = Service("registry", [*on("registry"), registry, "run", "--listen-address", self.host("registry"), "--state", self.folder / "registry", "--listen-port", self.ports["registry"],
                                                         "--allow-private-addresses", "--zone-rate", "0", "--connection-rate", "0"], self.folder / "registry.log")
        self.services["registry"].start()
        until((self.folder / "registry/address").exists, DEADLINE_S, "the registry is not up")
        for zone in self.machines:
            made = run(registry, "token", "--state", self.folder / "registry", "--for", f"org-{zone}")
            run(*on(zone), self.programs / "zbs-zone", "enrol", re.search(r"zbs-enrol-1\+\S+", made).group(), "--config", self.config(zone))
            self.services[zone] = Service(zone, [*on(zone), self.programs / "zbs-zone", "run", "--config", self.config(zone)], self.folder / f"{zone}.log")
            self.services[zone].start()
        if self.watched:
            threading.Thread(target=self._watch, daemon=True).start()
        until(self.all_met, DEADLINE_S, f"the zones do not find each other: {self.logs()}")

    def __exit__(self, kind, *_):
        self.over.set()
        faults = []
        for service in self.services.values():
            try:
                service.kill(signal.SIGCONT)
                service.stop()
            except subprocess.TimeoutExpired:
                faults.append(f"{service.name} does not end on SIGTERM")
        if self.proxy:
            self.proxy.__exit__()
        left = self.job_processes()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if kind is None or not os.environ.get("ZBS_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print("kept:", self.folder, file=sys.stderr)
        if kind is None:
            assert not faults and not left, (faults, left)

    def _watch(self):
        while not self.over.wait(0.02):
            for service in list(self.services.values()):
                if not self.over.is_set():
                    service.watch()

    def host(self, name):
        return self.network.hosts[name].address if self.network else "127.0.0.1"

    def config(self, zone):
        return self.folder / f"{zone}.toml"

    def _config_text(self, zone, peers):
        text = f"""name = "{zone}"
organisation = "org-{zone}"
contact = "operator@org-{zone}.example"
state = "{self.folder}/{zone}"
listen = "{self.host(zone)}:{self.ports[zone]}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
account_map = "{self.folder}/{zone}.accounts"
"""
        text += self.settings.replace("{zone}", zone).replace("{folder}", str(self.folder))
        if zone == self.proxied:
            text += f'advertise = "{PROXY_HOST}"\n'
        (self.folder / f"{zone}.accounts").write_text("org-*  *  *  ->  guest\n")
        for number, processors in enumerate(self.machines[zone]):
            text += f'[[machine]]\nname = "m{number}"\nprocessors = {processors}\n'
        for other in self.machines:
            if peers and other != zone:
                text += (f'[[peering]]\norganisations = ["org-{other}"]\nbundle = "{self.folder}/{other}/identity/bundle.pem"\ndelegation = false\n'
                         "processors = 64\nfloor_processors = 64\nparts = 1000\nfloor_parts = 1000\n")
        if self.network:
            text += '[mpi]\ninterface = "tun0"\n'
        return text + f"""[rates]  # a test calls faster than any person
user_per_s = 0
zone_per_s = 0
anonymous_per_s = 0
connection_per_s = 0
[timing]
discover_s = 0.2
{self.timing}
"""

    def logs(self):
        return {name: service.text()[-1500:] for name, service in self.services.items()}

    # ---- calls

    def ask(self, zone, method, target, body=None, identity=None, timeout=10):
        """Status and JSON; OSError or HTTPException where there is no whole answer."""
        connection = http.client.HTTPSConnection(self.host(zone), self.ports[zone], timeout=timeout, context=context(identity or self.user))
        try:
            connection.request(method, target, None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json"} if body is not None else {})
            answer = connection.getresponse()
            body = checked("registry" if zone == "registry" else "zone", method, target, answer.status, answer.headers, answer.read())
            return answer.status, json.loads(body or b"null")
        finally:
            connection.close()

    def ask_until_answered(self, zone, *request, seconds=DEADLINE_S, **options):
        """The first whole answer that is not 5xx, or 429."""
        last = []

        def one():
            try:
                answer = self.ask(zone, *request, **options)
            except (OSError, http.client.HTTPException) as fault:
                last[:] = [fault]
                return None
            last[:] = [answer]
            return answer if answer[0] < 500 and answer[0] != 429 else None
        return until(one, seconds, f"no answer to {request[:2]}: {last}")

    def answers(self, service):
        try:
            return self.ask(service, "GET", "/livez", timeout=3)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def operator(self, zone):
        return own(self.folder / zone / "identity/operator")

    def zone_identity(self, zone):
        return own(self.folder / zone / "identity")

    def dry_run(self, ranks):
        try:
            return self.ask("a", "POST", "/v1/applications?dry_run=true", self.request(ranks, "true"), timeout=5)
        except (OSError, http.client.HTTPException):
            return 0, None

    def all_met(self):
        """Home could place a job over everything there is."""
        return self.dry_run(sum(map(sum, self.machines.values())))[0] == 200

    def request(self, ranks, script, **more):
        """An application of `ranks` shells; rank 0 leaves the id in jobs/ran before `script`."""
        identifier = fresh_id("spiffe://org-a/user/ana")
        note = f'[ "$PMI_RANK" != 0 ] || echo {identifier} >> ran; '
        return {"id": identifier, "ranks": ranks, "argv": ["/bin/sh", "-c", note + script], "directory": str(self.jobs), "walltime_s": 120,
                "environment": {"PATH": "/usr/bin:/bin", "ZBS_TEST_WORLD": str(self.folder)}, "profile": False, "use_profile": False, **more}

    def submit(self, request, seconds=DEADLINE_S):
        """Again and again with the same id, which is on the disk first, until it is acknowledged."""
        with open(self.folder / "submitted", "a") as ids:
            ids.write(request["id"] + "\n")
            ids.flush()
            os.fsync(ids.fileno())
        status, answer = self.ask_until_answered("a", "POST", "/v1/applications", request, seconds=seconds)
        assert status == 202, (status, answer)
        return answer

    def state_of(self, identifier):
        try:
            status, answer = self.ask("a", "GET", f"/v1/applications/{identifier}")
        except (OSError, http.client.HTTPException):
            return {"state": "unknown"}
        return answer if status == 200 else {"state": f"status {status}"}

    def wait_final(self, identifier, seconds=DEADLINE_S):
        return until(lambda: (lambda v: v if v["state"] in FINAL else None)(self.state_of(identifier)), seconds,
                     lambda: f"{identifier} does not end: {self.state_of(identifier)}")

    # ---- what must hold

    def held(self):
        """Zone -> processors in use, as its operator sees it."""
        found = {}
        for zone in self.machines:
            try:
                found[zone] = sum(node["used"] for node in self.ask(zone, "GET", "/v1/nodes", identity=self.operator(zone))[1]["nodes"])
            except (OSError, http.client.HTTPException, TypeError, KeyError) as fault:
                found[zone] = repr(fault)
        return found

    def job_processes(self):
        """Supervisors, launchers, proxies and ranks: by command line, environment or working directory."""
        services = {service.process.pid for service in self.services.values() if service.process}
        found, mark = {}, str(self.folder)
        for pid, (argv, environment) in processes().items():
            if pid in services or pid == os.getpid():
                continue
            try:
                place = os.readlink(f"/proc/{pid}/cwd")
            except OSError:
                place = ""
            is_service = any(word.endswith(("/zbs-zone", "/zbs-registry")) for word in argv)
            if not is_service and ("/steps/" in " ".join(word for word in argv if mark in word) or f"ZBS_TEST_WORLD={mark}" in environment or place.startswith(mark)):
                found[pid] = argv[:3]
        return found

    def ran(self):
        """Ids that jobs have left, one per start of rank 0."""
        path = self.jobs / "ran"
        return path.read_text().split() if path.exists() else []

    def assert_whole(self, requests, seconds=DEADLINE_S):
        """Each acknowledged application of `requests` has exactly one end, was run at most once, and nothing is left of it. Their states."""
        states = {}
        for request in requests:
            states[request["id"]] = self.wait_final(request["id"], seconds)["state"]
        until(lambda: all(used == 0 for used in self.held().values()), seconds, lambda: f"processors still held: {self.held()}")
        until(lambda: not self.job_processes(), seconds, lambda: f"processes left: {self.job_processes()}")
        for zone in self.machines:
            parts = self.ask_until_answered(zone, "GET", "/v1/queue", identity=self.operator(zone))[1]["parts"]
            assert parts == [], f"parts left in zone {zone}: {parts}"
        with sqlite3.connect(f"file:{self.folder}/a/zone.db?mode=ro", uri=True, timeout=10) as database:
            stored = [row[0] for row in database.execute("SELECT id FROM application")]
        database.close()
        ran = self.ran()
        for request in requests:
            identifier = request["id"]
            assert stored.count(identifier) == 1, f"{identifier} is stored {stored.count(identifier)} times"
            status, again = self.ask_until_answered("a", "POST", "/v1/applications", request)
            assert (status, again["id"], again["state"]) == (202, identifier, states[identifier]), (status, again)
            assert ran.count(identifier) <= 1, f"{identifier} ran {ran.count(identifier)} times"
            assert states[identifier] != "completed" or ran.count(identifier) == 1, f"{identifier} completed without running"
        self.assert_databases()
        return states

    def assert_databases(self):
        for zone in (*self.machines, "registry"):
            for path in (self.folder / zone).glob("*.db"):
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as database:
                    found = database.execute("PRAGMA integrity_check").fetchall()
                database.close()
                assert found == [("ok",)], (path, found)
