"""A network between home and its peer that delays, drips, resets, half-closes, truncates or swallows: chaos_test.py BIN [unittest names]

The proxy stands before zone b and does not look into TLS; so home is held back by a failpoint right before it calls, and the network is bad from
then on: during hold, commit, or launch. While it is bad, work that does not need zone b runs through. Then it is good again, and the application must come to exactly one end, with nothing left in either zone.
"""
import os
import signal
import sys
import time
import unittest

from fault_world import DEADLINE_S, MODES, FaultWorld, until

PROGRAMS = ""
MACHINES = {"a": [2], "b": [4]}
CALLS = {"hold": "home.after_planned", "commit": "home.after_held", "launch": "home.launcher_started"}
KINDS = {"slow": ("delay", "drip"), "closed": ("reset", "half_close"), "cut": ("truncate", "refuse"), "lost_there": ("hole_there",), "lost_back": ("hole_back",)}
BAD_S = {"hold": 2, "commit": 6, "launch": 2}  # for commit longer than its deadline (5 s); the others' is 15 s, and what was swallowed is waited for as long


class Chaos(unittest.TestCase):
    call = None

    @classmethod
    def setUpClass(cls):
        if cls.call is None:
            raise unittest.SkipTest("only its cases are run")
        cls.w = FaultWorld(PROGRAMS, MACHINES, "hold_ttl_s = 8\nlaunch_window_s = 20\nlease_s = 4\nrenew_s = 0.3\n", proxied="b").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.w.__exit__(None)

    def check_each(self, modes):
        for mode in modes:
            with self.subTest(mode):
                self.check(mode)

    def test_slow(self):
        self.check_each(KINDS["slow"])

    def test_closed(self):
        self.check_each(KINDS["closed"])

    def test_cut(self):
        self.check_each(KINDS["cut"])

    def test_lost_there(self):
        self.check_each(KINDS["lost_there"])

    def test_lost_back(self):
        self.check_each(KINDS["lost_back"])

    def check(self, mode):
        home, proxy = self.w.services["a"], self.w.proxy
        home.stop(signal.SIGKILL)
        since = home.size()
        home.start(f"{CALLS[self.call]}=stall:500ms")
        until(lambda: " listening on " in home.text(since), DEADLINE_S, "home does not start")
        until(self.w.all_met, DEADLINE_S, "home does not find zone b")
        request = self.w.request(5, "true", zones=["a", "b"])
        self.w.submit(request)
        until(lambda: "failpoint_hit" in home.text(since), DEADLINE_S, lambda: f"home does not come there: {home.text(since)}")
        met, end = proxy.met, time.monotonic() + BAD_S[self.call]
        proxy.mode = mode
        try:
            beside = self.w.request(1, "true", zones=["a"])
            self.w.submit(beside)
            self.assertEqual(self.w.wait_final(beside["id"])["state"], "completed")
            until(lambda: proxy.met > met, DEADLINE_S, "nothing came by the proxy")
            time.sleep(max(0, end - time.monotonic()))  # the fault's own time
        finally:
            proxy.mode = "pass"
        states = self.w.assert_whole([request, beside])
        if self.call != "launch" or mode == "delay":
            self.assertEqual(states[request["id"]], "completed", self.w.state_of(request["id"]))
        else:
            self.assertIn(states[request["id"]], ("completed", "failed"))


class Hold(Chaos):
    call = "hold"


class Commit(Chaos):
    call = "commit"


class Launch(Chaos):
    call = "launch"


if __name__ == "__main__":
    PROGRAMS = os.path.abspath(sys.argv[1])
    assert sorted(sum(KINDS.values(), ())) == sorted(MODES), "a mode of the proxy is in no test"
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
