"""Man pages and completions that the programs write of themselves: read by groff, and completed in real shells.

usage: pages_test.py BIN
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = pathlib.Path(sys.argv[1])
NAMES = {"zbs": 1, "zbs-zone": 8, "zbs-registry": 8, "zbs-node": 8}


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return done.stdout


def commands_of(program, path=()):
    """Every command that --help lists, as tuples of words."""
    text = output_of(PROGRAMS / program, *path, "--help")
    found = [path]
    listed = re.search(r"^Subcommands:\n((?:  .*\n|\n)+)", text, re.M)
    for line in (listed.group(1) if listed else "").splitlines():
        if word := re.match(r"  (\S+)", line):
            found += commands_of(program, (*path, word.group(1)))
    return found


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for program in NAMES:
            output_of(PROGRAMS / program, "pages", cls.folder / program)

    def test_every_command_of_help_has_its_page(self):
        for program, section in NAMES.items():
            commands = commands_of(program)
            pages = {"-".join((program, *path)) + f".{section}" for path in commands}
            self.assertEqual({path.name for path in (self.folder / program / "man").iterdir()}, pages)
            self.assertGreater(len(pages), 3)
            self.assertNotIn(f"{program}-pages.{section}", pages)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_reads_every_page_without_a_warning(self):
        for page in sorted(self.folder.glob("*/man/*")):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(page)], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
        text = output_of("groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", self.folder / "zbs/man/zbs-run.1")
        for words in ("--ntasks", "EXAMPLES", "zbs run -n 6 -- ./solver input.dat", "OPTIONS OF ALL COMMANDS"):
            self.assertIn(words, text)

    def test_every_page_has_the_exit_codes_of_the_readme(self):
        readme = (pathlib.Path(__file__).parents[3] / "README.md").read_text()
        sentence = re.search(r"these exit codes: ([^;]+);", readme).group(1)
        promised = dict(one.split(maxsplit=1) for one in re.split(r",\s+", sentence))
        self.assertEqual(len(promised), 9)
        for page in sorted(self.folder.glob("*/man/*")):
            section = page.read_text().split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
            found = dict(re.findall(r"\.TP\n\\fB(\d+)\\fR\n(.*)\n", section))
            if page.name.endswith(".1"):
                self.assertEqual(found, promised, page.name)
                self.assertIn("program's own code", section)
            else:
                self.assertEqual({k: v for k, v in found.items() if k != "74"}, {k: v for k, v in promised.items() if k < "3"}, page.name)

    def complete_in_bash(self, *words):
        script = f"""source '{self.folder}/zbs/completions/bash/zbs'
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _zbs; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return [line for line in output_of("bash", "--norc", "-c", script, "bash", *words).splitlines() if line]

    def test_bash_completes_commands_options_and_their_words(self):
        top = self.complete_in_bash("zbs", "")
        self.assertTrue({"run", "list", "zone", "completion"} <= set(top), top)
        self.assertEqual(self.complete_in_bash("zbs", "can"), ["cancel"])
        self.assertEqual(self.complete_in_bash("zbs", "--proxy", "x", "zone", "sh"), ["show"])
        self.assertIn("--ntasks", self.complete_in_bash("zbs", "run", "--"))
        self.assertIn("--credentials", self.complete_in_bash("zbs", "run", "--"))
        self.assertEqual(self.complete_in_bash("zbs", "completion", "b"), [], "a word of an argument is none of an option")
        self.assertEqual(self.complete_in_bash("zbs", "run", "--launcher", "open"), ["openmpi"])
        self.assertEqual(self.complete_in_bash("zbs", "run", "--", "zo"), [], "the user's own program and its words")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        home = dict(os.environ, HOME=str(self.folder))
        ask = lambda line: [word.split("\t")[0] for word in output_of("fish", "--no-config", "-c", f"source '{self.folder}/zbs/completions/fish/zbs.fish'; complete -C '{line}'", env=home).splitlines()]  # noqa: E731
        self.assertEqual(ask("zbs can"), ["cancel"])
        self.assertIn("show", ask("zbs zone "))
        self.assertEqual(ask("zbs run --launcher open"), ["openmpi"])
        self.assertIn("--ntasks", ask("zbs run --nta"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_script(self):
        home = dict(os.environ, HOME=str(self.folder))
        self.assertIn("_zbs", output_of("zsh", "-f", "-c", f"autoload -U compinit && compinit -u -D; source '{self.folder}/zbs/completions/zsh/_zbs' 2>/dev/null; whence -w _zbs", env=home))

    def test_pages_that_cannot_be_written_are_told(self):
        done = subprocess.run([PROGRAMS / "zbs", "pages", "/proc/none"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/none", done.stderr)
        done = subprocess.run([PROGRAMS / "zbs", "completion", "tcsh"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)

    def test_every_program_names_what_it_does_not_know_and_its_version(self):
        for program, words, told in (("zbs-zone", ("usr", "add", "x"), "there is no command 'usr' of zbs-zone; did you mean 'user'?"),
                                     ("zbs-zone", ("user", "ad", "x"), "there is no command 'ad' of 'user'; did you mean 'add'?"),
                                     ("zbs-registry", ("inti",), "there is no command 'inti' of zbs-registry; did you mean 'init'?"),
                                     ("zbs-node", ("--confg", "x"), "there is no option '--confg' of zbs-node; did you mean '--config'?")):
            done = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(f"{program}: {told}\n", done.stderr)
        for program in NAMES:
            self.assertEqual(output_of(PROGRAMS / program, "--version"), f"{program} 0.1.0\n")

    def test_every_program_tells_of_a_full_disk(self):
        for program in NAMES:
            done = subprocess.run(["sh", "-c", 'exec "$0" --help > /dev/full', PROGRAMS / program], stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (1, f"{program}: cannot write standard output: No space left on device\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
