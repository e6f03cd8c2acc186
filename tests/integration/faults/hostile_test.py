"""A peer that lies, with the true keys of an accepted zone: hostile_test.py BIN [unittest names]

Zone b is replaced by a service of the test's own at its address. It says it has most room, so that home asks it first, and then answers one kind of call
with something that no honest zone says. Home's call has to end by its deadline, the organisation's degree of trust has to fall, and nothing else may
be affected: the job runs in the zones that are left. And the other way round: a home that uses tokens that are not, or not any more, its own.
"""
import json
import os
import signal
import sys
import time
import unittest

import fault_world
from fault_world import DEADLINE_S, FaultWorld, until

sys.path.insert(0, str(fault_world.HERE.parent / "trust"))

from stub_service import StubService  # noqa: E402

PROGRAMS = ""
MACHINES = {"a": [1], "b": [8], "c": [1, 1]}
LARGE = 400_000_000


def large(stream):
    """400 MB of good JSON, if it were ever read."""
    stream.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {LARGE}\r\n\r\n{{\"reason\":\"".encode())
    for _ in range(LARGE // 1_000_000):
        stream.write(b"x" * 1_000_000)


def drip(stream):
    stream.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(120):
        stream.write(b" ")
        stream.flush()
        time.sleep(1)  # the fault's own time


class Liar:
    """Zone b as it might be: honest but for `lies`, by kind of call."""

    def __init__(self, world):
        self.world, self.lies, self.answered, self.parts = world, {}, 0, {}
        self.service = StubService("127.0.0.1", world.ports["b"], world.zone_identity("b"), self.answer)

    def status(self, part, state, **more):
        ranks = self.parts.get(part, {}).get("ranks", [0])
        return {"id": part, "zone": "b", "state": state, "token": 7, "expires_in_s": 5, "reason": "", "can_profile": False, "has_profile": False,
                "assignment": [{"rank": rank, "machine": "n0", "processor": number} for number, rank in enumerate(ranks)]} | more

    def answer(self, method, path, body):
        kind, part = self.kind(method, path, body)
        honest = {"capacity": lambda: (200, {"zone": "b", "processors": 8, "total_processors": 8, "speed_sum": 8, "speed_mean": 1, "speed_variance": 0, "largest_machine": 8,
                                             "within_zone": {"delay_s": 0.00005, "bandwidth_Bps": 1e9}, "links": []}),
                  "hold": lambda: (201, self.status(part, "held")), "commit": lambda: (200, self.status(part, "committed")),
                  "launch": lambda: (200, self.status(part, "running")), "status": lambda: (200, self.status(part, "running")),
                  "release": lambda: (200, self.status(part, "released"))}
        if kind not in honest:
            return 404, {"type": "about:blank", "title": "not found", "status": 404, "detail": "no such thing", "code": "not_found"}
        if kind in self.lies:
            self.answered += 1
            return self.lies[kind](part)
        return honest[kind]()

    def kind(self, method, path, body):
        if path == "/v1/capacity":
            return "capacity", None
        words = path.split("?")[0].strip("/").split("/")
        if words[:2] != ["v1", "parts"]:
            return path, None
        if len(words) == 2:
            request = json.loads(body)
            self.parts[request["id"]] = request
            return "hold", request["id"]
        if method == "DELETE":
            return "release", words[2]
        return (words[3] if len(words) > 3 else "status"), words[2]

    def close(self):
        self.service.close()


class Lying(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = FaultWorld(PROGRAMS, MACHINES, "hold_ttl_s = 5\nlaunch_window_s = 5\n").__enter__()
        cls.addClassCleanup(cls.w.__exit__, None)
        # Zone b has asked a, too: without that a has no opinion of it that could fall.
        until(lambda: cls.w.ask_until_answered("a", "GET", "/v1/peerings/org-b", identity=cls.w.operator("a"))[1]["peerings"], DEADLINE_S,
              "zone a has not heard of org-b")
        cls.w.services["b"].stop(signal.SIGKILL)
        cls.liar = Liar(cls.w)
        cls.addClassCleanup(cls.liar.close)

    def trust(self, zone="a", organisation="org-b"):
        status, answer = self.w.ask_until_answered(zone, "GET", f"/v1/peerings/{organisation}", identity=self.w.operator(zone))
        self.assertEqual(status, 200, answer)
        return answer["peerings"][0]["trust"]["score"]

    def check(self, lies, trust_falls=True):
        self.liar.lies, self.liar.answered = lies, 0
        before = self.trust()
        # A zone that has lost its trust is asked only where the others have too little room.
        work, request, beside = self.w.request(1, "sleep 2", zones=["a"]), self.w.request(3, "true"), self.w.request(1, "true", zones=["c"])
        self.w.submit(work)
        until(lambda: self.w.state_of(work["id"])["state"] == "running", DEADLINE_S, "the work beside does not run")
        self.w.submit(request)
        until(lambda: self.liar.answered > 0, DEADLINE_S, lambda: f"zone b is not asked: {self.w.state_of(request['id'])}")
        self.w.submit(beside)  # while home waits for the liar
        self.assertEqual(self.w.wait_final(beside["id"], 30)["state"], "completed")
        self.assertEqual(self.w.wait_final(request["id"])["state"], "completed", self.w.state_of(request["id"]))
        if trust_falls:
            until(lambda: self.trust() < before, 20, lambda: f"trust is {self.trust()} as before ({before})")
        self.assertEqual(self.w.services["a"].exits, [])


class Lies(Lying):
    def test_hold(self):
        status = self.liar.status
        cases = {"wrong types": lambda part: (201, status(part, "held", token="seven")), "no JSON": lambda part: (201, lambda stream: stream.write(
                     b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{held")),
                 "unknown state": lambda part: (201, status(part, "granted")), "another part": lambda part: (201, status("01ARZ3NDEKTSV4RRFFQ69G5FAV", "held")),
                 "ranks of nobody": lambda part: (201, status(part, "held", assignment=[{"rank": 99, "machine": "n0", "processor": 0}])),
                 "one processor twice": lambda part: (201, status(part, "held", assignment=[{"rank": rank, "machine": "n0", "processor": 0} for rank in self.liar.parts[part]["ranks"]])),
                 "400 MB": lambda part: (201, large)}
        for name, lie in cases.items():
            with self.subTest(name):
                self.check({"hold": lie})

    def test_capacity_of_wrong_types(self):
        self.check({"capacity": lambda _: (200, {"zone": "b", "processors": "many"})})

    def test_holds_and_then_denies(self):
        denied = (409, {"type": "about:blank", "title": "conflict", "status": 409, "detail": "no such hold", "code": "conflict"})
        self.check({"commit": lambda _: denied})  # while its hold still ran

    def test_denies_with_a_reason(self):
        denied = (403, {"type": "about:blank", "title": "denied", "status": 403, "detail": "suspended", "code": "denied"})
        self.check({"commit": lambda _: denied}, trust_falls=False)  # its operator may have taken the right back

    def test_commits_another_part(self):
        self.check({"commit": lambda _: (200, self.liar.status("01ARZ3NDEKTSV4RRFFQ69G5FAV", "committed"))})


class Launches(Lying):
    """A zone that commits its part and does not start it: no rank has begun anywhere, so the job goes to the zones that are left."""

    def test_ten_jobs_through_a_zone_that_commits_and_then_knows_nothing(self):
        unknown = (404, {"type": "about:blank", "title": "not found", "status": 404, "detail": "no part", "code": "not_found"})
        self.liar.lies, self.liar.answered = {"launch": lambda _: unknown}, 0
        before = self.trust()
        requests = [self.w.request(3, "true") for _ in range(10)]
        for request in requests:
            self.w.submit(request)
        for request in requests:
            end = self.w.wait_final(request["id"])
            self.assertEqual(end["state"], "completed", end)
        self.assertGreater(self.liar.answered, 0)
        self.assertLess(self.liar.answered, 10, "it is left out for a time by all jobs, so not each of them meets it")
        until(lambda: self.trust() < before, 20, lambda: f"trust is {self.trust()} as before ({before})")


class EmptyPromises(Lying):
    def test_says_running_and_starts_nothing(self):
        self.check({"launch": lambda part: (200, self.liar.status(part, "running"))}, trust_falls=False)


class SlowAnswers(Lying):
    def test_capacity_of_400_mb(self):
        self.check({"capacity": lambda _: (200, large)})

    def test_a_byte_a_second(self):
        self.check({"hold": lambda _: (201, drip)})  # mildly: it may be the network's fault


class Tokens(unittest.TestCase):
    """A home that is accepted, against zone b, which is honest."""

    @classmethod
    def setUpClass(cls):
        cls.w = FaultWorld(PROGRAMS, {"a": [1], "b": [2]}, "hold_ttl_s = 1\n").__enter__()
        cls.addClassCleanup(cls.w.__exit__, None)

    trust = Lies.trust

    def hold(self, part):
        body = {"id": part, "application": part, "user": "spiffe://org-a/user/ana", "home": "a", "ranks": [0], "graph": {"compute": [1], "edges": []}, "outside": [],
                "walltime_s": 60, "seed": 1}
        status, answer = self.w.ask("b", "POST", "/v1/parts", body, self.w.zone_identity("a"))
        self.assertEqual(status, 201, answer)
        return answer

    def commit(self, part, token):
        return self.w.ask("b", "POST", f"/v1/parts/{part}/commit", {"token": token}, self.w.zone_identity("a"))

    def test_yesterdays_token(self):
        old = self.hold(fault_world.fresh_id("spiffe://org-a/zone/a"))
        until(lambda: self.w.held()["b"] == 0, DEADLINE_S, "the hold does not expire")
        self.assertEqual(self.commit(old["id"], old["token"])[0], 409)
        new = self.hold(fault_world.fresh_id("spiffe://org-a/zone/a"))
        before = self.trust("b", "org-a")
        self.assertEqual(self.commit(new["id"], old["token"])[0], 409)
        until(lambda: self.trust("b", "org-a") < before, 20, "a token of another hold costs no trust")
        self.assertEqual(self.commit(new["id"], new["token"])[0], 200)
        self.w.ask("b", "DELETE", f"/v1/parts/{new['id']}", identity=self.w.zone_identity("a"))


if __name__ == "__main__":
    PROGRAMS = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
