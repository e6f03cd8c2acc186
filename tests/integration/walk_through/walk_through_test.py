"""docs/federation.md leads to a job over two zones.

usage: walk_through_test.py BIN SOURCE_DIR [unittest arguments]
"""
import pathlib
import shutil
import sys
import tempfile
import unittest

import page
from walk import Walk

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
# These are the commands of pages.steps.
CONFIGURATION, COMMANDS = page.read((SOURCE / "docs/federation.md").read_text())


class Walking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="zbs-walk-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.walk = Walk(folder, BIN)
        self.addCleanup(self.walk.stop)


class WalkThrough(Walking):
    def test_every_command_works_and_ends_in_a_job_over_both_zones(self):
        for zone in "ab":
            self.walk.write_configuration(zone, CONFIGURATION)
        output = {" ".join(words[:3]): self.walk.do(words) for words in COMMANDS}
        with self.subTest("64 processes in zone-a, the others in zone-b"):
            job = output["zbs run -n"]
            self.assertIn("cluster {0,1} -> zone zone-a\n  cluster {2} -> zone zone-b\n", job)
            self.assertEqual([job.count(f"rank {rank} of 3 ") for rank in range(4)], [1, 1, 1, 0], job)
        with self.subTest("org-b takes org-a's users and not the other way round"):
            whose, _, who = output["zbs-zone peer list"].partition("who takes")
            self.assertRegex(who, r"(?m)^zone-b +org-b +\S+ +\S+ +accepted ")
            self.assertNotIn("accepted", whose)
        with self.subTest("what org-a may have now and why"):
            shown = output["zbs-zone peer show"]
            self.assertTrue(all(word in shown for word in ("org-a\taccepted", "now\t", "trust\t", "clean_end")), shown)


class RottenText(Walking):
    """What the page must not contain."""

    def test_fails_here(self):
        for line, reason in (("zbs-grid init --state registry", "no program of this project"),
                             ("zbs-registry begin --state registry", "ended with"),
                             ("zbs-registry init --state registry --organization grid", "ended with"),
                             ("zbs-zone init --config zone-c.toml", "ended with"),
                             ("zbs-zone run --config zone-c.toml", "did not start"),
                             ("zbs-zone enrol TOKEN --config zone-a.toml", "nothing printed so far"),
                             ("zbs-zone peer request org-b --finger sha256:00 --config zone-a.toml", "ended with"),
                             ("zbs-registry init --state registry --organisation YOURS", "nothing printed so far"),
                             ("zbs login --code CODE", "nothing printed so far")):
            with self.subTest(line), self.assertRaisesRegex(AssertionError, reason):
                self.walk.do(page.words_of(line))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
