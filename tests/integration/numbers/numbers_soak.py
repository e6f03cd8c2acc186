"""A job's numbers are sacred: ScaLAPACK's testers (package scalapack-mpi-test), run in several ways, must print the same residuals in all of them.

numbers_soak.py BIN [--testers NAME...] [--ways NAME...] [--rounds N] [--inverse] [--timeout SECONDS]

BIN holds zbs, apps/ and support/yielding_rank.so, which all ways preload: nine ranks that poll on two cores take minutes for what is seconds with it. Without names: all testers of the package in every way, once. `--inverse` is one case only: xdinv, N=300, NB=16 on 3x3 ranks.
Prints one line for each run that differs or fails, and a table at the end; exit code 1 if there was one. The BLACS add partial sums in the order in
which they arrive, so residuals (errors in units of rounding) of two direct runs differ in their first digits, too: "rounding" counts runs whose
numbers differ by a factor of at most 4, or are below 1. A tester that ends badly in the first way (xCbtest and xFbtest of Debian 12 do, without ZBS)
counts apart, and its other ways do not run: there is nothing to compare them with.

ways: direct (one host), hosts (three hosts of Hydra on this one, as three zones are: wrong with
MPICH 4.0.2, see docs/numbers.md), nolocal (the same, each rank a host for MPICH), tcp (as hosts, over TCP, with the preloaded library for MPI_Finalize
only), preloaded and preloaded-tcp (with the profile, too), zbs and zbs-tcp (three zones of `zbs quickstart`, with the profile).
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests"
RANKS = 9
TCP = {"UCX_TLS": "tcp,self", "UCX_WARN_UNUSED_ENV_VARS": "n"}
INVERSE = "'inverse'\n'MPI'\n'INV.out'\n6\n1\n'GEN'\n1\n300\n1\n16\n1\n3\n3\n1.0\n"
FAULTS = re.compile(r"\*{4,}|\bNaN\b|\bInf(inity)?\b|\bFAIL(ED)?\b|suspicious|[1-9]\d* tests completed and failed")
VERDICT = re.compile(r"\b(PASSED|FAILED|PASS|FAIL)\b")
MEASURED = re.compile("TIME|MFLOP|WALL|CPU", re.IGNORECASE)  # columns that differ from run to run


class Failed(Exception):
    pass


def residuals(text):
    """What a tester prints that must not differ: its rows without times and rates, and its sums."""
    found, columns = [], []
    for line in text.splitlines():
        # "LU Time" is one column.
        words = re.sub(r"(\S+) Time\b", r"\1_Time", line).split()
        if "CHECK" in words and not VERDICT.search(line) and ":" not in line:
            columns = words
        elif VERDICT.search(line) and len(words) == len(columns):
            found.append(tuple(word for word, column in zip(words, columns) if not MEASURED.search(column)))
        elif re.match(r"\s+\d+ tests ", line):
            found.append(tuple(words))
    return found


def is_close(wanted, found):
    """Whether two lists of rows differ only in numbers, and in those by no more than the order of sums explains."""
    def is_close_word(one, other):
        try:
            low, high = sorted((abs(float(one)), abs(float(other))))
        except ValueError:
            return one == other
        return one == other or ("." in one and "." in other and high <= max(4 * low, 1))
    return len(wanted) == len(found) and all(len(row) == len(other) and all(map(is_close_word, row, other)) for row, other in zip(wanted, found))


class Runner:
    def __init__(self, bin_folder, timeout_s):
        self.bin, self.timeout_s, self.federation = bin_folder, timeout_s, None
        self.yielding = bin_folder + "/support/yielding_rank.so"
        self.library = os.path.abspath(bin_folder + "/../lib/libzbs-profile.so")

    def command(self, way, folder):
        if way.startswith("zbs"):
            return [self.bin + "/zbs", "run", "-n", str(RANKS), "-t", f"{self.timeout_s}s", "--env", "LD_PRELOAD=" + self.yielding, "--"]
        words = ["mpiexec.hydra"]
        if way != "direct":
            words += ["-launcher", "fork", "-iface", "lo", "-hosts", "zone-a:4,zone-b:4,zone-c:1"]
        if way == "nolocal":
            words += ["-genv", "MPIR_CVAR_NOLOCAL", "1"]
        if way in ("direct", "hosts", "nolocal"):
            words += ["-genv", "LD_PRELOAD", self.yielding]
        else:
            words += ["-genv", "LD_PRELOAD", self.library + ":" + self.yielding, "-genv", "ZBS_PROFILE_OUT", folder + "/model.json", "-genv", "ZBS_PROFILE", str(int("preloaded" in way))]
        return [*words, "-n", str(RANKS)]

    def run(self, way, tester, data):
        environment = dict(self.federation.environment if way.startswith("zbs") else os.environ)
        if way.endswith("tcp"):
            environment.update(TCP)
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            for name, text in data.items():
                with open(folder + "/" + name, "w", encoding="ascii") as file:
                    file.write(text)
            try:
                done = subprocess.run([*self.command(way, folder), f"{PACKAGE}/{tester}"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=self.timeout_s + 30)
            except subprocess.TimeoutExpired as late:
                raise Failed(f"did not end within {self.timeout_s + 30} s") from late
        if done.returncode != 0:
            raise Failed(f"exit code {done.returncode}: {(done.stderr or done.stdout)[-300:]!r}")
        return done.stdout


def inputs(inverse):
    if inverse:
        return {"INV.dat": INVERSE}
    return {name: open(PACKAGE + "/" + name, encoding="ascii", errors="replace").read() for name in os.listdir(PACKAGE) if name.endswith(".dat")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("--testers", nargs="*")
    parser.add_argument("--ways", nargs="*", default=["direct", "hosts", "nolocal", "tcp", "preloaded", "preloaded-tcp", "zbs", "zbs-tcp"])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--inverse", action="store_true")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--deadline", type=float, default=0, help="seconds after which no run starts")
    asked = parser.parse_args()
    if not os.path.isdir(PACKAGE):
        print("skipped: no " + PACKAGE + " (package scalapack-mpi-test)")
        return 77
    testers = ["xdinv"] if asked.inverse else asked.testers or sorted(name for name in os.listdir(PACKAGE) if name.startswith("x"))
    runner, data = Runner(os.path.abspath(asked.bin), asked.timeout), inputs(asked.inverse)
    if any(way.startswith("zbs") for way in asked.ways):
        sys.path.insert(0, HERE + "/../federation")
        import federation
        federation.BIN = runner.bin
        runner.federation = federation.Federation().__enter__()
    counts, begin, bad_runs = collections.defaultdict(collections.Counter), time.monotonic(), 0
    try:
        for number in range(asked.rounds):
            for tester in testers:
                wanted, hopeless = None, False
                for way in asked.ways:
                    if hopeless or asked.deadline and time.monotonic() - begin > asked.deadline:
                        continue
                    try:
                        text = runner.run(way, tester, data)
                        found = residuals(text)
                        faults = [line.strip() for line in text.splitlines() if ":" not in line and "flagged" not in line and FAULTS.search(line)]
                        wanted = wanted if wanted is not None else found
                        verdict = "failed" if faults else "same" if found == wanted else "rounding" if is_close(wanted, found) else "differs"
                        detail = faults[:2] or [pair for pair in zip(wanted, found) if verdict == "rounding" or not is_close(*([row] for row in pair))][:2] or f"{len(wanted)} and {len(found)} rows"
                    except Failed as failure:
                        hopeless = hopeless or way == asked.ways[0]
                        verdict, detail = "no reference" if hopeless else "ended badly", str(failure)
                    counts[way][verdict] += 1
                    if verdict not in ("same", "rounding"):
                        bad_runs += verdict != "no reference"
                        print(f"round {number}, {tester}, {way}: {verdict}: {detail}", flush=True)
    finally:
        if runner.federation:
            runner.federation.__exit__(None, None, None)
    print(f"{'way':14} {'runs':>5} {'same':>5} {'rounding':>9} {'differs':>8} {'failed':>7} {'ended badly':>12} {'no reference':>13}")
    for way in asked.ways:
        print(f"{way:14} {sum(counts[way].values()):5} {counts[way]['same']:5} {counts[way]['rounding']:9} {counts[way]['differs']:8} {counts[way]['failed']:7} {counts[way]['ended badly']:12} {counts[way]['no reference']:13}", flush=True)
    return 1 if bad_runs else 0


if __name__ == "__main__":
    sys.exit(main())
