"""Every failpoint of the services x {crash, error, stall}, each on a job over two zones: failpoint_test.py BIN [--stall SECONDS] [unittest names]

The points come from the program, so none can be forgotten. A zone is started with one point armed, a job is submitted until it is acknowledged, a
service that dies is started again without the point. Each point has to be hit. Then: the application has one end, the right one; it was stored and
ran once; nothing is held, nothing of it is alive, the databases are whole.

Stalls take 2 s here, which is longer than any of a healthy zone's steps, and shorter than the deadlines around it (5 s to start a step or to commit,
15 s to hold or launch): what a longer one makes of these is the affair of stop_test.py. `--stall 4` for more.
"""
import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import unittest

from fault_world import DEADLINE_S, FaultWorld, until

PROGRAMS, STALL_S = "", 2.0
MACHINES = {"a": [1], "b": [1, 1]}  # the part of zone b has two proxies
RANKS = 3
ARMED = {"home": "a", "store": "a", "answer": "a", "audit": "a", "peer": "b", "stage": "b", "fetch": "a", "step": "b", "registry": "registry"}  # by the first part of a name
# Where the job may fail because of the fault: a proxy or the launcher that was begun is not begun again. Everywhere else it has to complete.
MAY_FAIL = {("peer.launch_stored", "crash"), ("peer.launch_stored", "error"), ("peer.step_spawned", "crash"), ("peer.step_spawned", "error"),
            ("peer.between_proxies", "crash"), ("peer.between_proxies", "error"), ("home.launcher_started", "error"), ("step.before_record", "crash"),
            ("step.before_record", "error"), ("step.after_record", "crash"), ("step.after_record", "error"), ("step.after_fork", "crash"),
            ("step.after_fork", "error")}
# Errors of the storage end the zone, with the exit code for it, and it is started again.
ENDS_WITH_74 = {"store.after_write", "store.before_commit", "store.after_commit"}


def points():
    done = subprocess.run([PROGRAMS + "/zbs-zone", "failpoints", "--json"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stderr
    return [row["name"] for row in json.loads(done.stdout)["failpoints"]]


def points_of(*groups):
    return [name for name in points() if name.split(".")[0] in groups]


class Matrix(unittest.TestCase):
    """One federation for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.w = FaultWorld(PROGRAMS, MACHINES, "hold_ttl_s = 15\nlaunch_window_s = 15\nlease_s = 4\nrenew_s = 0.3\n").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.w.__exit__(None)

    def begin_armed(self, name, what):
        """The service that `name` belongs to, in a new life with `what` armed."""
        service = self.w.services[ARMED[name.split(".")[0]]]
        service.stop(signal.SIGKILL)
        since = service.size()
        service.exits.clear()
        service.start(what)
        until(lambda: "failpoint_armed" in service.text(since), DEADLINE_S, lambda: f"{service.name} does not start: {service.text(since)}")
        until(lambda: " listening on " in service.text(since), DEADLINE_S, lambda: f"{service.name} does not start: {service.text(since)}")
        return service, since

    def hits(self, service, since):
        """Names of the points that were hit, by the log of the service or of its steps."""
        text = service.text(since)
        for path in (self.w.folder / service.name / "steps").glob("*/supervisor.log"):
            text += path.read_text().replace("zbs-step: failpoint_hit ", "failpoint_hit name=").replace("=crash", " ").replace("=error", " ").replace("=stall", " ")
        return {line.split("name=")[1].split()[0] for line in text.splitlines() if "failpoint_hit name=" in line}

    def make_request(self):
        return self.w.request(RANKS, "sleep 0.3")

    def check(self, names, action, hit=1):
        """A job while the points `names` of one service do `action` at their hit number `hit`."""
        words = {"stall": f"stall:{int(STALL_S * 1000)}ms"}.get(action, action) + (f"@{hit}" if hit > 1 else "")
        service, since = self.begin_armed(names[0], ";".join(f"{name}={words}" for name in names))
        request = self.make_request()
        self.w.submit(request)
        states = self.w.assert_whole([request])
        # Home gives back the parts of a job that it ends; the end of other parts it has learned by then.
        if any("release" in name for name in names) and not self.hits(service, since) >= set(names):
            cancelled = self.w.request(RANKS, "sleep 100")
            self.w.submit(cancelled)
            until(lambda: self.w.state_of(cancelled["id"])["state"] == "running", DEADLINE_S, lambda: self.w.state_of(cancelled["id"]))
            self.w.ask_until_answered("a", "DELETE", f"/v1/applications/{cancelled['id']}")
            self.assertEqual(self.w.assert_whole([cancelled]), {cancelled["id"]: "cancelled"})
        until(lambda: self.hits(service, since) >= set(names), 20, lambda: f"not hit: {set(names) - self.hits(service, since)}")
        if not (len(names) == 1 and (names[0], action) in MAY_FAIL):
            self.assertEqual(states[request["id"]], "completed", self.w.state_of(request["id"]))
        is_step = names[0].startswith("step.")
        if action == "crash" and not is_step:
            until(lambda: service.exits, 20, lambda: f"it says that it was hit, and runs on: {service.text(since)[-2000:]}")  # the log is quicker than who waits for its end
            self.assertEqual(service.exits, [-signal.SIGKILL])
        elif action == "error" and names[0] in ENDS_WITH_74:
            self.assertEqual(service.exits, [74], service.text(since)[-2000:])
        elif not is_step and not (action == "error" and names[0].startswith("audit.")):
            self.assertEqual(service.exits, [], service.text(since)[-2000:])

    def check_each(self, names, action, **options):
        for name in names:
            with self.subTest(f"{name}={action}", **options):
                self.check([name], action, **options)


class Home(Matrix):
    def test_crash(self):
        self.check_each(points_of("home"), "crash")

    def test_error_of_the_first_points(self):
        self.check_each(points_of("home")[:8], "error")

    def test_error_of_the_later_points(self):
        self.check_each(points_of("home")[8:], "error")

    def stall(self, names):
        for begin in range(0, len(names), 4):  # together: nothing fails by any of them, so the outcome is as clear
            with self.subTest(names[begin:begin + 4]):
                self.check(names[begin:begin + 4], "stall")

    def test_stall_of_the_first_points(self):
        self.stall(points_of("home")[:8])

    def test_stall_of_the_later_points(self):
        self.stall(points_of("home")[8:])


class Peer(Matrix):
    def test_crash(self):
        self.check_each(points_of("peer"), "crash")

    def test_error(self):
        self.check_each(points_of("peer"), "error")

    def test_stall(self):
        for name in points_of("peer"):
            with self.subTest(name):
                self.check([name], "stall")


class Files(Matrix):
    """Jobs that bring a file along, and whose ranks leave it as a result."""

    def make_request(self):
        data = os.urandom(3 * 512 * 1024 + 1)
        digest = hashlib.sha256(data).hexdigest()
        for offset in range(0, len(data), 1024 * 1024):
            piece = {"size": len(data), "offset": offset, "bytes": base64.b64encode(data[offset:offset + 1024 * 1024]).decode()}
            status, answer = self.w.ask_until_answered("a", "PUT", f"/v1/files/{digest}", piece)
            self.assertEqual(status, 200, answer)
        request = self.w.request(RANKS, 'cp in.dat "r.$PMI_RANK"', staging={"inputs": [{"name": "in.dat", "digest": digest, "size": len(data)}], "results": ["r.*"]})
        request["argv"][2] = request["argv"][2].replace(">> ran", f">> {self.w.jobs}/ran")  # ranks begin in a folder of their zone
        return request

    def check(self, names, action, hit=1):
        super().check(names, action, hit)
        application = (self.w.folder / "submitted").read_text().split()[-1]
        results = self.w.ask_until_answered("a", "GET", f"/v1/applications/{application}/results")[1]
        self.assertEqual((results["complete"], [file["name"] for file in results["files"]], results["notes"]), (True, [f"r.{rank}" for rank in range(RANKS)], []))
        self.assertEqual(len({file["digest"] for file in results["files"]}), 1)

    def test_each(self):
        for action in ("crash", "error", "stall"):
            self.check_each(points_of("stage", "fetch"), action)


class Storage(Matrix):
    def test_crash(self):
        self.check_each(points_of("store", "audit", "answer"), "crash")
        self.check_each(points_of("store"), "crash", hit=4)

    def test_error(self):
        self.check_each(points_of("store", "audit", "answer"), "error")
        self.check_each(points_of("store"), "error", hit=4)

    def test_stall(self):
        self.check(points_of("store", "audit", "answer"), "stall")


class Steps(Matrix):
    def test_crash(self):
        self.check_each(points_of("step"), "crash")

    def test_error(self):
        self.check_each(points_of("step"), "error")

    def test_stall(self):
        self.check_each(points_of("step"), "stall")


class Registry(Matrix):
    def enrolments(self):
        """Zones that the registry shows."""
        try:
            return sorted(json.loads(entry["text"])["name"] for entry in self.w.ask("registry", "GET", "/v1/zones", identity=self.w.zone_identity("a"))[1]["zones"])
        except (OSError, KeyError, TypeError):
            return []

    def check(self, names, action, hit=1):
        """The zones announce themselves anew to a registry that has a point armed."""
        words = {"stall": f"stall:{int(STALL_S * 1000)}ms"}.get(action, action)
        service, since = self.begin_armed(names[0], ";".join(f"{name}={words}" for name in names))
        for zone in MACHINES:  # each new life announces itself
            self.w.services[zone].kill()
        until(lambda: self.hits(service, since) >= set(names), DEADLINE_S, lambda: f"not hit: {set(names) - self.hits(service, since)}")
        until(lambda: self.enrolments() == sorted(MACHINES), DEADLINE_S, lambda: f"the registry shows {self.enrolments()}")
        request = self.w.request(RANKS, "true")
        self.w.submit(request)
        self.assertEqual(list(self.w.assert_whole([request]).values()), ["completed"])
        self.assertEqual(service.exits, [-signal.SIGKILL] if action == "crash" else [], service.text(since)[-2000:])

    def test_each(self):
        for action in ("crash", "error", "stall"):
            self.check_each(points_of("registry"), action)


class Table(unittest.TestCase):
    def test_every_point_is_of_a_group_that_is_tried(self):
        self.assertEqual({name.split(".")[0] for name in points()}, set(ARMED))

    def test_a_name_that_is_none_refuses_the_start(self):
        with FaultWorld(PROGRAMS, {"a": [1]}) as world:
            world.services["a"].stop()
            for text, words in (("home.nowhere=crash", "no failpoint is named 'home.nowhere'; there are: store.before_write"), ("home.after_end=explode", "not 'explode'"),
                                ("registry.announce_stored=crash", "a zone never comes by it")):
                done = subprocess.run([PROGRAMS + "/zbs-zone", "run", "--config", world.config("a")], capture_output=True, text=True, timeout=20,
                                      env=dict(os.environ, ZBS_FAILPOINTS=text))
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    PROGRAMS, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if arguments[:1] == ["--stall"]:
        STALL_S, arguments = float(arguments[1]), arguments[2:]
    unittest.main(argv=[sys.argv[0], *arguments], verbosity=2)
