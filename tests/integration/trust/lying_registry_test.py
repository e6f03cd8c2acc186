"""A registry that lies, over real TLS and with a real registry's keys, can hide a zone but not pose as one: nobody calls the addresses it
makes up, and the zones say why.

usage: lying_registry_test.py BIN SOURCE_DIR [unittest arguments]
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from live import DEADLINE_S, ZONES, Live, federation, own, until
from lying_registry import LyingRegistry, Trap, sign


class Lies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        # Only a zone that has seen the honest entries can notice an older one.
        for zone in ZONES:
            user = cls.f.user(zone, "ana")
            until(lambda: cls.listed(zone, user) == set(ZONES) - {zone}, DEADLINE_S, f"zone {zone} has not seen the others")  # noqa: B023
        registry = cls.f.open_registry(cls.f.zone_identity("a"))
        port = registry.connection.port
        cls.honest = json.loads(registry.ask("GET", "/v1/zones")[1])["zones"]
        registry.close()
        identity = cls.f.copy_of(own(cls.f.state / "registry/identity"))
        (cls.f.state / "registry/identity").rename(cls.f.state / "registry/hidden")  # so that quickstart cannot start it again
        os.kill(cls.f.service("zbs-registry"), signal.SIGKILL)
        until(lambda: "needs keys" in cls.f.log_of("registry"), DEADLINE_S, "the registry is still there")
        cls.registry = LyingRegistry("127.0.0.1", port, identity)
        cls.addClassCleanup(cls.registry.close)
        cls.entries = {json.loads(entry["text"])["name"]: entry for entry in cls.honest}
        assert sorted(cls.entries) == list(ZONES), cls.entries

    @classmethod
    def listed(cls, zone, user):
        """The zones that `zone` saw in the registry at its last look."""
        peers = json.loads(cls.f.ask(zone, user, "GET", "/v1/peerings")[1])["peers"]
        return {peer["zone"] for peer in peers if "leased_until_us" in peer}

    def changed(self, trap, zone="b", later_us=1_000_000, **fields):
        """The text of the zone's entry, with its address in the trap."""
        entry = json.loads(self.entries[zone]["text"])
        return json.dumps(entry | {"url": f"https://127.0.0.1:{trap.port}", "issued_us": entry["issued_us"] + later_us} | fields)

    def impostor(self, organisation, name):
        """Keys of a zone of these names under a CA of the liar's own."""
        folder = pathlib.Path(self.f.folder) / f"impostor-{organisation}"
        folder.mkdir()
        (folder / "zone.toml").write_text(f'name = "{name}"\norganisation = "{organisation}"\nstate = "{folder}/state"\n[[machine]]\nname = "m"\nprocessors = 1\n')
        subprocess.run([federation.BIN + "/zbs-zone", "init", "--config", folder / "zone.toml"], check=True, capture_output=True, timeout=20)
        return own(folder / "state/identity"), (folder / "state/identity/bundle.pem").read_text()

    def lies(self):
        """Name -> the entry as a function of the trap that it leads to, and a word of the reason that zone a has to give."""
        b, c, user = self.f.zone_identity("b"), self.f.zone_identity("c"), self.f.organisations.issue("org-b", "user", "eve")
        other, their_bundle = self.impostor("org-b", "b")
        bundle_c = json.loads(self.entries["c"]["text"])["bundle"]
        return {
            "a changed address": (lambda trap: self.entries["b"] | {"text": self.changed(trap)}, "signature"),
            "another zone's keys": (lambda trap: sign(c, self.changed(trap)), "org-c"),
            "another zone's keys and its bundle": (lambda trap: sign(c, self.changed(trap, bundle=bundle_c)), "org-c"),
            "a zone that takes another's name": (lambda trap: sign(c, self.changed(trap, "c", name="b")), "instead of itself"),
            "keys under a CA of the liar's own": (lambda trap: sign(other, self.changed(trap, bundle=their_bundle)), "another bundle"),
            "keys of one of its users": (lambda trap: sign(user, self.changed(trap)), "user/eve"),
            "an old entry": (lambda trap: sign(b, self.changed(trap, later_us=-10_000_000)), "older"),
            "no signature": (lambda trap: sign(b, self.changed(trap)) | {"signature": ""}, "signature"),
            "no certificate": (lambda trap: sign(b, self.changed(trap)) | {"chain": ""}, "chain"),
            "signed for another purpose": (lambda trap: sign(b, self.changed(trap), "zbs peering request 1"), "signature"),
            "no TLS": (lambda trap: sign(b, self.changed(trap, url=f"http://127.0.0.1:{trap.port}")), "https"),
            "a field too many": (lambda trap: sign(b, self.changed(trap)[:-1] + ', "zone": "b"}'), "zone"),
            "no JSON": (lambda trap: sign(b, self.changed(trap)[:-1]), "JSON"),
            "of nobody known": (lambda trap: self.stranger(trap), ""),
        }

    def stranger(self, trap):
        """A good entry of an organisation that nobody here vouched for: not refused, but not called either."""
        keys, bundle = self.impostor("org-x", "x")
        return sign(keys, self.changed(trap, name="x", organisation="org-x", bundle=bundle))

    def trapped(self, make):
        trap = Trap()
        self.addCleanup(trap.close)
        return trap, make(trap)

    def refusals(self, zone="a"):
        return [line for line in self.f.log_of(zone).splitlines() if "registry_entry_refused" in line]

    def addresses(self):
        peers = json.loads(self.f.ask("a", self.f.user("a", "ana"), "GET", "/v1/peerings")[1])["peers"]
        return {peer["zone"]: peer["url"] for peer in peers}

    def show(self, *entries):
        """Every zone sees these entries, beside honest ones, at least twice."""
        self.registry.entries = [*entries, self.entries["a"], self.entries["c"]]
        seen = self.registry.looks
        until(lambda: self.registry.looks >= seen + 4 * len(ZONES), DEADLINE_S, "the zones do not look")

    def test_no_lie_is_believed_or_called_and_the_zone_says_why(self):
        before, lies = self.addresses(), self.lies()
        traps = {what: self.trapped(make) for what, (make, _) in lies.items()}
        self.show(*(entry for _, entry in traps.values()))
        for what, (_, word) in lies.items():
            with self.subTest(what):
                self.assertTrue([line for line in self.refusals() if word in line], f"expected '{word}' in {self.refusals()}")
                self.assertEqual(traps[what][0].calls, 0, "it was called")
        self.assertEqual(self.addresses(), before)
        self.assertEqual(self.f.zbs("run", "-n", "12", "--", "/bin/true").returncode, 0)
        # A trap does notice: what the zone itself signed is called; who answers there is not zone b, and not believed.
        trap, entry = self.trapped(lambda trap: sign(self.f.zone_identity("b"), self.changed(trap)))
        self.show(entry)
        until(lambda: trap.calls > 0, DEADLINE_S, "the trap notices nothing")
        until(lambda: "peering_failed zone=b" in self.f.log_of("a"), DEADLINE_S, "zone a does not say that zone b is not there")
        self.assertEqual(self.addresses(), before)


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
