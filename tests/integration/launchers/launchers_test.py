#!/usr/bin/python3
"""Programs of Open MPI, and srun, inside one zone: launchers_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [CLASS[.TEST]...]

`zbs quickstart --slurm`: zones a, b and c on this host, and d, whose machines are the nodes of a Slurm that the test starts; without
Slurm's packages the tests of d are skipped.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import unittest

PROGRAMS, SOURCE, APPS = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path[:0] = [SOURCE + "/tests/support", SOURCE + "/tests/integration/federation"]
import federation
import slurm_cluster

federation.BIN = PROGRAMS
until = federation.until
OPENMPI_RING, MPICH_RING = APPS + "/ring_openmpi", APPS + "/ring"
without_slurm = slurm_cluster.missing()


def setUpModule():
    global cluster, world
    cluster = None if without_slurm else slurm_cluster.SlurmCluster(["n1", "n2", "n3", "n4"], 2, partitions={"all": "Nodes=ALL Default=YES MaxTime=90 MaxNodes=3"})
    try:
        world = federation.Federation(quickstart_options=["--slurm", cluster.folder + "/slurm.conf"] if cluster else [])
        world.__enter__()
    except BaseException:
        if cluster:
            cluster.stop()
        raise


def tearDownModule():
    try:
        world.__exit__()
    finally:
        if cluster:
            cluster.stop()


class Launched(unittest.TestCase):
    options = []

    def run_job(self, *arguments, env=None, cwd=None):
        """Result of `zbs run`, and the application as it is then."""
        done = world.zbs(*self.options, "run", *arguments, timeout=120, env=env, cwd=cwd)
        rows = world.zbs(*self.options, "list", "--limit", "1", "-o", "jsonl").stdout
        return done, json.loads(world.zbs(*self.options, "show", json.loads(rows)["id"], "-o", "json").stdout)

    def check_ranks(self, done, ranks):
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), ranks, done)
        self.assertEqual(sorted(int(line.split()[1]) for line in lines), list(range(ranks)))
        self.assertTrue(all(f"of {ranks} " in line for line in lines), done.stdout)


    def check_staged(self, program, *options):
        """Program and input go along, a result comes back."""
        with tempfile.TemporaryDirectory(prefix="zbs-launchers-") as folder:
            shutil.copy(program, folder + "/solver")
            with open(folder + "/input", "w") as f:
                f.write("of this job\n")
            script = folder + "/work"
            with open(script, "w") as f:
                f.write("#!/bin/sh\ncp input \"copy.$$\"\nexec ./solver\n")
            os.chmod(script, 0o755)
            os.mkdir(folder + "/results")
            done, shown = self.run_job("-n", "2", *options, "--stage-in", folder + "/solver", "--stage-in", folder + "/input", "--stage-in", script,
                                       "--stage-out", "copy.*", "--results", folder + "/results", "--", "./work", cwd=folder)
            self.check_ranks(done, 2)
            self.assertNotIn("cwd=" + folder, done.stdout)
            copies = [federation.read(f"{folder}/results/{name}") for name in os.listdir(folder + "/results")]
            self.assertEqual(copies, ["of this job\n"] * 2, done)
        return shown


class Mpirun(Launched):

    @staticmethod
    def rank_in(shown):
        return shown["reason"].split()[1]  # any: all of them end so


class OpenMpi(Mpirun):
    def test_files_go_along(self):
        self.check_staged(OPENMPI_RING, "--launcher", "openmpi")

    def test_a_program_of_open_mpi_is_launched_by_mpirun_in_the_home_zone(self):
        done, shown = self.run_job("-n", "3", "--env", "ZBS_TEST_VAR=a b", "--chdir", "/", "--", OPENMPI_RING, "x y", "--rounds", "5")
        self.check_ranks(done, 3)
        self.assertIn("cwd=/ ZBS_TEST_VAR=a b args=[x y] [--rounds] [5]", done.stdout)
        self.assertEqual((shown["launcher"], [part["zone"] for part in shown["parts"]]), ("openmpi", ["a"]))

    def test_its_exit_code_is_the_applications(self):
        done, shown = self.run_job("-n", "2", "--", OPENMPI_RING, "--exit-code", "7")
        self.assertEqual((done.returncode, shown["state"], shown["reason"]), (7, "failed", f"rank {self.rank_in(shown)} on a.m0 exited with code 7"), done)

    def test_the_mpi_of_a_python_program_is_that_of_its_module(self):
        """The interpreter is linked with none. The module stands in for mpi4py's: a file that is linked as that is, and never loaded."""
        with tempfile.TemporaryDirectory(prefix="zbs-launchers-") as folder:
            modules = pathlib.Path(folder, "modules")
            (modules / "mpi4py").mkdir(parents=True)
            (modules / "mpi4py/__init__.py").write_text("raise SystemExit('imported')\n")
            script = pathlib.Path(folder, "solver")
            script.write_text("#!/usr/bin/env python3\nimport os, sys  # from mpi4py import MPI\nos.execv(sys.argv[1], sys.argv[1:])\n")
            script.chmod(0o755)
            other = pathlib.Path(folder, "other.py")
            other.write_text("import os, sys\nos.execv(sys.argv[1], sys.argv[1:])\n")
            for program, launcher in ((OPENMPI_RING, "openmpi"), (MPICH_RING, None)):
                shutil.copy(program, modules / "mpi4py/MPI.cpython-311-x86_64-linux-gnu.so")
                for start in ([str(script)], ["/usr/bin/python3", str(script)]):
                    done, shown = self.run_job("-n", "2", "--env", "PYTHONPATH", "--", *start, program, env={"PYTHONPATH": str(modules)})
                    self.check_ranks(done, 2)
                    self.assertEqual(shown.get("launcher"), launcher, start)
            # A script that does not name the module is taken for none of its programs.
            done, shown = self.run_job("-n", "2", "--", "/usr/bin/python3", str(other), MPICH_RING, env={"PYTHONPATH": str(modules)})
            self.check_ranks(done, 2)
            self.assertNotIn("launcher", shown)

    def test_it_needs_more_than_home_has(self):
        done, shown = self.run_job("-n", "6", "--", OPENMPI_RING)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(shown["state"], "rejected")
        self.assertIn("launcher openmpi works in the home zone only", done.stderr)

    def test_a_zone_list_without_home_is_refused(self):
        done = world.zbs("submit", "--zones", "b", "--", OPENMPI_RING)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("launcher openmpi works in zone a only", done.stderr)

    def test_a_launcher_of_another_mpi_is_refused(self):
        for program, launcher, mpi, right in ((OPENMPI_RING, "mpich", "Open MPI (libmpi.so.40)", "openmpi"), (MPICH_RING, "openmpi", "MPICH (libmpich.so.12)", "mpich")):
            done = world.zbs("submit", "-n", "2", "--launcher", launcher, "--", program)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"--launcher: {program} loads {mpi}, and each of its ranks would run alone; use '{right}'", done.stderr)

    def test_the_library_of_the_zone_leaves_a_program_of_open_mpi_alone(self):
        own = os.path.realpath("/lib/x86_64-linux-gnu/libm.so.6")
        done, shown = self.run_job("-n", "2", "--launcher", "openmpi", "--env", "LD_PRELOAD=" + own, "--", "/bin/sh", "-c", 'echo "$LD_PRELOAD" >&2; exec "$0"', OPENMPI_RING)
        self.check_ranks(done, 2)
        self.assertEqual(len(re.findall(rf"(?m)^{own}:/[^:\n]+/libzbs-profile\.so$", done.stderr)), 2, done.stderr)
        self.assertNotIn("zbs-profile: ", done.stderr)
        self.assertNotIn("profile", shown)

    def test_a_rank_has_the_umask_and_the_limits_that_were_asked_for(self):
        done, _ = self.run_job("-q", "-n", "2", "--launcher", "openmpi", "--umask", "022", "--ulimit", "nofile=321", "--", "sh", "-c", "echo $(umask) $(ulimit -n)")
        self.assertEqual((done.returncode, done.stdout), (0, "0022 321\n" * 2), done)

    def test_one_rank_needs_no_launcher_of_its_own_mpi(self):
        for program, launcher, size in ((OPENMPI_RING, "mpich", "PMI_SIZE"), (MPICH_RING, "openmpi", "OMPI_COMM_WORLD_SIZE")):
            done, _ = self.run_job("-n", "1", "--launcher", launcher, "--", "/bin/sh", "-c", 'exec "$0"', program)
            self.assertEqual(done.returncode, 0, done.stderr)
            alone = f'unset {size}; exec "$0"'  # on purpose
            done, _ = self.run_job("-n", "2", "--launcher", launcher, "--", "/bin/sh", "-c", alone, program)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_srun_without_slurm_is_refused(self):
        done = world.zbs("submit", "--launcher", "srun", "--", MPICH_RING)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("zone a is not in front of Slurm", done.stderr)


class OpenMpiEnds(Mpirun):
    def test_a_rank_that_ends_before_finalizing_is_named_as_under_mpich(self):
        for how, code, exit_code, what in (("exit", 7, 7, "exited with code 7 before MPI_Finalize"), ("exit", 0, 1, "exited with code 0 before MPI_Finalize"),
                                           ("leave", 0, 1, "exited with code 0 before MPI_Finalize"), ("signal", 11, 139, "ended by signal 11"), ("abort", 5, 5, "called MPI_Abort with code 5"), ("abort-self", 3, 3, "called MPI_Abort with code 3")):
            done, shown = self.run_job("-n", "3", "--launcher", "openmpi", "--", APPS + "/dies_openmpi", how, "1", str(code))
            self.assertEqual((done.returncode, shown["reason"]), (exit_code, f"rank 1 on a.m0 {what}"), done)

    def test_at_the_walltime_ranks_that_passed_finalize_are_in_the_reason(self):
        done, shown = self.run_job("-n", "2", "-t", "8s", "--launcher", "openmpi", "--", "/bin/sh", "-c", f"'{OPENMPI_RING}'; sleep 100")
        self.assertIn("all ranks there had returned from MPI_Finalize", shown["reason"], done)

    def test_cancelled_it_leaves_nothing(self):
        application = world.submit("-n", "4", "--", OPENMPI_RING, "--sleep", "100")
        world.wait_state(application, {"running"})
        mine = lambda: [pid for pid, (argv, _) in federation.processes().items() if OPENMPI_RING in argv or argv[0].endswith("/orted")]
        until(lambda: len(mine()) >= 5, 30, lambda: f"ranks and daemon are not there: {mine()}")
        self.assertEqual(world.zbs("cancel", application).returncode, 0)
        world.wait_state(application, {"cancelled"})
        until(lambda: not mine(), 5, lambda: f"left: {mine()}")


class OpenMpiFailures(Mpirun):
    def test_a_signal_that_ends_a_rank_is_told(self):
        done, shown = self.run_job("-n", "3", "--", OPENMPI_RING, "--kill", "1")
        self.assertEqual((done.returncode, shown["reason"]), (137, "rank 1 on a.m0 ended by signal 9"), done)

    def test_output_behind_the_end_of_a_rank_is_kept(self):
        done, _ = self.run_job("-n", "2", "--launcher", "openmpi", "--", "/bin/sh", "-c", f"(sleep 1; echo late) & exec '{OPENMPI_RING}'")
        self.assertEqual((done.returncode, done.stdout.count("late\n")), (0, 2), done)

    def test_ranks_of_an_mpi_that_was_not_seen_do_not_run_alone(self):
        """The launcher of the other MPI starts them, because they are behind a script."""
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for program, launcher, mpi, other, right in ((OPENMPI_RING, "auto", "Open MPI", "MPICH", "openmpi"), (MPICH_RING, "openmpi", "MPICH", "Open MPI", "mpich")):
            for own in ((), ("--env", "LD_PRELOAD=" + os.path.realpath("/lib/x86_64-linux-gnu/libm.so.6"))):  # a user's library does not take the place of the zone's
                with self.subTest(program=program, own=own):
                    done, shown = self.run_job("-n", "2", "--launcher", launcher, *own, "--", "/bin/sh", "-c", 'exec "$0"', program, env=root)
                    self.assertEqual((done.returncode, shown["state"]), (1, "failed"), done.stderr)
                    self.assertIn(f"zbs-profile: the program uses {mpi} and was started by the launcher of {other}, so each of its ranks would run alone: give --launcher {right}\n", done.stderr)
                    self.assertNotIn("rank 0 of 1", done.stdout)

    def test_a_program_that_cannot_run_is_named(self):
        with tempfile.TemporaryDirectory(prefix="zbs-launchers-") as folder:
            program = pathlib.Path(folder, "solver")
            for text, why in (("#!/nowhere/interpreter\n", "its interpreter /nowhere/interpreter: No such file or directory"), ("\x7fELF of another machine", "Exec format error")):
                program.write_text(text)
                program.chmod(0o755)
                done, shown = self.run_job("-n", "2", "--launcher", "openmpi", "--", str(program))
                self.assertEqual((done.returncode, shown["reason"]), (127, f"the program did not begin in zone a: cannot run {program}: {why}"), done)

    def test_a_folder_that_is_gone_when_the_ranks_start_is_named(self):
        with tempfile.TemporaryDirectory(prefix="zbs-launchers-") as folder:
            gone = pathlib.Path(folder, "gone")
            gone.mkdir()
            others = world.submit("-n", "4", "--zones", "a", "--", "sleep", "4")
            world.wait_state(others, {"running"})
            waiting = world.submit("-n", "4", "--launcher", "openmpi", "-D", str(gone), "--", "pwd")
            gone.rmdir()
            world.zbs("wait", others, waiting)
            self.assertEqual(world.show(waiting)["reason"], f"the program did not begin in zone a: cannot enter folder {gone}: No such file or directory")


@unittest.skipIf(without_slurm, without_slurm)
class Slurm(Launched):
    @classmethod
    def setUpClass(cls):
        refused = world.zbs("--credentials", world.log_in("d", "dan"), "submit", "--launcher", "srun", "--", MPICH_RING)
        assert refused.returncode != 0 and "do not see its state folder" in refused.stderr, refused
        with open(f"{world.folder}/state/d.toml", "a") as settings:
            settings.write("\n[staging]\nnodes_share_state = true\n")
        zone = lambda: next((pid for pid, (argv, _) in federation.processes().items() if argv[0].endswith("zbs-zone") and argv[-1] == f"{world.folder}/state/d.toml"), None)
        old = zone()
        os.kill(old, signal.SIGTERM)  # quickstart starts it again
        until(lambda: zone() not in (None, old), 30, "zone d is not back")
        cls.options = ["--credentials", until(lambda: cls.logged_in(), 30, "zone d takes no users")]

    @staticmethod
    def logged_in():
        try:
            return world.log_in("d", "dora")
        except AssertionError:
            return None

    def check_on_nodes(self, shown, launcher, nodes):
        self.assertEqual((shown["launcher"], [part["zone"] for part in shown["parts"]]), (launcher, ["d"]))
        self.assertEqual(len({place["machine"] for place in shown["parts"][0]["assignment"]}), nodes)


class InFrontOfSlurm(Slurm):
    def test_files_go_along(self):
        self.check_staged(MPICH_RING, "--launcher", "srun")

    def test_srun_launches_a_program_of_mpich(self):
        done, shown = self.run_job("-n", "6", "--launcher", "srun", "--env", "ZBS_TEST_VAR=a b", "--chdir", "/", "--", MPICH_RING, "x y")
        self.check_ranks(done, 6)
        self.assertIn("cwd=/ ZBS_TEST_VAR=a b args=[x y]", done.stdout)
        self.check_on_nodes(shown, "srun-pmi2", 3)
        self.assertIn("profile", shown, "a run under srun left no profile")

    def test_srun_launches_a_program_of_open_mpi(self):
        done, shown = self.run_job("-n", "2", "--launcher", "srun", "--", OPENMPI_RING)
        self.check_ranks(done, 2)
        self.check_on_nodes(shown, "srun-pmix", 1)

    def test_limits_of_the_partition_bound_a_part(self):
        fits = ["--walltime", "75m", "--launcher", "srun", "--dry-run", "--"]
        self.assertEqual(world.zbs(*self.options, "run", "-n", "6", *fits, MPICH_RING).returncode, 0)
        for arguments in (["-n", "7", *fits], ["-n", "2", "--walltime", "80m", *fits[2:]]):
            done = world.zbs(*self.options, "run", *arguments, MPICH_RING)
            self.assertNotEqual(done.returncode, 0, done)
        done, shown = self.run_job("-n", "7", "--launcher", "srun", "--", MPICH_RING)
        self.assertEqual(shown["state"], "rejected", done)

    def test_mpirun_launches_on_several_nodes(self):
        done, shown = self.run_job("-n", "6", "--", OPENMPI_RING, "--bytes", "100000", "--rounds", "3")
        self.check_ranks(done, 6)
        self.check_on_nodes(shown, "openmpi", 3)


class InFrontOfSlurmEnds(Slurm):
    def test_under_srun_the_exit_code_is_the_applications(self):
        done, shown = self.run_job("-n", "4", "--launcher", "srun", "--", MPICH_RING, "--exit-code", "7")
        self.assertEqual((done.returncode, shown["state"], shown["reason"]), (7, "failed", "the program ended with exit code 7"), done)

    def test_one_rank_that_fails_ends_all_under_srun(self):
        done, shown = self.run_job("-n", "4", "--walltime", "20m", "--launcher", "srun", "--", "/bin/sh", "-c", "[ $SLURM_PROCID != 2 ] || exit 9; sleep 100")
        self.assertEqual(shown["state"], "failed", done)
        self.assertEqual(done.returncode, 9, done)
        self.assertRegex(shown["reason"], r"^rank 2 on d\.n\d exited with code 9$")

    def test_cancelled_under_srun_it_leaves_nothing(self):
        done = world.zbs(*self.options, "submit", "-n", "4", "--walltime", "20m", "--launcher", "srun", "--", "/bin/sh", "-c", "sleep 1234")
        application = done.stdout.strip()
        mine = lambda: [pid for pid, (argv, _) in federation.processes().items() if argv[-1:] == ["1234"]]
        until(lambda: len(mine()) == 4, 60, lambda: f"ranks are not there: {mine()}")
        self.assertEqual(world.zbs(*self.options, "cancel", application).returncode, 0)
        until(lambda: not mine(), 15, lambda: f"left: {mine()}")

    def test_cancelled_under_srun_ranks_have_time_to_save(self):
        script = "trap 'echo got; got=y' TERM; echo up; until [ \"$got\" ]; do sleep 0.05; done; sleep $((1 + SLURM_PROCID)); echo saved"
        application = world.zbs(*self.options, "submit", "-n", "2", "--launcher", "srun", "--", "/bin/sh", "-c", script).stdout.strip()
        logs = lambda: world.zbs(*self.options, "logs", application).stdout.split()
        until(lambda: logs().count("up") == 2, 60, lambda: f"ranks are not there: {logs()}")
        self.assertEqual(world.zbs(*self.options, "cancel", application).returncode, 0)
        until(lambda: logs().count("saved") == 2, 20, lambda: f"ranks have not saved: {logs()}")
        self.assertEqual(logs().count("got"), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
