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

    def new(self, identity, zones=ZONES):
        """Name -> status of one request over a new connection each time."""
        return {f"{zone}, new": lambda zone=zone: self.f.ask(zone, identity)[0] for zone in zones}

    def honour_blocks(self):
        """Zone c heeds the blocks of zone b."""
        self.f.restart("c", lambda text: 'honour_blocks = ["org-b"]\n' + text)
        self.addCleanup(self.f.restart, "c", lambda text: text.replace('honour_blocks = ["org-b"]\n', ""))


class Blocks(Revocation):
    def test_what_other_zones_learn_with_their_next_exchange(self):
        """Four users side by side, because an exchange takes up to 15 s: revoked; blocked; unblocked with a fresh certificate, which leaves the old one
        revoked; blocked by a zone whose blocks another one honours."""
        self.honour_blocks()
        ana, bea, eli = (self.f.user("a", name) for name in ("ana", "bea", "eli"))
        cleo = self.f.copy_of(self.f.user("a", "cleo"))
        probes = {user: self.probes(user, "bc" if user is eli else ZONES) for user in (ana, bea, eli)}
        self.f.operate("a", "user", "revoke", "ana")
        self.f.operate("a", "block", "spiffe://org-a/user/bea", "--reason", "lost key")
        self.f.operate("a", "block", "spiffe://org-a/user/cleo")
        self.f.operate("a", "unblock", "spiffe://org-a/user/cleo")
        self.f.user("a", "cleo")
        self.f.operate("b", "block", "spiffe://org-a/user/eli")
        self.wait(("revoked at home", probes[ana], REFUSED), ("blocked at home", probes[bea], REFUSED), ("unblocked, old certificate", self.new(cleo), REFUSED),
                  ("blocked by zone b, honoured by c", probes[eli], REFUSED))
        proxy = self.f.organisations.proxy("full", ana)
        self.assertEqual([self.f.ask(zone, proxy)[0] for zone in ZONES], [401] * 3, "nor by a proxy that she signs herself")
        renewed = subprocess.run([federation.BIN + "/zbs", "--credentials", str(pathlib.Path(ana.key).parent), "login", "--renew"], capture_output=True, text=True, timeout=30)
        self.assertEqual(renewed.returncode, 4, renewed.stderr)

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


class Unblocks(Revocation):
    def test_what_other_zones_learn_with_their_next_exchange(self):
        """Of the blocks they learn at their start."""
        bea, eli = (self.f.user("a", name) for name in ("bea", "eli"))
        self.f.operate("a", "block", "spiffe://org-a/user/bea", "--reason", "lost key")
        self.f.operate("b", "block", "spiffe://org-a/user/eli")
        self.f.restart("b")
        self.honour_blocks()
        self.wait(("blocked at home", self.new(bea), REFUSED), ("blocked by zone b, honoured by c", self.new(eli, "bc"), REFUSED))
        self.f.operate("a", "unblock", "spiffe://org-a/user/bea")
        self.f.operate("b", "unblock", "spiffe://org-a/user/eli")
        fresh = self.f.user("a", "bea")
        kept = pathlib.Path(fresh.key).parent
        self.assertEqual([path.name for path in kept.parent.glob(kept.name + ".*")], [kept.name + ".lock"], "the earlier key is gone")
        self.wait(("unblocked, fresh certificate", self.new(fresh), (200,)), ("unblocked by zone b", self.new(eli, "bc"), (200,)))


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
