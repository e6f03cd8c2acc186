"""A federation over a network that loses every tenth packet, falls apart for 20 s during a job, and loses a host for good: network_test.py BIN [--seed S] [unittest names]

Zones and registry are in network namespaces of their own (lossy_network.py); skipped where this process may not make any.
"""
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from fault_world import DEADLINE_S, FaultWorld, LossyNetwork, until, why_no_network

PROGRAMS, SEED = "", random.SystemRandom().randrange(1_000_000)
SKIPPED = 77  # as CMakeLists.txt tells ctest
MACHINES = {"a": [2], "b": [2], "c": [2]}
LOSS, DELAY_S = 0.1, (0.001, 0.02)
PARTITION_S, REUNION_S = 20, 10
LOSS_NOTICED_S = 60


class OverNetwork(unittest.TestCase):
    loss = 0

    @classmethod
    def setUpClass(cls):
        print(f"seed {SEED}", flush=True)
        cls.network = LossyNetwork(["test", "registry", *MACHINES], SEED, spared=["test"])
        cls.addClassCleanup(cls.network.close)
        cls.network.hosts["test"].join()
        cls.w = FaultWorld(PROGRAMS, MACHINES, "hold_ttl_s = 10\nlaunch_window_s = 30\n", network=cls.network).__enter__()
        cls.addClassCleanup(cls.w.__exit__, None)
        cls.network.loss, cls.network.delay_s = cls.loss, DELAY_S

    def tearDown(self):
        self.network.partition()

    def begin_everywhere(self, seconds, **more):
        """A job over all zones whose ranks have begun, each for so long."""
        for begun in self.w.jobs.glob("begun.*"):
            begun.unlink()
        request = self.w.request(5, f"touch begun.$PMI_RANK; sleep {seconds}", **more)
        self.w.submit(request)
        # The state is "running" once every zone has its proxy; later messages of MPICH to them would wait out a cut, and at worst the walltime.
        until(lambda: len(list(self.w.jobs.glob("begun.*"))) == 5, DEADLINE_S, lambda: self.w.state_of(request["id"]))
        return request


class Network(OverNetwork):
    loss = LOSS

    def test_jobs_run_with_loss(self):
        requests = [self.w.request(3, "true") for _ in range(5)]
        for request in requests:
            self.w.submit(request)
        states = self.w.assert_whole(requests, 3 * DEADLINE_S)
        self.assertEqual(set(states.values()), {"completed"}, [self.w.state_of(identifier)["reason"] for identifier in states])
        self.assertGreater(self.network.lost, 0, "nothing was lost")

    def test_partition_during_a_run(self):
        """What runs goes on; what needs the other side waits for it; zones that meet again work together within 10 s."""
        # The launcher's own connections are MPICH's: what they lose on their way is sent again after up to as long a time as it was cut.
        request = self.begin_everywhere(1.6 * PARTITION_S)
        lost, end = self.network.lost, time.monotonic() + PARTITION_S
        self.network.partition("a")
        waiting = self.w.request(1, "true", zones=["b", "c"])  # cannot even be asked for
        self.w.submit(waiting)
        time.sleep(max(0, end - time.monotonic()))  # the fault's own time
        self.assertGreater(self.network.lost, lost, "nothing was cut")
        self.assertNotIn(self.w.state_of(request["id"])["state"], ("failed", "cancelled", "rejected"))
        self.network.partition()
        until(lambda: self.w.state_of(waiting["id"])["state"] not in ("accepted", "planned"), REUNION_S, lambda: self.w.state_of(waiting["id"]))
        states = self.w.assert_whole([request, waiting], 3 * DEADLINE_S)
        self.assertEqual(states[waiting["id"]], "completed", self.w.state_of(waiting["id"])["reason"])
        if states[request["id"]] != "completed":  # MPICH's own connections have no second try
            self.assertIn("a connection to the MPI launcher was lost", self.w.state_of(request["id"])["reason"])


class LostHost(OverNetwork):
    def test_zone_that_is_lost_for_good_during_a_run(self):
        """Nothing of its host answers any more: the job ends everywhere within a minute, and the next one runs on the zones that are left."""
        request = self.begin_everywhere(600, walltime_s=900)
        until(lambda: self.w.state_of(request["id"])["state"] == "running", DEADLINE_S, lambda: self.w.state_of(request["id"]))
        self.network.partition("b")  # first: a host without power closes no connection
        lost = time.monotonic()
        self.w.services["b"].stop(signal.SIGKILL)
        for pid in self.network.hosts["b"].processes():
            os.kill(pid, signal.SIGKILL)
        status = self.w.wait_final(request["id"], LOSS_NOTICED_S)
        took = time.monotonic() - lost
        self.assertEqual(status["state"], "failed", status)
        self.assertIn("zone b", status["reason"])
        until(lambda: not self.w.job_processes(), DEADLINE_S, lambda: f"processes left: {self.w.job_processes()}")
        until(lambda: [self.w.held()[zone] for zone in "ac"] == [0, 0], DEADLINE_S, lambda: f"processors still held: {self.w.held()}")
        print(f"the job ended after {took:.0f} s: {status['reason']}", flush=True)
        following = self.w.request(4, "true")
        self.w.submit(following)
        self.assertEqual(self.w.wait_final(following["id"])["state"], "completed", self.w.state_of(following["id"]))


if __name__ == "__main__":
    PROGRAMS, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if arguments[:1] == ["--seed"]:
        SEED, arguments = int(arguments[1]), arguments[2:]
    if why := why_no_network():
        if os.geteuid() != 0 and not os.environ.get("ZBS_TEST_NETWORK") and subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0:
            os.execvpe("unshare", ["unshare", "-rn", sys.executable, "-B", *sys.argv], dict(os.environ, ZBS_TEST_NETWORK="1"))
        print("skipped: no network namespaces here: " + why)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *arguments], verbosity=2)
