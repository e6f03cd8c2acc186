#!/usr/bin/python3
"""Programs that misbehave, in real zones: programs_test.py PROGRAMS_FOLDER SOURCE_DIR APPS_FOLDER [CLASS[.TEST]...]

What a user's program can be and do without its fault or by it, what the zone then does, and what it says.
"""
import hashlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, SOURCE, APPS = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path[:0] = [SOURCE + "/tests/integration/federation"]
import federation

federation.BIN = PROGRAMS
until = federation.until
RING = APPS + "/ring"
OUTPUT_MIB = 400  # of one job, in zone a
LARGE = 300 * 10**6  # bytes; three times what a service may grow by


def setUpModule():
    global world
    world = federation.Federation()
    world.__enter__()
    with open(f"{world.folder}/state/a.toml", "a") as settings:
        settings.write(f"\n[mpi]\noutput_MiB = {OUTPUT_MIB}\n")
    old = zone_processes()["a"]
    os.kill(old, signal.SIGTERM)  # quickstart starts it again
    until(lambda: zone_processes().get("a", old) != old, 30, "zone a is not back")
    until(lambda: world.zbs("list").returncode == 0, 30, "zone a does not answer")


def tearDownModule():
    world.__exit__()


def zone_processes():
    return {argv[-1].rsplit("/", 1)[-1].removesuffix(".toml"): pid for pid, (argv, _) in federation.processes().items()
            if argv[0].endswith("/zbs-zone") and world.folder in argv[-1]}


def resident_mb(pid):
    return next(int(line.split()[1]) / 1024 for line in federation.read(f"/proc/{pid}/status").splitlines() if line.startswith("VmRSS"))


def marked(mark):
    return [pid for pid, (argv, _) in federation.processes().items() if mark in " ".join(argv)]


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zbs-programs-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text, mode):
        path = f"{self.folder}/{name}"
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def refused(self, words, *arguments):
        """Before it is submitted."""
        before = world.zbs("list", "-o", "jsonl").stdout
        done = world.zbs("run", *arguments)
        self.assertEqual(done.returncode, 3, done)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(world.zbs("list", "-o", "jsonl").stdout, before)

    def last(self):
        return world.show(json.loads(world.zbs("list", "--limit", "1", "-o", "jsonl").stdout)["id"])


class Starts(Job):
    # What cannot be started.

    def test_no_such_program(self):
        self.refused(["/nowhere/solver", "no such file"], "--", "/nowhere/solver")
        self.refused(["no-such-solver", "PATH"], "--", "no-such-solver")

    def test_no_program_but_something_else(self):
        self.refused([self.folder, "it is a folder"], "--", self.folder)
        text = self.file("notes.txt", "not a program\n", 0o644)
        self.refused([text, "not executable", "chmod"], "--", text)

    def test_a_program_that_is_gone_when_the_ranks_start(self):
        """As one that is at home and not on a zone's machines."""
        program = self.file("solver", "#!/nowhere/interpreter\n", 0o755)
        done = world.zbs("run", "-n", "2", "--", program, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("No such file or directory", done.stderr)
        shown = self.last()
        self.assertEqual((shown["state"], shown["exit_code"], shown["reason"]), ("failed", 127, f"the program did not begin in zone {shown['parts'][0]['zone']}: cannot run {program}: its interpreter /nowhere/interpreter: No such file or directory"))

    def test_a_folder_that_is_gone_when_the_ranks_start(self):
        gone = pathlib.Path(self.folder) / "gone (away)"
        gone.mkdir()
        others = world.submit("-n", "12", "--", "sleep", "4")
        waiting = world.submit("-n", "4", "-D", str(gone), "--", "pwd")
        gone.rmdir()
        world.zbs("wait", others, waiting)
        shown = world.show(waiting)
        self.assertEqual((shown["state"], shown["reason"]), ("failed", f"the program did not begin in zone {shown['parts'][0]['zone']}: cannot enter folder {gone}: No such file or directory"))
        here = pathlib.Path(self.folder) / "here"
        here.mkdir()
        done = subprocess.run(["sh", "-c", f"rmdir '{here}'; exec '{PROGRAMS}/zbs' run -- true"], cwd=here, env=world.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (3, "zbs: the folder of this command was removed; change into another one\n"))

    def test_a_job_goes_on_when_the_terminal_of_its_command_closes(self):
        for command in ("run", "wait"):
            if command == "run":
                followed = world.start("run", "-n", "1", "--", "/bin/sh", "-c", "echo begun; until [ -e '%s/end' ]; do sleep 0.05; done" % self.folder)
                self.addCleanup(followed.communicate)
                self.addCleanup(followed.kill)
                self.assertEqual(followed.stdout.readline(), "begun\n")
                application = self.last()["id"]
            else:
                followed = world.start("wait", application)
                self.addCleanup(followed.communicate)
                self.addCleanup(followed.kill)
                with self.assertRaises(subprocess.TimeoutExpired):
                    followed.wait(1)
            followed.send_signal(signal.SIGHUP)
            self.assertEqual(followed.wait(30), -signal.SIGHUP, command)
            self.assertEqual(world.show(application)["state"], "running", command)
        self.file("end", "", 0o644)
        self.assertEqual(world.zbs("wait", application).returncode, 0)

    # The account of a rank.

    def test_a_rank_has_the_world_of_the_account_that_it_runs_as(self):
        show = ("-q", "-n", "6", "--", "sh", "-c", 'test -n "$SHELL" && rm "$(mktemp)" && echo "$(id -un) $USER $LOGNAME $HOME"')
        submitter = {"USER": "somebody", "LOGNAME": "somebody", "SHELL": "", "HOME": self.folder, "TMPDIR": "/nowhere", "TMP": "/nowhere"}
        for words in ((), ("--env-all",)):
            done = world.zbs("run", *words, *show, env=submitter)
            lines = done.stdout.splitlines()
            self.assertEqual(len(lines), 6, done)
            for line in lines:
                name, user, logname, home = line.split(" ", 3)
                self.assertEqual((user, logname, home), (name, name, pwd.getpwnam(name).pw_dir))
        done = world.zbs("run", "-q", "--env", "HOME=/mine", "--", "sh", "-c", 'echo "$HOME"')
        self.assertEqual(done.stdout, "/mine\n")

    def test_variables_of_the_user_reach_the_program_and_no_launcher(self):
        """Each launcher is linked with a library of this name, and would not start with this one."""
        self.file("libhwloc.so.15", "no library\n", 0o644)
        variables = {"LD_LIBRARY_PATH": str(self.folder), "PATH": "/nowhere", "PYTHONPATH": "/nowhere either"}
        words = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        for launcher in ("mpich", "openmpi"):
            done = world.zbs("run", "-q", "-n", "3", "--launcher", launcher, *words, "--", "/usr/bin/env", timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), launcher)
            for name, value in variables.items():
                self.assertEqual(done.stdout.splitlines().count(f"{name}={value}"), 3, (launcher, done.stdout))
            self.assertNotRegex(done.stdout, "(?m)^ZBS_RANK_ENV_")

    def test_umask_and_limits_that_were_asked_for(self):
        done = world.zbs("run", "-q", "-n", "5", "--umask", "027", "--ulimit", "nofile=64", "--ulimit", "stack=1M", "--", "sh", "-c", 'echo "$(umask) $(ulimit -n) $(ulimit -s)"')
        self.assertEqual(done.stdout, "0027 64 1024\n" * 5, done)
        done = world.zbs("run", "-q", "--ulimit", "core=1", "--", "true")
        self.assertEqual(done.returncode, 127, done)
        self.assertRegex(self.last()["reason"], "^the program did not begin in zone .: cannot set the limit core to 1: the most that is allowed here is 0$")
        for words, fault in ((("--umask", "9"), "--umask: must be octal"), (("--ulimit", "stack=big"), "--ulimit: 'stack=big' must be NAME=NUMBER")):
            done = world.zbs("run", *words, "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(fault, done.stderr)

    def test_a_file_that_no_machine_can_run(self):
        done = world.zbs("run", "-n", "2", "--", self.file("solver", "\x7fELF of another machine", 0o755), timeout=60)
        shown = self.last()
        self.assertEqual((done.returncode, shown["state"]), (127, "failed"))
        self.assertRegex(shown["reason"], "^the program did not begin in zone .: cannot run .*/solver: Exec format error$")

    def test_a_staged_file_that_no_machine_can_run(self):
        for text, why in (("#!/nowhere/interpreter\n", "its interpreter /nowhere/interpreter: No such file or directory"),
                          ("\x7fELF of another machine", "Exec format error")):
            program = self.file("solver", text, 0o755)
            done = world.zbs("run", "--zones", "b", "--stage-in", program, "--", "./solver", timeout=60, cwd=self.folder)
            shown = self.last()
            self.assertEqual((done.returncode, shown["state"], shown["reason"]), (127, "failed", f"the program did not begin in zone b: cannot run ./solver: {why}"), done)


class Output(Job):
    # What it writes.

    def test_output_of_any_bytes_comes_back_unchanged(self):
        content = os.urandom(300_000) + b"\0\xff\x1b[2J\r\n" + b"no newline at the end"
        path = f"{self.folder}/content"
        with open(path, "wb") as f:
            f.write(content)
        done = subprocess.run([PROGRAMS + "/zbs", "run", "-q", "--", "/bin/cat", path], capture_output=True, timeout=60, env=world.environment)
        self.assertEqual((done.returncode, done.stdout), (0, content))
        raw = subprocess.run([PROGRAMS + "/zbs", "logs", self.last()["id"], "--rank", "0"], capture_output=True, timeout=30, env=world.environment)
        self.assertEqual(raw.stdout, content)

    def test_a_comment_is_shown(self):
        self.assertEqual(world.zbs("run", "-q", "--comment", "grid 3, run ä", "--", "/bin/true", timeout=60).returncode, 0)
        self.assertEqual(self.last()["comment"], "grid 3, run ä")
        self.assertIn("\ncomment    grid 3, run ä\n", world.zbs("show", "last").stdout)
        refused = world.zbs("run", "--comment", "two\nlines", "--", "/bin/true")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--comment", refused.stderr)

    def test_a_message_does_not_continue_a_line_of_the_program(self):
        for streams, code in (("2", 3), ("1", 3), ("2", 0)):
            done = subprocess.run([PROGRAMS + "/zbs", "run", "--", "/bin/sh", "-c", f"printf abc >&{streams}; exit {code}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, env=world.environment)
            self.assertEqual(done.returncode, code, done)
            if code:
                self.assertIn(f"\nabc\nzbs: {self.last()['id']} failed: ", done.stdout)
            else:
                self.assertTrue(done.stdout.endswith("\nabc"), done)

    def test_folders_that_are_closed_or_deep_are_the_jobs_own(self):
        script = 'echo 1 > a; mkdir c; chmod 0 c; mkdir -p "$(seq -s / 70)"; sleep 4; chmod 700 c'
        done = world.zbs("run", "-q", "--zones", "b", "--stage-out", "a", "--results", self.folder, "--", "sh", "-c", script, timeout=60, cwd=self.folder)
        self.assertEqual((done.returncode, self.last()["state"]), (0, "completed"), done)


class Bounds(Job):
    # What it writes without end.

    def test_much_output_is_kept_and_costs_no_service_its_memory(self):
        before = {zone: resident_mb(pid) for zone, pid in zone_processes().items()}
        program = f"head -c {LARGE} /dev/zero | tr '\\0' '\\101'"
        application = world.submit("--", "/bin/sh", "-c", program)
        world.wait_state(application, {"completed"}, 300)
        folder = f"{world.folder}/state/a/steps/mpi-{application}/job"
        self.assertEqual(os.path.getsize(folder + "/.zbs-out.0"), LARGE)
        digest = hashlib.sha256()
        with subprocess.Popen([PROGRAMS + "/zbs", "logs", application, "--rank", "0"], stdout=subprocess.PIPE, env=world.environment) as reader:
            while block := reader.stdout.read(1 << 20):
                digest.update(block)
        self.assertEqual(reader.returncode, 0)
        wanted = hashlib.sha256()
        for _ in range(1000):
            wanted.update(b"A" * (LARGE // 1000))
        self.assertEqual(digest.hexdigest(), wanted.hexdigest())
        for zone, pid in zone_processes().items():
            self.assertLess(resident_mb(pid) - before[zone], 100, f"zone {zone}")
        os.remove(folder + "/.zbs-out.0")

    def test_output_without_end_stops_its_job_and_no_other(self):
        other = world.submit("--", "/bin/sleep", "8")
        application = world.submit("-n", "2", "--", "/usr/bin/yes")
        shown = world.wait_state(application, {"failed"}, 120)
        self.assertIn(f"more than the {OUTPUT_MIB} MiB of output", shown["reason"])
        self.assertIn("write results into files", shown["reason"])
        self.assertEqual(world.wait_state(other, {"completed", "failed"}, 60)["state"], "completed")
        until(lambda: not marked("/usr/bin/yes"), 10, lambda: f"left: {marked('/usr/bin/yes')}")

    @unittest.skipIf(os.getuid(), "needs root: a small file system is mounted")
    def test_a_folder_over_its_bound_is_the_reason(self):
        done = world.zbs("run", "-q", "--zones", "b", "--stage-out", "a", "--results", self.folder, "--", "sh", "-c", "echo 1 > a; fallocate -l 1250M b; exec sleep 60", timeout=60, cwd=self.folder)
        shown = self.last()
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(shown["state"], "failed")
        self.assertRegex(shown["reason"], r"^the files in its folder take more of the disk than is allowed(: more than \d+ MiB)? in zone b$")

    def test_a_full_disk_of_the_jobs_own_is_its_own_fault(self):
        disk = self.folder + "/disk"
        os.mkdir(disk)
        os.chmod(self.folder, 0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=1777", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        done = world.zbs("run", "--chdir", disk, "--", "/bin/sh", "-c", "head -c 5000000 /dev/zero >results")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(world.zbs("run", "--", "/bin/true").returncode, 0, "the zone goes on")


class Ending(Job):
    # More ranks than one zone has processors: the one that ends is in the first zone or in the last.

    def check_end(self, how, code, exit_code, what):
        for rank in (0, 5, 3):
            done = world.zbs("run", "-n", "6", "--no-record", "--", APPS + "/dies", how, str(rank), str(code), timeout=60)
            shown = self.last()
            place = next(f"{part['zone']}.{place['machine']}" for part in shown["parts"] for place in part["assignment"] if place["rank"] == rank)
            self.assertEqual((done.returncode, shown["state"], shown["exit_code"], shown["reason"]), (exit_code, "failed", exit_code, f"rank {rank} on {place} {what}"), done)
            for part in shown["parts"]:
                if rank in part["ranks"]:
                    self.assertEqual((part["state"], part["reason"]), ("failed", shown["reason"]))
                elif part["state"] == "failed":
                    self.assertEqual(part["reason"], "ended because " + shown["reason"])
            for text in (*(f"rank {one} was here\n" for one in range(6)), f"rank {rank} found a negative density\n"):
                self.assertIn(text, done.stderr)
        return done


class Exits(Ending):
    # What exits before or after MPI_Finalize.

    def test_a_rank_that_exits_before_finalizing(self):
        self.check_end("exit", 7, 7, "exited with code 7 before MPI_Finalize")
        self.check_end("exit", 0, 1, "exited with code 0 before MPI_Finalize")
        self.check_end("leave", 0, 1, "exited with code 0 before MPI_Finalize")

    def test_a_rank_that_exits_before_initializing(self):
        """The other ranks wait for it in MPI_Init, in both zones."""
        for rank, code, exit_code in ((5, 3, 3), (0, 7, 7), (3, 0, 1)):
            done = world.zbs("run", "-n", "6", "--no-record", "-t", "45s", "--", APPS + "/dies", "uninitialized", str(rank), str(code), timeout=60)
            shown = self.last()
            place = next(f"{part['zone']}.{place['machine']}" for part in shown["parts"] for place in part["assignment"] if place["rank"] == rank)
            self.assertEqual((done.returncode, shown["state"], shown["reason"]), (exit_code, "failed", f"rank {rank} on {place} exited with code {code} before MPI_Init"), done)
            self.assertIn(f"rank {rank} found no input\n", done.stderr)
            self.assertNotIn("Fatal error in", done.stderr)

    def test_a_bad_code_after_finalizing_leaves_time_to_the_ranks_of_other_zones(self):
        done = world.zbs("run", "-n", "5", "--no-record", "--", APPS + "/ends", "code", timeout=60)
        shown = self.last()
        self.assertEqual([part["ranks"] for part in shown["parts"]], [[0, 1, 2, 3], [4]])
        self.assertEqual((done.returncode, done.stdout.count(" has written\n")), (3, 4), done)
        self.assertRegex(shown["reason"], r"^rank 4 on \S+ exited with code 3$")

    def test_a_rank_that_exits_early_where_each_rank_has_a_proxy_of_its_own(self):
        """The plan of the second run is made from the profile of the first: ranks of the two zones take turns."""
        program = f"{self.folder}/dies"
        shutil.copy(APPS + "/dies", program)
        os.chmod(self.folder, 0o755)
        for expected in ([[0, 1, 2, 3], [4, 5]], [[0, 2, 4], [1, 3, 5]]):
            done = world.zbs("run", "-n", "6", "-t", "45s", "--", program, "exit", "5", "7", timeout=60)
            shown = self.last()
            self.assertEqual(sorted(part["ranks"] for part in shown["parts"]), expected)
            self.assertEqual((done.returncode, shown["exit_code"]), (7, 7), shown["reason"])
            self.assertRegex(shown["reason"], r"^rank 5 on \S+ exited with code 7 before MPI_Finalize$")

    def test_a_rank_that_ended_badly_before_the_walltime_is_named_after_it(self):
        jobs = []
        for rank in (5, 0):
            script = f'test "$PMI_RANK" != {rank} || exit 7; exec sleep 600'
            jobs.append((rank, world.submit("-n", "6", "-t", "4s", "--", "/bin/sh", "-c", script)))
        for rank, application in jobs:
            done, shown = world.zbs("wait", application), world.show(application)
            self.assertEqual((done.returncode, shown["exit_code"]), (143, 143), shown)
            self.assertRegex(shown["reason"], rf"^walltime of 4 s reached.*; before it rank {rank} on \S+ exited with code 7$")


class Aborts(Ending):
    # What calls MPI_Abort.

    def test_a_rank_that_aborts_all(self):
        done = self.check_end("abort", 5, 5, "called MPI_Abort with code 5")
        self.assertIn("application called MPI_Abort(MPI_COMM_WORLD, 5)", done.stderr)

    def test_a_rank_that_aborts_itself_alone(self):
        self.check_end("abort-self", 3, 3, "called MPI_Abort with code 3")
        self.check_end("abort-self", 256, 1, "called MPI_Abort with code 256 (exit code 1)")

    def test_an_abort_in_the_time_to_save_ends_the_job(self):
        begin = time.monotonic()
        runs = [world.start("run", "-n", "6", "-t", "2s", "--grace", "45s", "--no-record", "--", APPS + "/ends", "stop-abort", *itself) for itself in ([], ["itself"])]
        for run in runs:
            self.addCleanup(run.kill)
            error = run.communicate(timeout=80)[1]
            self.assertLess(time.monotonic() - begin, 30)
            self.assertIn("application called MPI_Abort", error)
            self.assertEqual(run.returncode, 143)
        for row in world.zbs("list", "--limit", "2", "-o", "jsonl").stdout.splitlines():
            self.assertEqual(world.show(json.loads(row)["id"])["reason"].split(" in zone")[0], "walltime of 2 s reached")

    def test_a_rank_that_aborts_with_a_number_that_is_no_exit_code(self):
        for code, exit_code in ((300, 44), (-1, 255), (256, 1)):
            self.check_end("abort", code, exit_code, f"called MPI_Abort with code {code} (exit code {exit_code})")

    def test_a_library_that_aborts_all_tells_why(self):
        for _ in range(3):
            done = world.zbs("run", "-n", "6", "--no-record", "--", APPS + "/dies", "error", "4", timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Null buffer pointer", done.stderr)
            self.assertRegex(self.last()["reason"], r"^rank 4 on \w+\.\w+ called MPI_Abort with code \d+ \(exit code 1\)$")


class Ends(Ending):
    # What ends in other ways.

    def test_a_rank_that_a_signal_ends(self):
        for number in (signal.SIGSEGV, signal.SIGKILL):
            self.check_end("signal", int(number), 128 + number, f"ended by signal {int(number)}")

    def test_a_program_of_sessions_is_not_taken_for_a_static_one(self):
        done = world.zbs("run", "-n", "6", "--no-record", "--", APPS + "/ends", "session", timeout=60)
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn("zbs: the calls of this program", done.stderr)

    def test_a_program_that_clears_its_environment_is_not_taken_for_a_static_one(self):
        done = world.zbs("run", "-n", "6", "--no-record", "--", APPS + "/dies", "clear", timeout=60)
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn("zbs: the calls of this program", done.stderr)

    def test_ranks_that_run_alone_since_their_environment_was_cleared_are_reported(self):
        done = world.zbs("run", "-n", "2", "--no-record", "--", "/usr/bin/env", "-i", APPS + "/ends", "at-once", timeout=60)
        self.assertRegex(done.stderr, r"zbs: rank \d on a\.\w+ runs alone \(its program lacks the variables of the MPI launcher\)")

    def test_ranks_of_a_program_without_mpi_end_on_their_own(self):
        script = 'sleep "$1"; echo "rank $PMI_RANK saw its end"; exit "$2"'
        jobs = []  # all at once: two of them run at a time
        for codes, exit_code in (((0, 0, 0, 0, 0, 0), 0), ((0, 0, 0, 3, 0, 0), 3), ((3, 0, 0, 0, 0, 0), 3), ((2, 2, 2, 2, 2, 2), 2)):
            seconds = " ".join(f"{rank}) set -- {0 if code else 2} {code};;" for rank, code in enumerate(codes))
            jobs.append((world.submit("-n", "6", "--", "/bin/sh", "-c", f"case $PMI_RANK in {seconds} esac; {script}"), exit_code))
        for application, exit_code in jobs:
            self.assertEqual(world.zbs("wait", application).returncode, exit_code)
            output = world.zbs("logs", application).stdout
            for rank in range(6):
                self.assertIn(f"rank {rank} saw its end\n", output)
            if exit_code:
                self.assertRegex(world.show(application)["reason"], rf"^rank \d on \S+ exited with code {exit_code}$")


class Remains(Job):
    # What does not end, or stays when its job has ended.

    def test_what_ignores_every_polite_signal_is_gone_soon_after_a_cancel(self):
        mark = "987651"
        script = f"trap '' TERM INT HUP QUIT; while :; do sleep {mark} & wait; done"
        application = world.submit("-n", "6", "--grace", "1s", "--", "/bin/sh", "-c", script)
        until(lambda: len(marked(mark)) >= 6, 30, "the ranks are not there")
        world.zbs("cancel", application)
        asked = time.monotonic()
        while marked(mark) and time.monotonic() < asked + 10:
            time.sleep(0.01)
        took = time.monotonic() - asked
        self.assertLess(took, 2, f"left: {marked(mark)}")
        self.assertEqual(world.wait_state(application, {"cancelled"})["state"], "cancelled")
        print(f"gone {took:.1f} s after the cancel", file=sys.stderr)

    def test_what_forks_away_is_gone_with_its_job(self):
        mark = "987652"
        # As daemons do it.
        daemon = f"import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.closerange(0, 99)\ntime.sleep({mark})"
        done = world.zbs("run", "-n", "2", "--", "/usr/bin/python3", "-c", daemon, timeout=60)
        self.assertEqual(done.returncode, 0, done)
        until(lambda: not marked(mark), 10, lambda: f"left: {marked(mark)}")
        application = world.submit("-n", "2", "--", "/bin/sh", "-c", f"/usr/bin/python3 -c '{daemon}'; sleep {mark}")
        until(lambda: len(marked(f"sleep {mark}")) >= 2, 30, "the ranks are not there")
        world.zbs("cancel", application)
        until(lambda: not marked(mark), 10, lambda: f"left: {marked(mark)}")

    def test_what_stays_behind_the_last_rank_and_keeps_its_output_does_not_keep_the_job(self):
        mark = "987653"
        for launcher in ("mpich", "openmpi"):
            begin = time.monotonic()
            done = world.zbs("run", "-n", "6" if launcher == "mpich" else "3", "-t", "60s", "--launcher", launcher, "--", "/bin/sh", "-c", f"setsid sleep {mark} & exec '{RING if launcher == 'mpich' else RING + '_openmpi'}'", timeout=80)
            self.assertEqual(done.returncode, 0, done)
            self.assertLess(time.monotonic() - begin, 30)
            until(lambda: not marked(mark), 5, lambda: f"left: {marked(mark)}")


if __name__ == "__main__":
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))  # nohup ignores it, and so would the commands
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
