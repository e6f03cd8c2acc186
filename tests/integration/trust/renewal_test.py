"""A user's certificate that is due is renewed by one of the commands that run at once, and disturbs none of them.

usage: renewal_test.py BIN SOURCE_DIR [unittest arguments]
"""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from live import Live, federation

AT_ONCE = 12


class Renewal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.due = cls.f.organisations.issue("org-a", "user", "you", days=2)

    def setUp(self):
        self.folder = pathlib.Path(self.f.folder) / self.id().rsplit(".", 1)[1]
        self.own = self.folder / "credentials"
        shutil.copytree(self.f.environment["ZBS_CREDENTIALS"], self.own)
        self.make_due()

    def make_due(self):
        for source, target in ((self.due.key, "key.pem"), (self.due.chain, "certificate.pem")):
            (self.own / target).write_bytes(source.read_bytes())

    def is_renewed(self):
        return (self.own / "key.pem").read_bytes() != self.due.key.read_bytes()

    def list(self):
        return subprocess.Popen([federation.BIN + "/zbs", "list", "-o", "name"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=dict(self.f.environment, ZBS_CREDENTIALS=str(self.own)))

    def expect_good(self, commands):
        for command in commands:
            output = command.communicate(timeout=60)[0]
            self.assertEqual((command.returncode, output), (0, ""))

    def test_commands_at_once_all_work(self):
        for _ in range(4):
            self.make_due()
            self.expect_good([self.list() for _ in range(AT_ONCE)])
            self.assertTrue(self.is_renewed())
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["credentials", "credentials.lock"], "no earlier key is left")

    def test_a_command_goes_on_while_another_one_renews(self):
        with open(self.folder / "credentials.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.expect_good([self.list()])
            self.assertFalse(self.is_renewed())
        self.expect_good([self.list()])
        self.assertTrue(self.is_renewed())

    def test_a_renewal_that_was_cut_short_is_repeated(self):
        fresh = self.folder / "credentials.new"
        for cut in ("while the files were written", "between the two", "before the earlier files were removed"):
            with self.subTest(cut):
                self.make_due()
                fresh.mkdir()
                (fresh / "key.pem").write_text("half a key")
                if cut == "between the two":
                    self.own.rename(self.folder / "credentials.old")
                elif cut == "before the earlier files were removed":
                    shutil.copytree(self.own, self.folder / "credentials.old")
                self.expect_good([self.list()])
                self.assertTrue(self.is_renewed())
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["credentials", "credentials.lock"])


if __name__ == "__main__":
    federation.BIN = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
