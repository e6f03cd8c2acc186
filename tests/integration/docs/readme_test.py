"""The commands in READMEs: readme_test.py BIN SOURCE_DIR

All are run by the rules of pages (pages.py). Options of all commands are compared with the help of the programs.
"""
import collections
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path[1:1] = [str(SOURCE / "tests/integration/docs"), str(SOURCE / "tests/support")]
import pages  # noqa: E402
from plain_path import plain  # noqa: E402
from reader import Reader  # noqa: E402

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.M | re.S)
PROGRAMS = ("zbs", "zbs-zone", "zbs-registry", "zbs-node")
ELSEWHERE = ("build/release/bin/zbs quickstart", "scripts/", "docker/")  # run by this test, by the packages' and by docker/test
PROGRAM = """#include <mpi.h>
int main(int argc, char** argv) {
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 100; ++round)
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return argc < 1;
}
"""


def commands(text):
    """Lines that are commands, without their remarks, in the order of the text."""
    lines = []
    for info, body in BLOCK.findall(text):
        commands = [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ") or not info.startswith("console")]
        lines += [re.sub(r"\s+#.*$", "", line) for line in commands if line.split(" ")[0] in (*PROGRAMS, "mpicc.mpich") or line.startswith(ELSEWHERE)]
    return lines


def built(folder):
    """The root of the project, as it looks there once it is built."""
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/bin").symlink_to(BIN)
    for name in ("docs", "schemas", "tests", "scripts"):
        (folder / name).symlink_to(SOURCE / name)


class ProjectReadme(unittest.TestCase):
    def test_every_command_prints_what_the_page_shows(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-readme-"))
        self.addCleanup(shutil.rmtree, folder, True)
        built(folder)
        reader = Reader(folder, BIN, SOURCE)
        self.addCleanup(reader.close)
        text = (SOURCE / "README.md").read_text()
        for step in pages.steps(text):
            reader.do(step)
        self.assertIn(" B with this plan, 305.2 MiB without a profile", reader.said)

    def test_it_is_short(self):
        lines = (SOURCE / "README.md").read_text().splitlines()
        self.assertLessEqual(len(lines), 120)
        self.assertIn("| measured on two cores | ZBS | others |", lines[:60])


class ModuleReadmes(unittest.TestCase):
    def names(self):
        """Of all pages but those in docs/, which docs_test.py reads, and the project's, above."""
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=SOURCE, capture_output=True, text=True).stdout.split()
        listed = listed or [str(p.relative_to(SOURCE)) for folder in ("services", "client", "algorithms", "docker", "docs", "schemas", "scripts", "debian", "tests") for p in (SOURCE / folder).rglob("README.md")]
        return [name for name in listed if name != "README.md" and pathlib.Path(name).parent != pathlib.Path("docs")]

    def test_every_command_is_run_or_says_where_or_why_not(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-readmes-"))
        self.addCleanup(shutil.rmtree, folder, True)
        built(folder)
        (folder / "heat.c").write_text(PROGRAM)
        subprocess.run(["mpicc.mpich", "-o", "heat", "heat.c"], cwd=folder, check=True)
        shutil.copy(SOURCE / "tests/apps/three_zones.json", folder / "zones.json")
        reader = Reader(folder, BIN, SOURCE)
        self.addCleanup(reader.close)
        kinds = collections.Counter()
        for name in self.names():
            with self.subTest(page=name):
                text = (SOURCE / name).read_text().replace("/usr/lib/libzbs-profile.so", plain(str(BIN.parent / "lib/libzbs-profile.so"))).replace("$ mpiexec ", "$ mpiexec.mpich ")
                for step in pages.steps(text):
                    kinds[type(step).__name__] += 1
                    reader.do(step)
        self.assertGreater(kinds["Command"], 4)
        self.assertGreater(kinds["Elsewhere"], 5)
        self.assertLess(kinds["Untested"], 6, "that is much")

    def looked_up(self, line):
        """What is wrong with a command; None where nothing is."""
        words = [word for word in shlex.split(line.split("|")[0].split(">")[0].split("&&")[0])]
        if "--" in words:
            words = words[:words.index("--")]
        path = [str(BIN / words.pop(0))]
        while True:  # subcommands
            helped = subprocess.run([*path, "--help"], capture_output=True, text=True, timeout=30)
            if helped.returncode != 0:
                return f"{path} has no help"
            nested = helped.stdout.partition("\nSubcommands:")[2] + helped.stdout.partition("\nSUBCOMMANDS:")[2]
            if not words or not re.search(rf"^  {re.escape(words[0])}\b", nested, re.M):
                break
            path.append(words.pop(0))
        if "Subcommands:" in helped.stdout and words and not words[0].startswith("-"):
            return f"'{words[0]}' is no command of {' '.join(path[:1])}"
        above = subprocess.run([path[0], "--help"], capture_output=True, text=True, timeout=30).stdout
        options = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", helped.stdout + above))
        return next((f"no option {word}" for word in words if word.startswith("-") and word.split("=")[0] not in options), None)

    def test_their_commands_are_there(self):
        found = 0
        for name in ("README.md", *self.names()):
            for line in commands((SOURCE / name).read_text()):
                if line.split(" ")[0] not in PROGRAMS:
                    continue
                found += 1
                with self.subTest(page=name, line=line):
                    self.assertIsNone(self.looked_up(line))
        self.assertGreater(found, 10)

    def test_what_is_not_there_is_found(self):
        self.assertIsNotNone(self.looked_up("zbs simulat --trace x"))
        self.assertIsNotNone(self.looked_up("zbs simulate --trase x"))
        self.assertIsNone(self.looked_up("zbs simulate --trace x"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
