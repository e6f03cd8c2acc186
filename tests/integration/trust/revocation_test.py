"""Who is revoked or blocked loses access, on open connections and new ones, in every zone that shall heed it, within 60 s.

usage: revocation_test.py BIN SOURCE_DIR [unittest arguments]; the seconds that it took are printed
"""
import pathlib
import subprocess
import sys
import time
import unittest

from live import ZONES, Live, federation

LIMIT_S = 60
REFUSED = (401, 403)


class Revocation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)

    def probes(self, identity, zones=ZONES):
        """Name -> status of one request, over a connection that is open from now on and over a new one each time."""
        found = {}
        for zone in zones:
            client = self.f.open(zone, identity)
            self.addCleanup(client.close)
            self.assertEqual(client.ask()[0], 200)
            found[f"{zone}, open"] = lambda client=client: client.ask()[0]
            found[f"{zone}, new"] = lambda zone=zone: self.f.ask(zone, identity)[0]
        return found

    def wait(self, *waits):
        """Until each probe of each (what, probes, statuses) has given one of its statuses; the times are printed."""
        start = time.monotonic()
        left = {(what, name): (probe, statuses) for what, probes, statuses in waits for name, probe in probes.items()}
        took = {}
        while left and time.monotonic() - start < LIMIT_S:
            for key, (probe, statuses) in list(left.items()):
                if probe() in statuses:
                    took[key] = round(time.monotonic() - start, 1)
                    del left[key]
            time.sleep(0.1)
        for what, probes, _ in waits:
            print(f"{what}: " + ", ".join(f"{name} {took.get((what, name), 'never')} s" for name in sorted(probes)), flush=True)
        self.assertFalse(left, f"not within {LIMIT_S} s")

    def test_what_other_zones_learn_with_their_next_exchange(self):
        """Four users side by side, because an exchange takes up to 15 s."""
        self.f.restart("c", lambda text: 'honour_blocks = ["org-b"]\n' + text)
        self.addCleanup(self.f.restart, "c", lambda text: text.replace('honour_blocks = ["org-b"]\n', ""))
        users = [self.a_revoked_user_loses_access_everywhere(), self.a_blocked_own_user_comes_back_with_a_fresh_certificate_only(),
                 self.what_was_revoked_stays_so_when_the_block_goes(), self.a_zone_that_honours_anothers_blocks_heeds_them()]
        while waits := [wait for wait in (next(user, None) for user in users) if wait]:
            self.wait(*waits)

    # Each yields the arguments of `wait`.

    def a_revoked_user_loses_access_everywhere(self):
        ana = self.f.user("a", "ana")
        probes = self.probes(ana)
        self.f.operate("a", "user", "revoke", "ana")
        yield "revoked at home", probes, REFUSED
        proxy = self.f.organisations.proxy("full", ana)
        self.assertEqual([self.f.ask(zone, proxy)[0] for zone in ZONES], [401] * 3, "nor by a proxy that she signs herself")
        renewed = subprocess.run([federation.BIN + "/zbs", "--credentials", str(pathlib.Path(ana.key).parent), "login", "--renew"], capture_output=True, text=True, timeout=30)
        self.assertEqual(renewed.returncode, 4, renewed.stderr)

    def a_blocked_own_user_comes_back_with_a_fresh_certificate_only(self):
        bea = self.f.user("a", "bea")
        probes = self.probes(bea)
        self.f.operate("a", "block", "spiffe://org-a/user/bea", "--reason", "lost key")
        yield "blocked at home", probes, REFUSED
        self.f.operate("a", "unblock", "spiffe://org-a/user/bea")
        fresh = self.f.user("a", "bea")
        kept = pathlib.Path(fresh.key).parent
        self.assertEqual([path.name for path in kept.parent.glob(kept.name + ".*")], [kept.name + ".lock"], "the earlier key is gone")
        yield "unblocked, fresh certificate", {f"{zone}, new": lambda zone=zone: self.f.ask(zone, fresh)[0] for zone in ZONES}, (200,)

    def what_was_revoked_stays_so_when_the_block_goes(self):
        kept = self.f.copy_of(self.f.user("a", "cleo"))
        self.f.operate("a", "block", "spiffe://org-a/user/cleo")
        self.f.operate("a", "unblock", "spiffe://org-a/user/cleo")
        self.f.user("a", "cleo")
        yield "unblocked, old certificate", {f"{zone}, new": lambda zone=zone: self.f.ask(zone, kept)[0] for zone in ZONES}, REFUSED

    def a_zone_that_honours_anothers_blocks_heeds_them(self):
        eli = self.f.user("a", "eli")
        probes = self.probes(eli, "bc")
        self.f.operate("b", "block", "spiffe://org-a/user/eli")
        yield "blocked by zone b, honoured by c", probes, REFUSED
        self.f.operate("b", "unblock", "spiffe://org-a/user/eli")
        yield "unblocked by zone b", {name: probe for name, probe in probes.items() if "new" in name}, (200,)

    def test_a_blocked_foreign_user_is_refused_where_that_was_said(self):
        dora = self.f.user("a", "dora")
        there, elsewhere = self.probes(dora, "b"), self.probes(dora, "ac")
        self.f.operate("b", "block", "spiffe://org-a/user/dora")
        self.wait(("blocked by zone b", there, REFUSED))
        self.assertEqual([probe() for probe in elsewhere.values()], [200] * 4)
        self.f.operate("b", "unblock", "spiffe://org-a/user/dora")
        self.wait(("unblocked by zone b", {"b, new": there["b, new"]}, (200,)))

    def test_a_blocked_organisation_gets_nothing(self):
        user, zone = self.f.user("a", "fay"), self.f.zone_identity("a")
        probes = {f"{who} {name}": probe for who, identity in (("user", user), ("zone", zone)) for name, probe in self.probes(identity, "b").items()}
        self.f.operate("b", "block", "org-a", "--reason", "incident 7")
        self.wait(("organisation blocked by zone b", probes, REFUSED))
        done = self.f.zbs("run", "-n", "8", "--", "/bin/sh", "-c", "echo $ZBS_ZONE")
        self.assertEqual((done.returncode, set(done.stdout.split())), (0, {"a", "c"}), done.stderr)
        self.f.operate("b", "unblock", "org-a")
        self.wait(("organisation unblocked", {name: probe for name, probe in probes.items() if "new" in name}, (200,)))
        self.assertEqual(self.f.zbs("run", "-n", "12", "--", "/bin/true").returncode, 0)


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
