"""What the programs of operators print for programs: one object with its version; keys and types against tests/golden/cli.

usage: operator_json_test.py BIN SOURCE_DIR      (ZBS_WRITE_GOLDEN=1 writes the golden files anew)
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trust"), str(HERE.parent / "federation")]

import federation  # noqa: E402
from federation import until  # noqa: E402
from live import DEADLINE_S, Live  # noqa: E402
from shapes import shape  # noqa: E402

federation.BIN = str(BIN)
GOLDEN = SOURCE / "tests/golden/cli"


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.f.tell("a", "user", "add", "bo", "--group", "physics")
        cls.f.tell("a", "block", "spiffe://org-b/user/eve", "--reason", "lost key")

    def registry(self, *words):
        done = subprocess.run([BIN / "zbs-registry", *words, "--json", "--state", self.f.state / "registry"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, text):
        """With its version in front, and as one line."""
        self.assertEqual(text.count("\n"), 1)
        told = json.loads(text)
        self.assertEqual(next(iter(told.items())), ("version", 1))
        return told

    def test_documents_keep_their_shape(self):
        until(lambda: len(json.loads(self.registry("list"))["zones"]) == 3, DEADLINE_S, "not all zones are enrolled")
        users = self.read(self.f.tell("a", "user", "list", "--json"))
        users["users"] = [user for user in users["users"] if user["name"] == "bo"]
        found = {"zbs_zone_user_list": users, "zbs_zone_blocks": self.read(self.f.tell("a", "blocks", "--json")),
                 "zbs_zone_doctor": self.read(self.f.zone("a", "doctor", "--json").stdout), "zbs_registry_list": self.read(self.registry("list")), "zbs_registry_zone_list": self.read(self.registry("zone", "list"))}
        for name, told in found.items():
            with self.subTest(name):
                path = GOLDEN / (name + ".json")
                if os.environ.get("ZBS_WRITE_GOLDEN"):
                    path.write_text(json.dumps(shape(told), indent=1, sort_keys=True) + "\n")
                self.assertEqual(shape(told), json.loads(path.read_text()), "if this is meant, write the files anew with ZBS_WRITE_GOLDEN=1")

    def test_each_has_its_version_and_what_its_table_has(self):
        for words, key, told in ((("user", "list"), "users", "bo"), (("blocks",), "blocks", "spiffe://org-b/user/eve"), (("peer", "list"), "peerings", "org-b"), (("peer", "show", "org-b"), "peerings", "org-b"),
                                 (("audit", "list"), "records", "spiffe://org-b/user/eve")):
            with self.subTest(words):
                self.assertIn(told, self.f.tell("a", *words))
                self.assertIn(told, json.dumps(self.read(self.f.tell("a", *words, "--json"))[key]))
        self.assertIn("zones", self.read(self.registry("organisation", "list")))
        self.assertIn("records", self.read(self.registry("audit", "list")))
        described = self.read(subprocess.run([BIN / "zbs-node", "describe"], capture_output=True, text=True, check=True, timeout=DEADLINE_S).stdout)
        self.assertEqual(set(described), {"version", "description", "load"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
