"""Real jobs that wait in the queue of a real zone, under EASY backfilling: queue_test.py BIN [unittest names]

A job that waits has a position; a short job passes a wide one, a long one does not; kill -9 of the zone loses nobody's place; and the zone's own log, decided again by
`zbs queue replay`, gives the same decisions; the steps of its parts, taken again by `zbs-zone replay`, end in the same states.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from fault_world import DEADLINE_S, FaultWorld, until  # noqa: E402

PROGRAMS = ""
SETTINGS = 'queue = "easy"\nqueue_log = "{folder}/{zone}.queue"\npart_log = "{folder}/{zone}.parts"\n'


TIMING = "hold_ttl_s = 10\nlaunch_window_s = 10\n"  # both count for how long a job may have its processors: a short one must be short beside them


class Queue(unittest.TestCase):
    def setUp(self):
        self.w = FaultWorld(PROGRAMS, {"a": [2], "b": [2]}, TIMING, settings=SETTINGS).__enter__()
        self.addCleanup(self.w.__exit__, None)
        self.sent = []

    def submit(self, ranks, script="true", **more):
        request = self.w.request(ranks, script, **{"zones": ["a"], **more})
        self.w.submit(request)
        self.sent.append(request)
        return request["id"]

    def gate(self, name):
        """A script that goes on once the test opens the gate."""
        return f"while [ ! -e {name} ]; do sleep 0.05; done"

    def open(self, name):
        (self.w.jobs / name).touch()

    def until_state(self, identifier, state):
        until(lambda: self.w.state_of(identifier)["state"] == state, DEADLINE_S, lambda: self.w.state_of(identifier))

    def outlook(self, identifier):
        """Its position in the queue as its zone reports it; None if it does not wait there."""
        parts = self.w.state_of(identifier).get("parts", [])
        return parts[0].get("queue") if parts else None

    def until_waiting(self, identifier, place):
        until(lambda: (self.outlook(identifier) or {}).get("place") == place, DEADLINE_S, lambda: self.w.state_of(identifier))

    def replay(self, zone):
        done = subprocess.run([self.w.programs / "zbs", "-o", "json", "queue", "replay", self.w.folder / f"{zone}.queue"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def replay_parts(self, zone):
        done = subprocess.run([self.w.programs / "zbs-zone", "replay", self.w.folder / f"{zone}.parts"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^[1-9]\d* events of [1-9]\d* parts and [1-9]\d* applications, all states equal\n$")

    def test_short_job_passes_a_wide_one_and_a_long_one_does_not(self):
        first = self.submit(1, self.gate("first"), walltime_s=60)
        self.until_state(first, "running")
        wide = self.submit(2, walltime_s=30)
        self.until_waiting(wide, 1)
        outlook = self.outlook(wide)
        self.assertEqual(outlook["waits_for"], "turn")
        self.assertGreater(outlook["start_in_s"], 30)
        self.assertIn("promised_in_s", outlook)
        long_one = self.submit(1, walltime_s=1000)
        self.until_waiting(long_one, 2)
        short = self.submit(1, walltime_s=5)
        self.until_state(short, "completed")
        self.assertEqual(self.outlook(wide)["place"], 1)
        self.assertEqual(self.w.ran(), [first, short])
        self.open("first")
        states = self.w.assert_whole(self.sent)
        self.assertEqual(set(states.values()), {"completed"})
        self.assertEqual(self.w.ran(), [first, short, wide, long_one])
        self.assertGreaterEqual(self.replay("a")["starts"], 4)
        self.replay_parts("a")

    def test_kill_of_the_zone_keeps_the_line(self):
        first = self.submit(2, self.gate("first"))
        self.until_state(first, "running")
        line = []
        for place in range(1, 4):
            line.append(self.submit(2))
            self.until_waiting(line[-1], place)
        self.w.services["a"].kill()
        until(lambda: self.w.services["a"].lives == 2, DEADLINE_S, "it is not started again")
        for place, identifier in enumerate(line, 1):
            self.until_waiting(identifier, place)
        self.open("first")
        self.assertEqual(set(self.w.assert_whole(self.sent).values()), {"completed"})
        self.assertEqual(self.w.ran(), [first, *line])
        self.replay("a")
        self.replay_parts("a")

    def test_other_zones_are_told_the_start_only_and_what_is_cancelled_leaves(self):
        first = self.submit(2, self.gate("first"), zones=["b"])
        self.until_state(first, "running")
        waiting = self.submit(2, zones=["b"])
        until(lambda: (self.outlook(waiting) or {}).get("start_in_s"), DEADLINE_S, lambda: self.w.state_of(waiting))
        self.assertEqual(set(self.outlook(waiting)), {"start_in_s"})
        after = self.submit(2, zones=["b"])
        until(lambda: self.outlook(after), DEADLINE_S, lambda: self.w.state_of(after))
        self.assertEqual(self.w.ask("a", "DELETE", f"/v1/applications/{waiting}")[0], 200)
        self.until_state(waiting, "cancelled")
        self.open("first")
        self.until_state(after, "completed")
        self.w.assert_whole(self.sent)
        self.assertEqual(self.w.ran(), [first, after])


if __name__ == "__main__":
    PROGRAMS = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=2)
