"""The registry is for finding each other. While it is down, zones that know each other go on; when it is back, they enrol again.

usage: registry_down_test.py BIN SOURCE_DIR [unittest arguments]
"""
import os
import signal
import sys
import time
import unittest

from live import DEADLINE_S, ZONES, Live, federation, until

LEASE_S = 1  # of every zone, so that several pass
FAILURES = ("enrolment_failed", "lease_not_renewed")


class RegistryDown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.f.restart(ZONES, lambda text: text + f"lease_s = {LEASE_S}\nrenew_s = 0.3\n")
        until(lambda: cls.f.zbs("run", "-n", "12", "--", "/bin/true").returncode == 0, DEADLINE_S, "the zones do not find each other")

    def setUp(self):
        until(lambda: all(self.is_enrolled(zone) for zone in ZONES), DEADLINE_S, "not all zones are enrolled")

    def is_enrolled(self, zone):
        """By the last word of its log."""
        words = {sign: self.f.log_of(zone).rfind(sign) for sign in (" enrolled ", "listening on", *FAILURES)}
        return max(words, key=words.get) == " enrolled "

    def stop_registry(self):
        """Without its keys it cannot be started again by quickstart."""
        identity, hidden = self.f.state / "registry/identity", self.f.state / "registry/hidden"
        identity.rename(hidden)
        self.addCleanup(lambda: hidden.exists() and hidden.rename(identity))
        os.kill(self.f.service("zbs-registry"), signal.SIGKILL)
        until(lambda: "needs keys" in self.f.log_of("registry"), DEADLINE_S, "the registry was started again")
        return lambda: hidden.rename(identity)

    def count(self, sign):
        return sum(self.f.log_of(zone).count(sign) for zone in ZONES)

    def listed(self):
        """Zones that the registry shows to zone a."""
        client = self.f.open_registry(self.f.zone_identity("a"))
        try:
            return client.ask("GET", "/v1/zones")[1].decode()
        except OSError:
            return ""
        finally:
            client.close()

    def all_are_listed(self):
        listed = self.listed()
        return all(f"org-{zone}" in listed for zone in ZONES)

    def test_known_peers_go_on_for_many_leases_and_enrol_when_it_is_back(self):
        enrolled = self.count(" enrolled ")
        bring_back = self.stop_registry()
        end, runs = time.monotonic() + 4 * LEASE_S, 0
        while time.monotonic() < end:
            done = self.f.zbs("run", "-n", "12", "--", "/bin/sh", "-c", "echo $ZBS_ZONE")
            self.assertEqual((done.returncode, sorted(set(done.stdout.split()))), (0, list(ZONES)), done.stderr)
            runs += 1
        print(f"{runs} runs over three zones while {4 * LEASE_S} s of leases of {LEASE_S} s passed", flush=True)
        for zone in ZONES:
            log = [line for line in self.f.log_of(zone).splitlines() if any(sign in line for sign in FAILURES)]
            self.assertTrue(log, f"zone {zone} says nothing")
            self.assertIn("registry=https://127.0.0.1:", log[-1])
            self.assertRegex(log[-1], 'reason="[^"]{20,}')
        self.assertEqual(self.f.operate("a", "peer", "list", "--zones", "--filter", "outbound=accepted", "--filter", "inbound=accepted", "-o", "name").split(), ["b", "c"])
        bring_back()
        until(lambda: self.count(" enrolled ") >= enrolled + 3, DEADLINE_S, "the zones do not enrol again")
        until(self.all_are_listed, DEADLINE_S, "the registry does not list all zones")

    def test_a_zone_that_starts_while_it_is_down_still_knows_its_peers(self):
        bring_back = self.stop_registry()
        self.f.restart("a")
        done = self.f.zbs("run", "-n", "12", "--", "/bin/sh", "-c", "echo $ZBS_ZONE")
        self.assertEqual((done.returncode, sorted(set(done.stdout.split()))), (0, list(ZONES)), done.stderr)
        self.assertRegex(self.f.log_of("a").rsplit("listening on", 1)[1], "enrolment_failed registry=https://127.0.0.1:.* failed: ")
        bring_back()
        until(self.all_are_listed, DEADLINE_S, "zone a does not enrol again")

    def test_a_registry_that_hangs_holds_nobody_up(self):
        registry = self.f.service("zbs-registry")
        os.kill(registry, signal.SIGSTOP)
        self.addCleanup(os.kill, registry, signal.SIGCONT)
        self.f.restart("b")
        done = self.f.zbs("run", "-n", "12", "--", "/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
