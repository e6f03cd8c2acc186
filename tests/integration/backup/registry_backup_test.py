"""A registry with three zones: backup under load, kill -9, restore, start; the zones do the rest by themselves.

usage: registry_backup_test.py BIN [unittest arguments]
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from fault_world import DEADLINE_S, FaultWorld, until  # noqa: E402
from identities import own  # noqa: E402

MACHINES = {"a": [2], "b": [2], "c": [2]}
PROGRAMS = ""


class Tokens(threading.Thread):
    """Something to write for the registry, as fast as it goes."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.world, self.over, self.made, self.fault = world, threading.Event(), 0, None

    def run(self):
        try:
            while not self.over.is_set():
                answer = self.world.ask("registry", "POST", "/v1/enrolment-tokens", {"lifetime_s": 60}, own(self.world.folder / "registry/identity/operator"))
                assert answer[0] in (201, 429), answer
                self.made += 1
        except BaseException as fault:
            self.fault = fault

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join(DEADLINE_S)


class RegistryBackup(unittest.TestCase):
    def setUp(self):
        self.w = FaultWorld(PROGRAMS, MACHINES, "lease_s = 2\nrenew_s = 0.3\n").__enter__()
        self.addCleanup(self.w.__exit__, None)
        self.state, self.backup = self.w.folder / "registry", self.w.folder / "backup.db"
        until(lambda: len(self.listed()) == 3, DEADLINE_S, "not all zones are listed")

    def operate(self, *words, code=0):
        done = subprocess.run([self.w.programs / "zbs-registry", *words, "--state", self.state], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def listed(self):
        """Zone -> when it signed the entry that the registry shows."""
        try:
            status, answer = self.w.ask("registry", "GET", "/v1/zones", identity=self.w.zone_identity("a"))
        except (OSError, http.client.HTTPException):
            return {}
        if status != 200:
            return {}
        entries = [json.loads(entry["text"]) for entry in answer["zones"]]
        return {entry["name"]: entry["issued_us"] for entry in entries}

    def start(self):
        registry = self.w.services["registry"]
        since = registry.size()
        registry.start()
        until(lambda: " listening on " in registry.text(since), DEADLINE_S, lambda: registry.text(since))

    def wait_for_newer(self, zones, before):
        """Until these are listed, each with a newer entry; none is ever shown with an older one."""
        def all_there():
            listed = self.listed()
            for zone, issued in listed.items():
                self.assertGreater(issued, before[zone], f"the entry of zone {zone} is of the backup")
            return sorted(listed) == sorted(zones)
        until(all_there, DEADLINE_S, lambda: f"listed are {self.listed()}: {self.w.logs()}")

    def test_into_an_empty_folder_and_the_zones_find_each_other_again(self):
        before = self.listed()
        with Tokens(self.w) as load:
            until(lambda: load.made >= 5, DEADLINE_S, "no load")
            self.assertIn("3 zones, 3 organisations", self.operate("backup", str(self.backup)))
            self.assertIn("exists", self.operate("backup", str(self.backup), code=8))
            made = load.made
            until(lambda: load.made > made, DEADLINE_S, "the registry does not go on")
        self.assertIsNone(load.fault)
        self.assertEqual(stat.S_IMODE(self.backup.stat().st_mode), 0o600)
        self.assertIn("stop the registry first", self.operate("restore", str(self.backup), code=8))

        self.w.services["registry"].stop(signal.SIGKILL)
        self.state.rename(self.w.folder / "lost")
        self.state.mkdir(mode=0o700)
        shutil.copytree(self.w.folder / "lost/identity", self.state / "identity")
        said = self.operate("restore", str(self.backup))
        self.assertRegex(said, "[0-9]+ open tokens work no more")
        self.assertIn("look at 'zbs-registry zone list'", said)
        self.start()
        self.wait_for_newer(MACHINES, before)

        home = self.w.services["a"]  # forgets the zones that it knew; the registry has to list them
        home.stop()
        with sqlite3.connect(self.w.folder / "a/zone.db") as database:
            self.assertEqual(database.execute("DELETE FROM peer").rowcount, 2)
        database.close()
        home.start()
        until(self.w.all_met, DEADLINE_S, lambda: f"zone a does not find the others: {self.w.logs()}")
        self.assertIn("good: ", self.operate("audit", "verify"))
        self.assertIn("restoreBackup", self.operate("audit", "list", "--limit", "1000"))

    def test_in_place_what_was_removed_since_stays_removed_and_tokens_are_void(self):
        token = re.search(r"zbs-enrol-1\+\S+", self.operate("token", "--for", "org-c")).group()
        before = self.listed()
        self.operate("backup", str(self.backup))
        self.operate("zone", "remove", "c")
        self.w.services["registry"].stop(signal.SIGKILL)
        (self.state / "registry.db.restoring").touch()  # as a restore leaves it that the power ended
        self.assertIn("zbs-registry restore", self.operate("run", code=8))
        said = self.operate("restore", str(self.backup))
        self.assertIn("zone c was removed since the backup", said)
        self.assertIn("in place goes on", said)
        self.assertEqual(len(list(self.state.glob("registry.db.before-restore-*[0-9]"))), 1)
        self.start()
        self.wait_for_newer("ab", before)

        third = self.w.services["c"]
        third.stop()
        enrol = [self.w.programs / "zbs-zone", "enrol", token, "--config", self.w.config("c")]
        subprocess.run(enrol, capture_output=True, timeout=DEADLINE_S, check=False)  # only noted: it is used at the start
        since = third.size()
        third.start()
        until(lambda: "enrolment_failed" in third.text(since), DEADLINE_S, lambda: third.text(since))
        self.assertEqual(sorted(self.listed()), ["a", "b"])


if __name__ == "__main__":
    PROGRAMS = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
