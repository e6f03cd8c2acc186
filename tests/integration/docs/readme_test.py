"""The commands in READMEs: readme_test.py BIN SOURCE_DIR

Those of the project's README run, block by block, in a folder that has the files they name, against the federation of `zbs quickstart`. Those of the
modules' READMEs are looked up: their commands are there and have these options.
"""
import collections
import gzip
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/integration/federation"))
sys.path[1:1] = [str(SOURCE / "tests/integration/docs"), str(SOURCE / "tests/support")]
import federation  # noqa: E402
import pages  # noqa: E402
from plain_path import plain  # noqa: E402
from reader import Reader  # noqa: E402

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.M | re.S)
PROGRAMS = ("zbs", "zbs-zone", "zbs-registry", "zbs-node")
FEDERATION = "## A federation of your own"  # tests/integration/walk_through does what stands there
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
        told = [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ") or not info.startswith("console")]
        lines += [re.sub(r"\s+#.*$", "", line) for line in told if line.split(" ")[0] in (*PROGRAMS, "mpicc.mpich") or line.startswith(ELSEWHERE)]
    return lines


def grid(side):
    """A METIS graph of side * side vertices."""
    rows = []
    for v in range(side * side):
        x, y = v % side, v // side
        near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        rows.append(" ".join(str(b * side + a + 1) for a, b in near if 0 <= a < side and 0 <= b < side))
    edges = 2 * side * (side - 1)
    return f"{side * side} {edges}\n" + "\n".join(rows) + "\n"


class ProjectReadme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        federation.BIN = str(BIN)
        cls.f = federation.Federation().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-readme-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.environment = {**os.environ, **cls.f.environment, "PATH": f"{BIN}:{os.environ['PATH']}"}
        (cls.folder / "my_program.c").write_text(PROGRAM)
        (cls.folder / "input.dat").write_text("1\n")
        (cls.folder / "mesh.graph").write_text(grid(28))
        (cls.folder / "tests").symlink_to(SOURCE / "tests")
        shutil.copy(SOURCE / "tests/apps/three_zones.json", cls.folder / "zones.json")
        cls.run_line("zbs simulate --generate lublin:jobs=300,processors=64 --export-swf log.swf")
        with gzip.open(cls.folder / "log.swf.gz", "wb") as packed:
            packed.write((cls.folder / "log.swf").read_bytes())

    @classmethod
    def run_line(cls, line):
        done = subprocess.run(line, shell=True, cwd=cls.folder, env=cls.environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError((line, done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout

    def test_every_command_does_what_it_is_there_for(self):
        text = (SOURCE / "README.md").read_text()
        lines = commands(text[:text.index(FEDERATION)])
        profile, done = None, 0
        for line in lines:
            if line.startswith(ELSEWHERE):
                continue
            if line.startswith("mpicc"):
                self.run_line(line)
                shutil.copy(self.folder / "my_program", self.folder / "solver")
                done += 1
                continue
            if " ID" in line:
                profile = profile or self.run_line("zbs profile list -o name").split()[0].split("/")[-1]
                line = line.replace(" ID", f" {profile}")
            with self.subTest(line):
                self.run_line(line)
                done += 1
                named = re.findall(r"(?:-o|--output|--save-\w+|--gantt|--plot|--html|--schedule|--events|--export-swf) ([\w.-]+\.(?:json|svg|trace|html|csv|swf))", line)
                for name in named:
                    self.assertGreater((self.folder / name).stat().st_size, 0, name)
        self.assertGreater(done, 25)


class ModuleReadmes(unittest.TestCase):
    def names(self):
        """Of all pages but those in docs/, which docs_test.py reads, and the project's, above."""
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=SOURCE, capture_output=True, text=True).stdout.split()
        listed = listed or [str(p.relative_to(SOURCE)) for folder in ("services", "client", "algorithms", "docker", "docs", "schemas", "scripts", "debian", "tests") for p in (SOURCE / folder).rglob("README.md")]
        return [name for name in listed if name != "README.md" and pathlib.Path(name).parent != pathlib.Path("docs")]

    def test_every_command_is_run_or_says_where_or_why_not(self):
        """From the root of the project, as it looks there once it is built."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-readmes-"))
        self.addCleanup(shutil.rmtree, folder, True)
        (folder / "build/release").mkdir(parents=True)
        (folder / "build/release/bin").symlink_to(BIN)
        for name in ("docs", "schemas", "tests", "scripts"):
            (folder / name).symlink_to(SOURCE / name)
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
        self.assertGreater(found, 50)

    def test_what_is_not_there_is_found(self):
        self.assertIsNotNone(self.looked_up("zbs simulat --trace x"))
        self.assertIsNotNone(self.looked_up("zbs simulate --trase x"))
        self.assertIsNone(self.looked_up("zbs simulate --trace x"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
