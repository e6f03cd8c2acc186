#!/usr/bin/python3 -B
"""A zone that is stopped (SIGSTOP) for three leases and wakes up stale: stop_test.py BIN [--rounds N] [unittest names]

Leases are two seconds here, by configuration. Where the zone is stopped is settled by a failpoint that holds home back there. Afterwards nothing that
was allowed before may be done with the old tokens, what runs goes on, and home goes on in the meantime.
Each case once; with --rounds that many stops, of the same zones, one case after the other and from the first again, up to the first that is not good.
"""
import argparse
import itertools
import json
import os
import signal
import sqlite3
import sys
import time
import unittest

from fault_world import DEADLINE_S, FaultWorld, until

LEASE_S = 2
STALL = "stall:1500ms"  # as long as home may need to be seen there, and zone b to be stopped
MACHINES = {"a": [2], "b": [1, 1]}
PROGRAMS = ""


class Stopped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = FaultWorld(PROGRAMS, MACHINES, f"hold_ttl_s = {LEASE_S}\nlaunch_window_s = {LEASE_S}\nlease_s = {LEASE_S}\nrenew_s = 0.3\n").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.w.__exit__(None)

    def home_stands_at(self, point, request):
        """`request` is submitted, and home has come to `point`, where it stays for a while."""
        home = self.w.services["a"]
        home.stop(signal.SIGKILL)
        since = home.size()
        home.start(f"{point}={STALL}")
        until(lambda: " listening on " in home.text(since), DEADLINE_S, "home does not start")
        until(self.w.all_met, DEADLINE_S, "home does not find zone b")
        self.w.submit(request)
        until(lambda: "failpoint_hit" in home.text(since), DEADLINE_S, lambda: f"home does not come there: {home.text(since)}")

    def part_in_b(self, application):
        """Part id, token and state of the newest part of `application` in zone b."""
        with sqlite3.connect(f"file:{self.w.folder}/b/zone.db?mode=ro", uri=True, timeout=10) as database:
            records = [json.loads(row[0]) for row in database.execute("SELECT record FROM part ORDER BY id")]
        database.close()
        mine = [record for record in records if record["request"]["application"] == application]
        return mine[-1]["request"]["id"], mine[-1]["status"]["token"], mine[-1]["status"]["state"]

    def stop_for_three_leases(self, zone, meanwhile=lambda: None):
        self.w.services[zone].kill(signal.SIGSTOP)
        end = time.monotonic() + 3 * LEASE_S
        try:
            meanwhile()
            time.sleep(max(0, end - time.monotonic()))  # the fault's own time
        finally:
            self.w.services[zone].kill(signal.SIGCONT)

    def run_at_home(self):
        """Work that does not need the zone that is stopped."""
        request = self.w.request(1, "true", zones=["a"])
        self.w.submit(request)
        self.assertEqual(self.w.wait_final(request["id"])["state"], "completed")

    def assert_token_is_old(self, part, token):
        """Neither commit nor launch with it."""
        me = self.w.zone_identity("a")
        status, answer = self.w.ask("b", "POST", f"/v1/parts/{part}/commit", {"token": token}, me)
        self.assertEqual(status, 409, answer)
        status, answer = self.w.ask("b", "POST", f"/v1/parts/{part}/launch",
                                    {"token": token, "operation": "run-" + part, "options": [{"name": "control-port", "value": "127.0.0.1:1"}],
                                     "proxies": [{"id": 0, "machine": "n0"}], "profile": False, "preload": False}, me)
        self.assertEqual(status, 409, answer)


class WhileHeld(Stopped):
    def test_peer_is_stopped_while_it_holds(self):
        request = self.w.request(3, "true")
        self.home_stands_at("home.before_held", request)
        part, token, state = self.part_in_b(request["id"])
        self.assertEqual(state, "held")
        self.stop_for_three_leases("b", self.run_at_home)
        self.assertEqual(self.w.assert_whole([request])[request["id"]], "completed")
        newer, newer_token, _ = self.part_in_b(request["id"])
        self.assertNotEqual(part, newer, "the part that was stopped was used after all")
        self.assertGreater(newer_token, token)
        self.assert_token_is_old(part, token)

    def test_peer_is_stopped_when_it_has_committed(self):
        request = self.w.request(3, "true")
        self.home_stands_at("home.before_committed", request)
        part, token, state = self.part_in_b(request["id"])
        self.assertEqual(state, "committed")
        # The committed part has the processors of home until zone b answers: home accepts the work, and runs it afterwards.
        work = self.w.request(1, "true", zones=["a"])
        self.stop_for_three_leases("b", lambda: self.w.submit(work))
        ended = self.w.assert_whole([request, work])
        self.assertEqual(set(ended.values()), {"completed"})
        self.assertNotEqual(self.part_in_b(request["id"])[0], part, "a part was launched after its launch window")
        self.assert_token_is_old(part, token)

    def test_home_is_stopped_while_its_part_is_held(self):
        request = self.w.request(3, "true")
        self.home_stands_at("home.before_held", request)
        part, token, _ = self.part_in_b(request["id"])
        self.stop_for_three_leases("a", lambda: until(lambda: self.part_in_b(request["id"])[2] == "expired", 3 * LEASE_S, "the hold outlives its lease"))
        self.assertEqual(self.w.assert_whole([request])[request["id"]], "completed")
        self.assertNotEqual(self.part_in_b(request["id"])[0], part, "the hold that had expired was used after all")
        self.assert_token_is_old(part, token)


class WhileRunning(Stopped):
    def test_peer_is_stopped_while_its_part_runs(self):
        request = self.w.request(3, f"sleep {2 * LEASE_S}")
        self.w.submit(request)
        until(lambda: self.w.state_of(request["id"])["state"] == "running", DEADLINE_S, "the job does not run")
        self.stop_for_three_leases("b", lambda: self.assertEqual(self.w.wait_final(request["id"])["state"], "completed"))
        self.assertEqual(self.w.assert_whole([request])[request["id"]], "completed")

    def test_home_is_stopped_while_the_job_runs(self):
        request = self.w.request(3, f"sleep {2 * LEASE_S}")
        self.w.submit(request)
        until(lambda: self.w.state_of(request["id"])["state"] == "running", DEADLINE_S, "the job does not run")
        self.stop_for_three_leases("a")
        self.assertEqual(self.w.assert_whole([request])[request["id"]], "completed")


def rounds_of(names, rounds):
    """A suite of so many cases, in turn; None: each once."""
    def flat(tests):
        return itertools.chain.from_iterable(flat(test) if isinstance(test, unittest.TestSuite) else [test] for test in tests)
    cases = [(type(test), test.id().rsplit(".", 1)[1]) for test in flat(unittest.defaultTestLoader.loadTestsFromNames(names, sys.modules["__main__"]))]
    return unittest.TestSuite(kind(case) for kind, case in itertools.islice(itertools.cycle(cases), rounds or len(cases)))


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("programs")
    options.add_argument("--rounds", type=int)
    options.add_argument("names", nargs="*", default=["WhileHeld", "WhileRunning"])
    chosen = options.parse_args()
    PROGRAMS = os.path.abspath(chosen.programs)
    result = unittest.TextTestRunner(verbosity=2, failfast=chosen.rounds is not None).run(rounds_of(chosen.names, chosen.rounds))
    sys.exit(not result.wasSuccessful())
