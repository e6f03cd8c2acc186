"""MPI jobs over sites end: finalize_test.py BIN SUPPORT LIBRARY [unittest names]

Sites are network, IPC and mount namespaces, so that ranks of two sites talk TCP, as ranks of two machines do. BIN holds apps/ and support/, SUPPORT is
the folder of wan.py, LIBRARY the preloaded one. Skipped without root or /dev/net/tun. `--ends N` instead of names: N ends, see scripts/soak.
"""
import os
import re
import sys
import tempfile
import time
import unittest

BIN, SUPPORT, LIBRARY = map(os.path.abspath, sys.argv[1:4])
sys.path.insert(0, SUPPORT)
from plain_path import plain  # noqa: E402
from wan import JobFailed, Line, Wan, run_mpi, why_not  # noqa: E402

BIN, LIBRARY = plain(BIN), plain(LIBRARY)

SKIPPED = 77  # as CMakeLists.txt tells ctest
JOB_S = 30
SMALL, LARGE, MESSAGES = 4096, 300_000, 40  # of ends.c
MODES = {"at-once": lambda ranks: 0, "all": lambda ranks: ranks, "disconnect": lambda ranks: ranks, "session": lambda ranks: ranks,
         "last-session": lambda ranks: ranks, "sub": None, "unreceived": lambda ranks: 0,
         "pending": lambda ranks: MESSAGES * SMALL + LARGE, "callback": lambda ranks: SMALL}


def got(mode, ranks, rank):
    """Bytes that `ends MODE` receives on this rank."""
    return len(range(rank % 2, ranks, 2)) if mode == "sub" else MODES[mode](ranks)


class Finalize(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wan = Wan("abc", BIN + "/support").__enter__()
        cls.addClassCleanup(cls.wan.close)
        cls.wan.join_all(Line(0.001, 50e6))

    def run_over(self, sites, ranks, *argv, env=None, profile="0"):
        """Blocks of ranks, one of each site."""
        where = sorted(self.wan.names[rank % sites] for rank in range(ranks))
        with tempfile.TemporaryDirectory() as folder:
            return run_mpi(self.wan, where, list(argv), folder, {"LD_PRELOAD": LIBRARY, "ZBS_PROFILE": profile, **(env or {})}, JOB_S)

    def ends(self, sites, ranks, mode, **more):
        self.check(sites, ranks, mode, BIN + "/apps/ends", mode, **more)

    def check(self, sites, ranks, mode, *argv, **more):
        said = self.run_over(sites, ranks, *argv, **more)
        self.assertEqual(sorted(map(tuple, re.findall(r"rank (\d+) got (\d+)", said)), key=lambda pair: int(pair[0])),
                         [(str(rank), str(got(mode, ranks, rank))) for rank in range(ranks)], said)

    def test_every_way_to_end(self):
        for mode in MODES:
            for sites, ranks in ((2, 2), (2, 5), (3, 6)):
                with self.subTest(mode=mode, sites=sites, ranks=ranks):
                    self.ends(sites, ranks, mode)

    def test_many_ranks(self):
        # More ranks than processors: they sleep while they wait (patient_rank), so all of them talk TCP.
        patient = {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1", "LD_PRELOAD": f"{LIBRARY}:{BIN}/support/patient_rank.so"}
        for sites, ranks in ((2, 16), (3, 24)):
            self.ends(sites, ranks, "all", env=patient)

    def test_with_the_profile(self):
        self.ends(3, 6, "all", profile="1")

    def test_fortran(self):
        for program in ("fortran_ring", "fortran08_ring"):
            if not os.path.exists(f"{BIN}/apps/{program}"):
                self.skipTest("no Fortran compiler for MPICH at build time")
            self.run_over(3, 6, f"{BIN}/apps/{program}")

    def test_mpi_functions_found_by_a_handle(self):
        self.check(3, 6, "all", sys.executable, SUPPORT + "/mpi_by_handle.py", BIN + "/apps/ring.so")

    def test_abort_is_not_waited_for(self):
        begin = time.monotonic()
        with self.assertRaisesRegex(JobFailed, "exit code 7"):
            self.ends(3, 6, "abort")
        self.assertLess(time.monotonic() - begin, JOB_S / 2)


def many_ends(count):
    """`count` ends, of all kinds over two and three sites; the number that did not end well."""
    bad = 0
    Finalize.setUpClass()
    try:
        for number in range(count):
            mode, ranks = list(MODES)[number % len(MODES)], 2 + number // len(MODES) % 5
            try:
                Finalize().ends(2 + number % 2, max(ranks, 2 + number % 2), mode)
            except (JobFailed, AssertionError) as fault:
                bad += 1
                print(f"end {number}: {mode} on {ranks} ranks: {fault}", flush=True)
            if number % 100 == 99 or number + 1 == count:
                print(f"{number + 1} ends, {bad} bad", flush=True)
    finally:
        Finalize.doClassCleanups()
    return bad


if __name__ == "__main__":
    if why := why_not():
        print("skipped: " + why)
        sys.exit(SKIPPED)
    if sys.argv[4:5] == ["--ends"]:
        sys.exit(1 if many_ends(int(sys.argv[5])) else 0)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
