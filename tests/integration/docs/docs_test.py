"""Every command of every page in docs/ does what the page says.

usage: docs_test.py BIN SOURCE_DIR [PAGE | -PAGE] [unittest arguments]; -PAGE: all but this one
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pages
from reader import Reader

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
CHOICE = "".join(sys.argv[3:4])


class Reading(unittest.TestCase):
    def read(self, text):
        """All of a page in a fresh folder; how many commands were run."""
        folder = tempfile.mkdtemp(prefix="zbs-docs-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        reader = Reader(folder, BIN, SOURCE)
        try:
            found = pages.steps(text)
            for step in found:
                reader.do(step)
        finally:
            reader.close()
        return sum(isinstance(step, pages.Command) for step in found)


class Pages(Reading):
    def test_every_page(self):
        run = 0
        for page in sorted((SOURCE / "docs").glob("*.md")):
            if not CHOICE or page.stem == CHOICE or CHOICE.startswith("-") and CHOICE != "-" + page.stem:
                with self.subTest(page.name):
                    run += self.read(page.read_text())
        self.assertGreater(run, 0)


    def test_pictures_are_those_that_their_program_draws(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-pictures-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        subprocess.run([sys.executable, "-B", SOURCE / "docs/pictures/draw.py", folder], check=True)
        drawn = {path.name: path.read_text() for path in folder.iterdir()}
        self.assertEqual(drawn, {path.name: path.read_text() for path in (SOURCE / "docs/pictures").glob("*.svg")})
        self.assertEqual(len(drawn), 3)

    def test_every_file_that_a_page_names_is_there(self):
        """Where a page says that a test shows something, that test exists."""
        found = 0
        for page in sorted((SOURCE / "docs").glob("*.md")):
            for name in re.findall(r"`((?:tests|services|algorithms|schemas|scripts|docker|docs|client)/[\w./-]+)`", page.read_text()):
                found += 1
                with self.subTest(page=page.name, name=name):
                    self.assertTrue((SOURCE / name).exists() or list(SOURCE.glob(name + ".*pp")))
        self.assertGreater(found, 30)


class RottenPages(Reading):
    """What a page must not come to say."""

    def test_fails_here(self):
        for text, reason in (("```console\n$ false\n```\n", "ended with 1"),
                             ("```console\n$ echo one\ntwo\n```\n", "and not"),
                             ("```console\n$ printf '1\\n2\\n'\n1\n```\n", "and not"),
                             ("```console\none\n```\n", "before any command"),
                             ("```console\n```\n", "without a command"),
                             ("```console sometimes\n$ true\n```\n", "no kind of console"),
                             ("```console no-test\n$ true\n```\n", "the file that runs it"),
                             ("```console no-test docker/test\n$ frobnicate all\n```\n", "does not run 'frobnicate all'"),
                             ("```console no-test tests/integration/slurm/zone_test.py\n$ zbs quickstart --frobnicate\n```\n", "without --frobnicate"),
                             ("```console no-test tests/integration/cli/examples_test.py\n$ zbs-zone peer frobnicate\n```\n", "does not run 'zbs-zone peer frobnicate'"),
                             ("```console run-by scripts/soak\n$ true\n```\n", "runs no commands of pages"),
                             ("```console untested\n$ true\n```\n", "and the reason"),
                             ("```console untested it is what it is\nno command\n```\n", "before any command"),
                             ("Text:\n\n    zbs list\n", "line 3: commands that nobody runs"),
                             ("```\nctest --preset release\n```\n", "nobody runs"),
                             ("```\nbuild/release/bin/simulation --first 1\n```\n", "nobody runs"),
                             ("```\nzbs list\n```\n", "nobody runs"),
                             ("```sh\nls\n```\n", "nobody runs")):
            with self.subTest(text), self.assertRaisesRegex(AssertionError, reason):
                self.read(text)

    def test_passes_here(self):
        self.assertEqual(self.read("```text a/b.txt\n1  x\n2 y\n```\n```console\n$ cat a/b.txt\n1 x\n...\n$ a=5\n$ echo $a; false; echo $?\n...\n1\n```\n"
                                   "```console untested nobody has such a machine\n$ false\n```\n- a list\n    goes on\n"
                                   "```console stays\n$ echo up; exec sleep 1000\nup\n```\n```console again\n$ echo >> n; wc -l < n\n3\n```\n"), 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
