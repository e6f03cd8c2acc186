"""Runs MPI programs under the profiling library and holds the models against an independent count.

usage: profiler_test.py LIBRARY APPS_DIR MPIEXEC SOURCE_DIR [unittest arguments]
"""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), sys.argv[4] + "/tests/support"]
import expected
from plain_path import plain

LIBRARY, APPS = map(plain, sys.argv[1:3])
MPIEXEC, SOURCE = sys.argv[3:5]
XDLU = "/usr/lib/x86_64-linux-gnu/scalapack/mpich-tests/xdlu"


class ProfilerTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.out = os.path.join(self.dir.name, "model.json")

    def tearDown(self):
        self.dir.cleanup()

    def run_mpi(self, ranks, *command, env=None):
        settings = {"LD_PRELOAD": LIBRARY, "ZBS_PROFILE_OUT": self.out, **(env or {})}
        genv = [word for name, value in settings.items() for word in ("-genv", name, value)]
        return subprocess.run([MPIEXEC, "-n", str(ranks), *genv, *command], cwd=self.dir.name, capture_output=True, text=True, timeout=120)

    def model(self):
        with open(self.out, encoding="utf-8") as file:
            model = json.load(file)
        self.assertEqual(model["format"], "zbs-model/1")
        self.assertEqual(len(model["compute"]), model["ranks"])
        self.assertTrue(all(seconds >= 0 for seconds in model["compute"]))
        pairs = [(u, v) for u, v, _, _ in model["edges"]]
        self.assertEqual(pairs, sorted(set(pairs)))
        self.assertTrue(all(0 <= u < v < model["ranks"] for u, v in pairs))
        return model

    def edges(self):
        return {(u, v): (size, messages) for u, v, size, messages in self.model()["edges"]}

    def files(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.out + "*"))


class Messages(ProfilerTest):
    def test_ring_counts_every_message_once(self):
        run = self.run_mpi(4, APPS + "/ring", "--bytes", "100", "--rounds", "3")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.edges(), {(0, 1): (300, 3), (1, 2): (300, 3), (2, 3): (300, 3), (0, 3): (300, 3)})
        model = self.model()
        self.assertNotIn("complete", model)
        self.assertEqual(model["program"], os.path.realpath(APPS + "/ring"))
        self.assertEqual(self.files(), ["model.json"])

    def test_every_kind_of_send(self):
        # The sum that messages.c documents, plus its empty "go".
        size = sum(2**k for k in range(8)) + 2 * 256 + 512 + 2 * 1024 + 2 * 2048 + 4096 + 8192 + 16384 + 32768
        for arguments in ([], ["threads"]):
            self.assertEqual(self.run_mpi(3, APPS + "/messages", *arguments).returncode, 0)
            self.assertEqual(self.edges(), {(0, 1): (size, 20)}, arguments)

    def test_fortran(self):
        if not os.path.exists(APPS + "/fortran_ring"):
            self.skipTest("no Fortran compiler for MPICH at build time")
        self.assertEqual(self.run_mpi(4, APPS + "/fortran_ring").returncode, 0)
        t = expected.Traffic(range(4))
        for r in range(4):
            t.send(r, (r + 1) % 4, 400)
        expected.allreduce(t, 4, 4, 8, long=True)
        expected.allreduce(t, 4, 1, 8, long=False)
        self.assertEqual(self.edges(), t.result())

    def test_fortran_2008(self):
        if not os.path.exists(APPS + "/fortran08_ring"):
            self.skipTest("no Fortran compiler for MPICH at build time")
        self.assertEqual(self.run_mpi(3, APPS + "/fortran08_ring").returncode, 0)
        t = expected.Traffic(range(3))
        for r in range(3):
            t.send(r, (r + 1) % 3, 400)
        expected.barrier(t, 3)
        self.assertEqual(self.edges(), t.result())

    def test_transport_kernel_teams(self):
        params = SOURCE + "/tests/apps/transport_2x4.params"
        run = self.run_mpi(9, APPS + "/transport_kernel", params)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("checksum 4105", run.stdout)
        edges, model = self.edges(), self.model()
        t = expected.Traffic([1, 3, 5, 7])
        for _ in range(50):
            expected.allgather_doubling(t, 4, lambda r: 1000)
        for pair, sums in t.result().items():
            self.assertEqual(edges[pair], sums)
        between = sum(edges.get((u, v), (0, 0))[0] for u in (1, 3, 5, 7) for v in (2, 4, 6, 8)) + \
            sum(edges.get((u, v), (0, 0))[0] for u in (2, 4, 6, 8) for v in (1, 3, 5, 7))
        self.assertLess(between, 2000)
        # 100000 turns of a loop take far longer than what the master does between its calls.
        self.assertGreater(min(model["compute"][1:]), 2e-5)

    def test_log_tells_the_same_as_the_model(self):
        prefix = self.dir.name + "/log"
        self.assertEqual(self.run_mpi(3, APPS + "/collectives", "all", "7", env={"ZBS_PROFILE_LOG": prefix}).returncode, 0)
        pairs, entries = {}, 0
        for rank in range(3):
            with open(f"{prefix}.{rank}", encoding="ascii") as file:
                self.assertRegex(file.readline(), f"^zbs-log/1 run [0-9a-f]{{16}} rank {rank} of 3$")
                for number, line in enumerate(file, 1):
                    words = line.split()
                    self.assertEqual(int(words[0]), number)
                    if words[1] == "-101":
                        s, d, size = int(words[8]), int(words[10]), int(words[12])
                        self.assertEqual(s, rank)
                        old = pairs.get((min(s, d), max(s, d)), (0, 0))
                        pairs[(min(s, d), max(s, d))] = (old[0] + size, old[1] + 1)
                    else:
                        self.assertEqual((words[1], words[7], words[8]), ("1", "PAPI", str(rank)))
                        entries += 1
        self.assertEqual(pairs, self.edges())
        self.assertGreater(entries, 60)

    def test_calls_after_one_that_a_longjmp_left_are_counted(self):
        self.assertEqual(self.run_mpi(2, APPS + "/corners", "jump").returncode, 0)
        self.assertEqual(self.edges(), {(0, 1): (8, 1)})

    def test_refused_calls_are_not_counted(self):
        self.assertEqual(self.run_mpi(2, APPS + "/corners", "refused").returncode, 0)
        self.assertEqual(self.edges(), {(0, 1): (24, 3)})

    def test_messages_in_callbacks_of_attributes(self):
        for tracing in ({}, {"ZBS_PROFILE_TRACE": self.out + ".trace"}):
            self.assertEqual(self.run_mpi(3, APPS + "/corners", "callbacks", env=tracing).returncode, 0)
            self.assertEqual(self.edges(), {(0, 1): (1 + 2 + 4 + 16 + 8, 5), (1, 2): (8, 1)})

    def test_session_that_ends_after_mpi_finalize(self):
        self.assertEqual(self.run_mpi(3, APPS + "/ends", "last-session").returncode, 0)
        self.assertEqual(self.edges(), {(0, 1): (8, 2), (0, 2): (8, 2), (1, 2): (8, 2)})

    def test_exception_passes(self):
        for env in ({"ZBS_PROFILE": "0"}, {"ZBS_PROFILE_TRACE": self.out + ".trace"}, {}):
            run = self.run_mpi(2, APPS + "/corners", "throw", env=env)
            self.assertEqual((run.returncode, run.stderr), (0, ""), env)
        self.assertEqual(self.edges(), {(0, 1): (8, 1)})

    def test_element_of_more_than_two_gibibytes(self):
        self.assertEqual(self.run_mpi(2, APPS + "/corners", "huge").returncode, 0)
        self.assertEqual(self.edges(), {(0, 1): (160 * 2**24 + 8, 2)})

    def test_off_means_off(self):
        self.assertEqual(self.run_mpi(2, APPS + "/ring", env={"ZBS_PROFILE": "0"}).returncode, 0)
        self.assertEqual(self.files(), [])

    def test_a_trace_that_nothing_is_left_of_is_named(self):
        for off in ("0 1 2", "1"):
            run = self.run_mpi(3, "sh", "-c", f"case ' {off} ' in *\" $PMI_RANK \"*) export ZBS_PROFILE=0;; esac; exec {APPS}/ring", env={"ZBS_PROFILE_TRACE": self.out + ".trace"})
            self.assertEqual((run.returncode, run.stderr), (0, f"zbs-profile: rank {off[0]} has ZBS_PROFILE=0: this run is not profiled and leaves no trace\n"))
            self.assertEqual(self.files(), [])

    def test_rank_that_is_off_among_others_is_named(self):
        for off in (0, 2):
            run = self.run_mpi(3, "sh", "-c", f"[ $PMI_RANK = {off} ] && export ZBS_PROFILE=0; exec {APPS}/ring")
            self.assertEqual((run.returncode, run.stderr), (0, f"zbs-profile: rank {off} has ZBS_PROFILE=0: this run is not profiled\n"))
            self.assertEqual(self.files(), [])

    def test_unwritable_place_warns_once_and_runs(self):
        run = self.run_mpi(3, APPS + "/ring", env={"ZBS_PROFILE_OUT": "/proc/no/model.json"})
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr.count("zbs-profile:"), 1, run.stderr)
        self.assertEqual(run.stdout.count("rank "), 3)

    def test_program_that_is_not_mpi_is_left_alone(self):
        run = subprocess.run(["/bin/echo", "hello"], env={"LD_PRELOAD": LIBRARY, "ZBS_PROFILE_OUT": self.out}, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "hello\n", ""))
        self.assertEqual(self.files(), [])


class OtherLibraries(ProfilerTest):
    """The library is loaded into programs of every kind: it ends none of them, and brings no MPI with it."""
    LOAD_RING = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).main(1, (ctypes.c_char_p * 2)(b'ring', None)))"

    def test_needs_no_mpi(self):
        linked = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("mpi", linked.replace(os.path.basename(LIBRARY), ""))

    def test_program_of_open_mpi_runs_and_one_line_says_why_there_is_no_profile(self):
        if not os.path.exists(APPS + "/ring_openmpi"):
            self.skipTest("no Open MPI at build time")
        run = subprocess.run(["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "3", "-x", "LD_PRELOAD=" + LIBRARY, "-x", "ZBS_PROFILE_OUT=" + self.out,
                              APPS + "/ring_openmpi"], cwd=self.dir.name, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(line.split(" host=")[0] for line in run.stdout.splitlines()), [f"rank {rank} of 3" for rank in range(3)])
        self.assertRegex(run.stderr, "zbs-profile: this run is not profiled: the program uses Open MPI v[0-9.]+, ")
        self.assertEqual(run.stderr.count("zbs-profile:"), 1, run.stderr)
        self.assertEqual(self.files(), [])

    def test_mpi_that_python_loads_is_profiled(self):
        run = self.run_mpi(3, sys.executable, "-c", self.LOAD_RING, APPS + "/ring.so")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.edges(), {(0, 1): (8, 1), (1, 2): (8, 1), (0, 2): (8, 1)})

    def test_mpi_functions_found_by_a_handle_are_profiled(self):
        run = self.run_mpi(3, sys.executable, SOURCE + "/tests/support/mpi_by_handle.py", APPS + "/ring.so")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.edges(), {(0, 1): (8, 2), (1, 2): (8, 2), (0, 2): (8, 2)})

    def test_functions_found_by_a_handle_under_their_name_pmpi_are_profiled(self):
        program = "import sys; exec(open(sys.argv.pop(1), encoding='utf-8').read().replace('mpi.MPI_', 'mpi.PMPI_'))"
        run = self.run_mpi(3, sys.executable, "-c", program, SOURCE + "/tests/support/mpi_by_handle.py", APPS + "/ring.so")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.edges(), {(0, 1): (8, 2), (1, 2): (8, 2), (0, 2): (8, 2)})

    def test_calls_are_counted_once_with_a_tool_in_front_or_behind(self):
        for order in (APPS + "/tool.so:" + LIBRARY, LIBRARY + ":" + APPS + "/tool.so"):
            run = self.run_mpi(3, APPS + "/ring", env={"LD_PRELOAD": order})
            self.assertEqual((run.returncode, run.stderr), (0, 3 * "tool: MPI_Init\n"), order)
            self.assertEqual(self.edges(), {(0, 1): (8, 1), (1, 2): (8, 1), (0, 2): (8, 1)}, order)
            self.assertEqual(self.model().keys(), {"format", "program", "ranks", "compute", "edges"}, order)
            self.assertEqual(self.files(), ["model.json"], order)

            run = self.run_mpi(4, APPS + "/halo", "large", env={"LD_PRELOAD": order})
            self.assertEqual(self.model()["unseen"], {"MPI_Allreduce_c": 4}, order)
            self.assertEqual(run.stderr.count("zbs-profile: the model lacks messages that were sent by MPI_Allreduce_c (4 calls)\n"), 1, run.stderr)

    def test_tool_is_called_and_may_go_on_by_a_handle(self):
        for order in (APPS + "/tool.so:" + LIBRARY, LIBRARY + ":" + APPS + "/tool.so"):
            run = self.run_mpi(2, APPS + "/collectives", "barrier", "0", "0", env={"LD_PRELOAD": order})
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stderr.count("tool: MPI_Init"), 2, run.stderr)
            self.assertEqual(run.stderr.count("tool: MPI_Barrier"), 2, "what the library calls for itself is not for tools\n" + run.stderr)
            self.assertNotIn("two functions", run.stderr)
            self.assertEqual(self.edges(), {(0, 1): (0, 2)}, order)


class Missing(ProfilerTest):
    """What the library does not record it names; what it would confuse it refuses."""
    RING = {(0, 1): (1600, 2), (1, 2): (1600, 2), (2, 3): (1600, 2), (0, 3): (1600, 2)}

    def test_neighbourhood_collectives_count_as_what_they_send(self):
        for kind in ("neighbour", "ineighbour", "graph", "dist_graph"):
            run = self.run_mpi(4, APPS + "/halo", kind)
            self.assertEqual((run.returncode, run.stderr), (0, ""), kind)
            self.assertEqual(self.edges(), self.RING, kind)
            self.assertNotIn("unseen", self.model())

    def test_accesses_that_bring_something_back(self):
        self.assertEqual(self.run_mpi(2, APPS + "/halo", "access").returncode, 0)
        # Ten numbers there and back, one back.
        self.assertEqual(self.edges()[(0, 1)], (80 + 80 + 8, 3))

    def test_calls_that_are_not_seen_are_named(self):
        for kind, name, calls in (("persistent", "MPI_Allreduce_init", 4), ("partitioned", "MPI_Psend_init", 4), ("large", "MPI_Allreduce_c", 4),
                                  ("inter", "collectives on intercommunicators", 4), ("file", "MPI_File_write_at_all", 4), ("shared", "MPI_Win_allocate_shared", 4)):
            run = self.run_mpi(4, APPS + "/halo", kind)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(self.model()["unseen"], {name: calls}, kind)
            self.assertEqual(self.edges(), {}, kind)
            self.assertEqual(run.stderr, f"zbs-profile: the model lacks messages that were sent by {name} ({calls} calls)\n")

    def test_outputs_never_share_a_name(self):
        log, here = self.dir.name + "/x", {"ZBS_PROFILE_LOG": self.dir.name + "/x"}
        for other in ({**here, "ZBS_PROFILE_TRACE": log}, {**here, "ZBS_PROFILE_TRACE": "./x"}, {**here, "ZBS_PROFILE_OUT": log + ".1"},
                      {"ZBS_PROFILE_TRACE": self.out + ".rank"}):
            run = self.run_mpi(2, APPS + "/ring", env=other)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stderr, "^zbs-profile: .*: this run is not profiled\n$", other)
            self.assertEqual(os.listdir(self.dir.name), [], other)
        self.assertEqual(self.run_mpi(2, APPS + "/ring", env={**here, "ZBS_PROFILE_TRACE": log + ".1"}).stderr, "")

    def test_outputs_are_never_one_file_by_two_links(self):
        os.symlink(".", self.dir.name + "/here")
        run = self.run_mpi(2, APPS + "/ring", env={"ZBS_PROFILE_LOG": self.dir.name + "/x", "ZBS_PROFILE_TRACE": "here/x"})
        self.assertRegex(run.stderr, "^zbs-profile: ZBS_PROFILE_LOG and ZBS_PROFILE_TRACE are both .*/x: this run is not profiled\n$")
        self.assertEqual(os.listdir(self.dir.name), ["here"])
        for link in (os.link, lambda file, other: os.symlink(os.path.basename(file), other)):
            for rank in range(2):
                with open(f"{self.dir.name}/x.{rank}", "w", encoding="ascii") as file:
                    file.write("kept")
                link(f"{self.dir.name}/x.{rank}", f"{self.dir.name}/y.{rank}")
            run = self.run_mpi(2, APPS + "/ring", env={"ZBS_PROFILE_LOG": self.dir.name + "/x", "ZBS_PROFILE_TRACE": self.dir.name + "/y"})
            self.assertRegex(run.stderr, "^zbs-profile: ZBS_PROFILE_LOG and ZBS_PROFILE_TRACE are both .*/x: this run is not profiled\n$")
            for rank in range(2):
                with open(f"{self.dir.name}/x.{rank}", encoding="ascii") as file:
                    self.assertEqual(file.read(), "kept")
                os.remove(f"{self.dir.name}/y.{rank}")


class Collectives(ProfilerTest):
    def check(self, ranks, name, count, root, simulate):
        run = self.run_mpi(ranks, APPS + "/collectives", name, str(count), str(root))
        self.assertEqual(run.returncode, 0, run.stderr)
        t = expected.Traffic(range(ranks))
        simulate(t)
        self.assertEqual(self.edges(), t.result(), (ranks, name, count, root))

    def test_trees(self):
        self.check(6, "bcast", 25, 2, lambda t: expected.bcast_tree(t, 6, 2, 100))
        self.check(5, "ibcast", 25, 4, lambda t: expected.bcast_tree(t, 5, 4, 100))
        self.check(6, "reduce", 25, 5, lambda t: expected.reduce_tree(t, 6, 5, 100))
        self.check(6, "gather", 3, 1, lambda t: expected.gather(t, 6, 1, 12))
        self.check(5, "scatter", 3, 3, lambda t: expected.scatter(t, 5, 3, 12))
        self.check(6, "barrier", 0, 0, lambda t: expected.barrier(t, 6))

    def test_long_broadcasts(self):
        self.check(8, "bcast", 8001, 3, lambda t: expected.bcast_scatter(t, 8, 3, 32004, ring=False))
        self.check(8, "bcast", 140001, 1, lambda t: expected.bcast_scatter(t, 8, 1, 560004, ring=True))

    def test_reductions(self):
        for p, count, long in ((4, 2, False), (4, 1001, True), (6, 1, False), (6, 3, False), (6, 1001, True)):
            self.check(p, "allreduce", count, 0, lambda t: expected.allreduce(t, p, count, 4, long))
        self.check(4, "iallreduce", 500, 0, lambda t: expected.allreduce(t, 4, 500, 4, long=False))
        for root in (0, 1, 5):
            self.check(6, "reduce", 1001, root, lambda t: expected.reduce_long(t, 6, root, 1001, 4))

    def test_gathering(self):
        self.check(4, "allgather", 10, 0, lambda t: expected.allgather_doubling(t, 4, lambda r: 40))
        self.check(6, "allgather", 10, 0, lambda t: expected.allgather_bruck(t, 6, lambda r: 40))
        self.check(5, "allgather", 5000, 0, lambda t: expected.allgather_ring(t, 5, lambda r: 20000))
        self.check(6, "allgatherv", 10, 0, lambda t: expected.allgather_bruck(t, 6, lambda r: 4 * (10 + r)))
        self.check(4, "allgatherv", 10, 0, lambda t: expected.allgather_doubling(t, 4, lambda r: 4 * (10 + r)))

        def linear(t):
            for r in (0, 1, 2, 4):
                t.send(r, 3, 4 * (2 + r))
        self.check(5, "gatherv", 2, 3, linear)
        self.check(5, "scatterv", 2, 3, linear)

    def test_all_to_all(self):
        self.check(6, "alltoall", 10, 0, lambda t: expected.alltoall_direct(t, 6, lambda s, d: 40))
        self.check(8, "alltoall", 10, 0, lambda t: expected.alltoall_bruck(t, 8, 40))
        self.check(4, "alltoallv", 0, 0, lambda t: expected.alltoall_direct(t, 4, lambda s, d: 4 * d))
        self.check(4, "alltoallw", 3, 0, lambda t: expected.alltoall_direct(t, 4, lambda s, d: 4 * (3 + d)))

    def test_scatter_of_reductions(self):
        self.check(6, "reduce_scatter", 3, 0, lambda t: expected.reduce_scatter(t, 6, [4 * (3 + r) for r in range(6)]))
        self.check(4, "reduce_scatter_block", 3, 0, lambda t: expected.reduce_scatter(t, 4, [12] * 4))
        self.check(5, "scan", 3, 0, lambda t: expected.scan(t, 5, 12))
        self.check(6, "exscan", 3, 0, lambda t: expected.scan(t, 6, 12))

    def test_split_communicator_in_reverse_order(self):
        # Even ranks 4, 2, 0 and odd ranks 5, 3, 1; root 1 of each.
        self.assertEqual(self.run_mpi(6, APPS + "/collectives", "bcast", "25", "1", "split").returncode, 0)
        edges = {}
        for ranks in ([4, 2, 0], [5, 3, 1]):
            t = expected.Traffic(ranks)
            expected.bcast_tree(t, 3, 1, 100)
            edges.update(t.result())
        self.assertEqual(self.edges(), edges)


class Trace(ProfilerTest):
    """The trace mode, judged by the profile of the same run and by a replay, which must neither hang nor leave messages."""

    ZONES = {"format": "zbs-resources/1",
             "zones": [{"name": name, "machines": [{"name": f"m{i}", "processors": 1} for i in range(3)], "zone_delay_s": 1e-4, "zone_bandwidth_Bps": 1e9}
                       for name in "abc"],
             "links": [{"a": a, "b": b, "delay_s": 0.01, "bandwidth_Bps": 1e8} for a, b in ("ab", "ac", "bc")]}

    def setUp(self):
        super().setUp()
        self.zbs = os.path.join(os.path.dirname(APPS), "zbs")
        if not os.path.exists(self.zbs):
            self.skipTest("no client in this build")
        self.prefix = self.dir.name + "/trace"
        with open(self.dir.name + "/zones.json", "w", encoding="utf-8") as file:
            json.dump(self.ZONES, file)

    def traces(self):
        return sorted(glob.glob(self.prefix + ".*"))

    def offline(self, *arguments):
        return subprocess.run([self.zbs, *arguments], cwd=self.dir.name, capture_output=True, text=True, timeout=60)

    def trace(self, ranks, *command, env=None):
        for path in self.traces():
            os.unlink(path)
        run = self.run_mpi(ranks, *command, env={"ZBS_PROFILE_TRACE": self.prefix, **(env or {})})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def replay(self, *arguments):
        done = self.offline("replay", "--trace", *self.traces(), "--resources", "zones.json", "-o", "json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, ranks, *command, unreceived=0):
        self.trace(ranks, *command)
        self.assertEqual(len(self.traces()), ranks)
        done = self.offline("profile", *self.traces(), "--out", "from_trace.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.dir.name + "/from_trace.json", encoding="utf-8") as file:
            model = json.load(file)
        self.assertEqual({(u, v): (size, messages) for u, v, size, messages in model["edges"]}, self.edges(), command)
        self.assertNotIn("complete", model)
        report = self.replay()
        self.assertIs(report["complete"], True)
        self.assertEqual(report["unreceived_messages"], unreceived, command)
        self.assertEqual(sum(link["bytes"] for link in report["links"]), sum(size for size, _ in self.edges().values()))
        self.assertEqual(sum(link["messages"] for link in report["links"]), sum(messages for _, messages in self.edges().values()))
        return report

    def test_transport_kernel(self):
        with open(self.dir.name + "/kernel.params", "w", encoding="ascii") as file:
            file.write("NO_OF_TEAMS=2 NO_OF_PROCS_PER_TEAM=2 BYTES_INTRA_TEAM=1000 BYTES_INTER_TEAM=1000 OP_INTRA_TEAM=MPI_Allgather\n"
                       "OP_INTER_TEAM=MPI_Bcast NO_OF_EXTERNAL_CYCLES=10 NO_OF_INTERNAL_CYCLES=100 TIME_TO_COMPUTE=10000\n")
        report = self.check(5, APPS + "/transport_kernel", "kernel.params")
        # 1000 internal cycles within a zone at 0.1 ms a message: the kernel itself cannot take less.
        self.assertGreater(report["run_time_s"], 0.1)
        # A team torn over zones pays 10 ms in every cycle.
        blocks = self.replay("--algorithm", "round-robin")
        self.assertGreater(blocks["run_time_s"], 10)

    def test_every_kind_of_message(self):
        self.check(4, APPS + "/ring", "--bytes", "100", "--rounds", "3")
        # Put, Get and Accumulate: bytes that nobody receives.
        self.check(3, APPS + "/messages", unreceived=3)
        self.check(3, APPS + "/messages", "threads", unreceived=3)

    def test_receive_from_nobody(self):
        for how in ("", "i", "s", "si", "p", "pi", "ps", "b", "bi", "bs", "m", "mi", "ms", "x", "xi", "xs", "r", "ri", "rs"):
            self.check(3, APPS + "/halo", "open", how)

    def test_receive_of_an_isendrecv_from_anybody_is_named(self):
        """Whose message it was, the status of MPICH 4.0 does not show."""
        for how, function in (("xa", "MPI_Isendrecv"), ("ra", "MPI_Isendrecv_replace")):
            self.trace(3, APPS + "/halo", "open", how)
            done = self.offline("profile", *self.traces(), "--out", "from_trace.json")
            self.assertIn(f"missing    messages of {function} (2 calls)\n", done.stdout, done.stderr)

    def test_neighbourhood_collective(self):
        self.check(4, APPS + "/halo", "neighbour")

    def test_logs_of_two_runs_are_refused(self):
        log = self.dir.name + "/log"
        logs = [f"{log}.{rank}" for rank in range(5)]
        for ranks in (5, 3):
            self.assertEqual(self.run_mpi(ranks, APPS + "/ring", env={"ZBS_PROFILE_LOG": log}).returncode, 0)
            done = self.offline("profile", *logs[:ranks], "--out", "from_log.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.edges(), self.edges_in("from_log.json"))
        done = self.offline("profile", *logs)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("another run", done.stderr)
        self.offline("profile", *logs[:2], "--out", "from_log.json")
        with open(self.dir.name + "/from_log.json", encoding="utf-8") as file:
            self.assertIs(json.load(file)["complete"], False)

    def test_unseen_calls_are_shown(self):
        self.assertEqual(self.run_mpi(4, APPS + "/halo", "persistent").returncode, 0)
        self.assertIn("missing    messages of MPI_Allreduce_init (4 calls)\n", self.offline("profile", self.out).stdout)
        self.assertEqual(json.loads(self.offline("profile", "export", self.out).stdout)["unseen"], {"MPI_Allreduce_init": 4})

    def test_unseen_calls_are_in_logs_and_traces(self):
        log = self.dir.name + "/log"
        self.trace(4, APPS + "/halo", "persistent", env={"ZBS_PROFILE_LOG": log})
        for files in (self.traces(), [f"{log}.{rank}" for rank in range(4)]):
            done = self.offline("profile", *files, "--out", "from_files.json")
            self.assertIn("missing    messages of MPI_Allreduce_init (4 calls)\n", done.stdout, done.stderr)
            with open(self.dir.name + "/from_files.json", encoding="utf-8") as file:
                model = json.load(file)
            self.assertEqual((model["complete"], model["unseen"]), (False, {"MPI_Allreduce_init": 4}))
        report = self.replay()
        self.assertEqual((report["complete"], report["unseen"]), (False, {"MPI_Allreduce_init": 4}))

    def edges_in(self, name):
        with open(self.dir.name + "/" + name, encoding="utf-8") as file:
            return {(u, v): (size, messages) for u, v, size, messages in json.load(file)["edges"]}

    def test_every_collective(self):
        for ranks in (2, 3, 4, 5, 6, 8):
            for count in ("7", "20000"):
                self.check(ranks, APPS + "/collectives", "all", count)

    def test_fortran(self):
        if not os.path.exists(APPS + "/fortran_ring"):
            self.skipTest("no Fortran compiler for MPICH at build time")
        self.check(4, APPS + "/fortran_ring")
        self.check(3, APPS + "/fortran08_ring")

    def test_file_is_bounded(self):
        run = self.trace(2, APPS + "/ring", "--rounds", "20000", env={"ZBS_PROFILE_TRACE_MIB": "1"})
        self.assertIn("stops tracing", run.stderr)
        for path in self.traces():
            self.assertLessEqual(os.path.getsize(path), (1 << 20) + 288)
        self.assertIs(self.replay()["complete"], False)

    def test_killed_rank_leaves_an_incomplete_trace(self):
        run = self.run_mpi(4, APPS + "/ring", "--kill", "2", "--sleep", "0.3", env={"ZBS_PROFILE_TRACE": self.prefix})
        self.assertNotEqual(run.returncode, 0)
        self.assertIs(self.replay()["complete"], False)

    def test_unwritable_place_warns_and_runs(self):
        run = self.run_mpi(2, APPS + "/ring", env={"ZBS_PROFILE_TRACE": "/proc/no/trace"})
        self.assertEqual(run.returncode, 0)
        self.assertIn("cannot write the trace", run.stderr)
        self.assertEqual(self.edges(), {(0, 1): (16, 2)})


class Endings(ProfilerTest):
    RING = {(0, 1): (8, 1), (1, 2): (8, 1), (2, 3): (8, 1), (0, 3): (8, 1)}

    def merge(self):
        """The rank files, read by their documented layout."""
        edges, states, world = {}, {}, 0
        for path in glob.glob(self.out + ".rank.*"):
            with open(path, "rb") as file:
                data = file.read()
            magic, version, header, _, world, rank, state = struct.unpack_from("=8sIIQIII", data)
            self.assertEqual((magic, version, header, len(data)), (b"ZBSPROF1", 1, 328, 328 + 16 * world))
            self.assertEqual(path, f"{self.out}.rank.{rank}")
            states[rank] = state
            for peer in range(world):
                size, messages = struct.unpack_from("=QQ", data, header + 16 * peer)
                if messages and peer != rank:
                    pair = min(rank, peer), max(rank, peer)
                    old = edges.get(pair, (0, 0))
                    edges[pair] = (old[0] + size, old[1] + messages)
        self.assertEqual(sorted(states), list(range(world)))
        return edges, states

    def test_abort_leaves_a_partial_model(self):
        # The others sleep in their sends' aftermath, so that rank 2 aborts when the ring has been closed.
        run = self.run_mpi(4, APPS + "/ring", "--abort", "2", "--sleep", "0.3")
        self.assertEqual(run.returncode, 7)
        self.assertIs(self.model()["complete"], False)
        self.assertEqual(self.edges(), self.RING)

    def test_exit_without_finalize_leaves_a_partial_model(self):
        run = self.run_mpi(4, APPS + "/ring", "--leave", "1", "--sleep", "0.3")
        self.assertNotEqual(run.returncode, 0)
        self.assertIs(self.model()["complete"], False)
        self.assertEqual(self.edges(), self.RING)

    def test_kill_leaves_rank_files_that_merge(self):
        run = self.run_mpi(4, APPS + "/ring", "--kill", "2", "--sleep", "0.3")
        self.assertNotEqual(run.returncode, 0)
        edges, states = self.merge()
        self.assertEqual(edges, self.RING)
        self.assertEqual(states[2], 0)
        self.assertFalse(os.path.exists(self.out))

    def test_next_run_replaces_what_a_killed_run_left(self):
        self.run_mpi(4, APPS + "/ring", "--kill", "2", "--sleep", "0.3", "--bytes", "1000")
        self.assertEqual(len(self.files()), 4)
        self.assertEqual(self.run_mpi(4, APPS + "/ring").returncode, 0)
        self.assertEqual(self.edges(), self.RING)
        self.assertEqual(self.files(), ["model.json"])


class Lu(ProfilerTest):
    def test_lu_factorisation_on_six_ranks(self):
        if not os.path.exists(XDLU):
            self.skipTest(f"{XDLU} is missing (package scalapack-mpi-test)")
        with open(self.dir.name + "/LU.dat", "w", encoding="ascii") as file:
            file.write("'LU'\n'MPI'\n'LU.out'\n6\n1\n120\n120\n1\n8\n1\n1\n1\n8\n1\n2\n3\n1.0\nF\n")
        run = self.run_mpi(6, XDLU)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 tests completed and passed", run.stdout)
        edges, model = self.edges(), self.model()
        self.assertEqual(model["ranks"], 6)
        self.assertGreater(min(model["compute"]), 0)
        # Grid 2x3, row by row: process rows 0 1 2 / 3 4 5. Panels travel along rows, pivots along columns.
        for pair in ((0, 1), (3, 4), (0, 3), (1, 4), (2, 5)):
            self.assertGreater(edges[pair][0], 1000, pair)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
