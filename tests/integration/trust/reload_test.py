"""SIGHUP: keys and rules are read again while connections and requests go on, and what cannot be read changes nothing.

usage: reload_test.py BIN SOURCE_DIR [unittest arguments]
"""
import json
import os
import re
import sys
import unittest

from live import DEADLINE_S, Live, federation, until

REPORT = re.compile("(certificates|rules)_(not_)?reloaded")


class Reload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.you = cls.f.user("a", "ana")
        cls.folder = cls.f.state / "a/identity"

    def put(self, **files):
        """Replaces files of the zone's identity, each at once; they are as before after the test."""
        for name, content in files.items():
            path = self.folder / f"{name}.pem"
            before = path.read_bytes()
            self.addCleanup(self.replace, path, before)
            self.replace(path, content)

    @staticmethod
    def replace(path, content):
        fresh = path.with_suffix(".new")
        fresh.write_bytes(content)
        fresh.chmod(0o600)
        os.rename(fresh, path)

    def hup(self, sign):
        """Signals the zone and waits for both of its reports: certificates and rules are read by different threads. Returns the log's lines since."""
        before = len(self.f.log_of("a").splitlines())

        def since():
            return self.f.log_of("a").splitlines()[before:]

        self.f.hup("a")
        until(lambda: len([line for line in since() if REPORT.search(line)]) >= 2, DEADLINE_S, "no two reports of a reload in the log")
        self.assertTrue([line for line in since() if sign in line], f"no '{sign}' in {since()}")
        return since()

    def shown(self):
        client = self.f.open("a", self.you)
        try:
            return client.serial()
        finally:
            client.close()

    def renewed(self, name="a"):
        fresh = self.f.organisations.issue("org-a", "zone", name)
        return {"key": fresh.key.read_bytes(), "certificate": fresh.chain.read_bytes()}

    def test_new_connections_show_the_new_certificate_and_open_ones_go_on(self):
        before, open_one = self.shown(), self.f.open("a", self.you)
        self.addCleanup(open_one.close)
        self.assertEqual((open_one.serial(), open_one.ask()[0]), (before, 200))
        self.put(**self.renewed())
        self.hup("certificates_reloaded")
        self.assertNotEqual(self.shown(), before)
        self.assertEqual((open_one.ask()[0], open_one.serial()), (200, before))
        done = self.f.zbs("run", "-n", "12", "--", "/bin/true")  # the zone shows it to its peers, too
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_request_under_way_is_answered(self):
        body = json.dumps({"ranks": 1, "argv": ["/bin/true"], "directory": "/tmp", "environment": {}, "walltime_s": 60}).encode()
        client = self.f.open("a", self.you)
        self.addCleanup(client.close)
        client.connection.putrequest("POST", "/v1/applications?dry_run=true")
        client.connection.putheader("Content-Type", "application/json")
        client.connection.putheader("Content-Length", str(len(body)))
        client.connection.endheaders(body[:40])
        self.put(**self.renewed())
        self.hup("certificates_reloaded")
        client.connection.send(body[40:])
        answer = client.connection.getresponse()
        self.assertEqual(answer.status, 200, answer.read())

    def test_what_cannot_be_read_changes_nothing_and_is_told(self):
        good, other = self.shown(), self.renewed("another")
        key = self.renewed()["key"]
        for what, files in (("no PEM", {"certificate": b"broken\n"}), ("empty", {"certificate": b""}), ("no key", {"key": b"broken\n"}), ("a key of another certificate", {"key": key}),
                            ("half a file", {"certificate": (self.folder / "certificate.pem").read_bytes()[:300]}), ("the certificate of another zone", other)):
            with self.subTest(what):
                self.put(**files)
                said = self.hup("certificates_not_reloaded")
                self.doCleanups()
                self.assertTrue([line for line in said if "certificates_not_reloaded" in line and 'reason="' in line and 'reason=""' not in line], said)
                self.assertEqual(self.shown(), good)
        self.assertEqual(self.f.ask("a", self.you)[0], 200)
        self.hup("certificates_reloaded")

    def test_broken_rules_leave_those_that_were(self):
        config, accounts = self.f.state / "a.toml", self.f.state / "a.accounts"
        for path, text in ((config, "name = [\n"), (config, config.read_text() + "\nno_such_setting = 1\n"), (accounts, "org-a -> nobody knows\n")):
            with self.subTest(f"{path.name}: {text[-30:]!r}"):
                before = path.read_text()
                self.addCleanup(path.write_text, before)
                path.write_text(text)
                self.hup("rules_not_reloaded")
                path.write_text(before)
                self.assertEqual(self.f.zbs("run", "-n", "12", "--", "/bin/true").returncode, 0)
        self.hup("rules_reloaded")

    def test_what_changed_is_in_the_audit_log(self):
        config = self.f.state / "a.toml"
        before = config.read_text()
        self.addCleanup(config.write_text, before)
        config.write_text('honour_blocks = ["org-c"]\n' + before)
        self.hup("rules_reloaded")
        config.write_text(before)
        self.hup("rules_reloaded")
        self.hup("rules_reloaded")
        kept = [row for row in json.loads(self.f.operate("a", "audit", "list", "--limit", "1000", "--json"))["records"] if row["action"] == "reloadSettings"][-3:]
        self.assertEqual([row["detail"] for row in kept], ["SIGHUP: changed are honour_blocks"] * 2 + ["SIGHUP: no setting changed"])
        self.assertEqual({(row["who"], row["decision"]) for row in kept}, {("spiffe://org-a/operator/signal", "allow")})

    def test_parts_are_read_again_too(self):
        part = self.f.state / "a.d/10-blocks.toml"
        part.parent.mkdir()
        self.addCleanup(part.parent.rmdir)
        part.write_text('honour_blocks = ["org-c"]\n[timing]\nlease_s = 77\n')
        self.addCleanup(lambda: (part.unlink(), self.hup("rules_reloaded")))
        self.hup("rules_reloaded")
        self.assertRegex(self.f.log_of("a"), f'setting_not_reloaded setting="?timing"? reason="changed in {part}:3, takes effect after a restart"')
        kept = [row["detail"] for row in json.loads(self.f.operate("a", "audit", "list", "--limit", "1000", "--json"))["records"] if row["action"] == "reloadSettings"]
        self.assertEqual(kept[-1], "SIGHUP: changed are honour_blocks")
        part.write_text("honour_blocks = 3\n")
        self.assertIn(f"{part}:1", "\n".join(self.hup("rules_not_reloaded")))


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
