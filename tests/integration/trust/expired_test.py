"""Certificates that have ended: the error names the owner, the end and the remedy, and nothing else is done.

usage: expired_test.py BIN SOURCE_DIR [unittest arguments]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from live import Live, federation


class Expired(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)

    def with_ended(self, folder, kind, name):
        """A copy of this folder of credentials whose certificate ended yesterday."""
        ended = pathlib.Path(self.f.folder) / f"ended-{kind}-{name}"
        shutil.copytree(folder, ended)
        identity = self.f.organisations.issue("org-a", kind, name, days=-1)
        for source, target in ((identity.key, "key.pem"), (identity.chain, "certificate.pem")):
            (ended / target).write_bytes(source.read_bytes())
        return ended

    def test_a_users(self):
        ended = self.with_ended(self.f.environment["ZBS_CREDENTIALS"], "user", "you")
        done = self.f.zbs("submit", "--", "/bin/true", env={"ZBS_CREDENTIALS": str(ended)})
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        for word in (f"{ended}/certificate.pem", "spiffe://org-a/user/you", "expired on", "zbs login --code"):
            self.assertIn(word, done.stderr)
        self.assertEqual(self.f.zbs("list", "-o", "name").stdout, "")

    def test_an_operators(self):
        folder = self.f.state / "a/identity/operator"
        ended = self.with_ended(folder, "operator", "operator")
        kept = pathlib.Path(self.f.folder) / "kept"
        shutil.copytree(folder, kept)
        for name in ("key.pem", "certificate.pem"):
            shutil.copy(ended / name, folder)
        config = f"{self.f.folder}/state/a.toml"

        def zone(*command):
            return subprocess.run([federation.BIN + "/zbs-zone", *command, "--config", config], capture_output=True, text=True, timeout=60)

        refused = zone("user", "list")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("'zbs-zone operator'", refused.stderr)
        looked = zone("doctor")
        self.assertIn("'zbs-zone operator --config FILE' makes a new one", looked.stdout)
        for name in ("key.pem", "certificate.pem"):
            shutil.copy(kept / name, folder)
        self.assertEqual(zone("user", "list").returncode, 0)

    def test_on_the_wire(self):
        """A caller with one is anonymous, and the answer has the reason."""
        identity = self.f.organisations.issue("org-a", "user", "you", days=-1)
        connection = self.f.open("a", identity)
        status, body = connection.ask("GET", "/v1/applications")
        connection.close()
        self.assertEqual(status, 401)
        self.assertIn(b"expired on", body)


if __name__ == "__main__":
    federation.BIN = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
