"""The main job and its faults on real services: federation_test.py BIN MPIEXEC [unittest names]"""
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import federation
from federation import Federation, read, until
from service import fresh_id

RING = "apps/ring"


def ring():
    return federation.BIN + "/" + RING


class Shared(unittest.TestCase):
    """One federation for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.f = Federation().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.f.__exit__()

    def assert_idle(self, seconds=15):
        until(self.f.idle, seconds, f"processors still held: {self.f.used()}")
        until(lambda: not self.f.job_processes(), seconds, f"processes left: {self.f.job_processes()}")


class Runs(Shared):
    def test_output_environment_directory_and_code_pass_through(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.f.zbs("run", "-n", "6", "--env", "ZBS_TEST_VAR", "--", ring(), "--exit-code", "0", "two words", "", cwd=folder, env={"ZBS_TEST_VAR": "a b=c"})
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))
            self.assertEqual(len(lines), 6, done.stdout)
            for rank, line in enumerate(lines):
                self.assertIn(f"rank {rank} of 6", line)
                self.assertIn("cwd=" + folder, line)
                self.assertIn("ZBS_TEST_VAR=a b=c", line)
                self.assertIn("[two words] []", line)
        self.assert_idle()

    def test_exit_code_of_the_program_is_ours(self):
        done = self.f.zbs("run", "-n", "3", "--", ring(), "--exit-code", "7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("exited with code 7", done.stderr)

    def test_killed_program_gives_128_plus_signal(self):
        done = self.f.zbs("run", "-n", "2", "--", "/bin/sh", "-c", "kill -9 $$")
        self.assertEqual(done.returncode, 137, done.stderr)

    def test_interleaved_ranks_land_where_the_assignment_says(self):
        done = self.f.zbs("run", "-n", "6", "--mapper", "round-robin", "--", "/bin/sh", "-c", "echo $PMI_RANK $ZBS_ZONE")
        self.assertEqual(done.returncode, 0, done.stderr)
        zones = dict(line.split() for line in done.stdout.split("\n") if line)
        application = json.loads(self.f.zbs("list", "--limit", "1", "-o", "json").stdout)["applications"][0]["id"]
        assigned = json.loads(self.f.zbs("show", application, "--format", "json").stdout)
        self.assertEqual(zones, {str(row["rank"]): row["zone"] for row in assigned["ranks"]})
        self.assertEqual([row["zone"] for row in assigned["ranks"]], list("abcabc"))
        hosts = self.f.zbs("show", application, "--format", "hostfile").stdout.split()
        # Machines of other organisations have no names here.
        self.assertEqual(hosts, ["a.m0:1", "b.n0:1", "c.n0:1"] * 2)

    def test_one_world_over_three_zones(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(os.path.dirname(__file__), "../../apps/transport_2x4.params"), folder)
            run = ["run", "-n", "9", "--", federation.BIN + "/apps/transport_kernel", "transport_2x4.params"]
            first = self.f.zbs(*run, cwd=folder)
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertIn("no profile", first.stderr)
            second = self.f.zbs(*run, cwd=folder)
            self.assertEqual(second.returncode, 0, second.stderr)
            self.assertIn("which an earlier run left", second.stderr)
            view = json.loads(self.f.zbs("list", "--limit", "1", "-o", "json").stdout)["applications"][0]
            plan = self.f.show(view["id"])["plan"]
            teams = [{plan["zone_of_rank"][r] for r in team} for team in ((1, 3, 5, 7), (2, 4, 6, 8))]
            self.assertEqual([len(team) for team in teams], [1, 1], "a team is split over zones")
            self.assertLess(plan["crossing_bytes"], plan["crossing_bytes_block"])
            self.assertLess(plan["crossing_bytes"], plan["crossing_bytes_round_robin"])
            matrix = self.f.zbs("show", view["id"], "--matrix").stdout
            self.assertIn("zone c", matrix)
            rsl = self.f.zbs("show", view["id"], "--format", "rsl").stdout
            self.assertEqual(rsl.count("resourceManagerContact"), 3)
            oracle = federation.BIN + "/rsl_oracle"
            if os.path.exists(oracle):
                parsed = subprocess.run([oracle], input=rsl, capture_output=True, text=True)
                self.assertEqual(parsed.returncode, 0, parsed.stderr)
        self.assert_idle()

    def test_ranks_that_share_memory(self):
        done = self.f.zbs("run", "-n", "6", "--", federation.BIN + "/apps/ends", "pending", env={"UCX_TLS": "all"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(" got 463840\n"), 6, done.stdout)

    def test_most_arguments_that_are_allowed_reach_the_program(self):
        done = self.f.zbs("run", "-q", "-n", "1", "--", "/bin/sh", "-c", "echo $#", *["x"] * 897)
        self.assertEqual((done.returncode, done.stdout), (0, "896\n"), done.stderr)
        done = self.f.zbs("run", "-q", "-n", "1", "--", "/bin/sh", "-c", "echo $#", *["x"] * 898)
        self.assertEqual(done.returncode, 2)
        self.assertIn("at most 899", done.stderr)

    def test_submit_wait_logs(self):
        application = self.f.submit("-n", "2", "--", ring(), "--exit-code", "5")
        self.assertEqual(self.f.zbs("wait", application, "--timeout", "30s").returncode, 5)
        self.assertIn("rank 1 of 2", self.f.zbs("logs", application, "--rank", "1").stdout)
        self.assertNotIn("rank 0 of 2", self.f.zbs("logs", application, "--rank", "1").stdout)
        self.assertIn("[0] rank 0 of 2", self.f.zbs("logs", application, "-l").stdout)

    def test_only_what_programs_need_goes_along_unless_it_is_asked_for(self):
        mine = {"AWS_SECRET_ACCESS_KEY": "canary", "SSH_AUTH_SOCK": "/canary", "OMP_NUM_THREADS": "3", "LC_ALL": "C.UTF-8", "ASKED": "yes"}
        done = self.f.zbs("run", "-q", "--no-record", "-n", "1", "--env", "ASKED", "--env", "SET=here", "--", "/usr/bin/env", env=mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        self.assertEqual((seen.get("OMP_NUM_THREADS"), seen.get("LC_ALL"), seen.get("ASKED"), seen.get("SET")), ("3", "C.UTF-8", "yes", "here"))
        self.assertIn("PATH", seen)
        self.assertNotIn("canary", done.stdout)
        missing = self.f.zbs("run", "-n", "1", "--env", "NOT_SET_AT_ALL", "--", "/bin/true")
        self.assertEqual(missing.returncode, 2, missing.stderr)
        self.assertIn("'NOT_SET_AT_ALL' is not set here", missing.stderr)

    def test_environment_of_another_job_is_not_passed_on(self):
        odd = {b"ZBS_TEST_ODD": b"caf\xe9", b"ZBS_TEST_GOOD": "caf\u00e9".encode(), b"PMI_FD": b"77", b"ZBS_STEP_OTHER": b"1", b"HYDI_CONTROL_FD": b"9",
               b"MPIEXEC_TIMEOUT": b"1", b"ZBS_PROFILE_OUT": b"/nonexistent/outer", b"LD_PRELOAD": b"/nonexistent/libzbs-profile.so"}
        environment = {k.encode(): v.encode() for k, v in self.f.environment.items()} | odd
        done = subprocess.run([federation.BIN + "/zbs", "run", "-q", "--no-record", "--env-all", "-n", "1", "--", "/usr/bin/env"], capture_output=True, env=environment, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(b"ZBS_TEST_ODD"), 1, done.stderr)
        seen = dict(line.split(b"=", 1) for line in done.stdout.splitlines() if b"=" in line)
        self.assertNotIn(b"ZBS_TEST_ODD", seen)
        self.assertEqual(seen[b"ZBS_TEST_GOOD"], "caf\u00e9".encode())
        self.assertNotEqual(seen.get(b"PMI_FD"), b"77")
        self.assertNotEqual(seen.get(b"HYDI_CONTROL_FD"), b"9")
        for name in (b"ZBS_STEP_OTHER", b"MPIEXEC_TIMEOUT"):
            self.assertNotIn(name, seen)
        # The zone's own: without a profile, too, its library makes MPI_Finalize safe.
        for name in (b"LD_PRELOAD", b"ZBS_PROFILE_OUT"):
            self.assertNotIn(b"nonexistent", seen[name])
        self.assertEqual(seen[b"ZBS_PROFILE"], b"0")

    def test_a_library_that_the_user_preloads_is_loaded_beside_the_profiler(self):
        own = os.path.realpath("/lib/x86_64-linux-gnu/libm.so.6")
        done = self.f.zbs("run", "-q", "-n", "9", "--env", "LD_PRELOAD=" + own, "--", "/bin/sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = done.stdout.splitlines()
        self.assertEqual(len(seen), 9, done.stdout)  # three in each zone
        self.assertEqual([line for line in seen if not (line.startswith(own + ":/") and line.endswith("libzbs-profile.so"))], [])

    def test_input_that_goes_nowhere_is_told_once(self):
        command = [federation.BIN + "/zbs", "run", "-n", "1", "--", "/bin/sleep", "1"]
        done = subprocess.run(command, input="lost", capture_output=True, text=True, env=self.f.environment, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("standard input is not forwarded"), 1, done.stderr)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.f.environment, timeout=60)
        self.assertNotIn("standard input", done.stderr)

    def test_labelled_logs_keep_the_last_line_and_are_quick(self):
        script = "i=0; while [ $i -lt 17 ]; do x=${x:-0123456\n}; x=$x$x; i=$((i+1)); done; printf \"$x\"; printf end"
        application = self.f.submit("-n", "1", "--no-record", "--", "/bin/sh", "-c", script)
        self.f.wait_state(application, ["completed"])
        begin = time.monotonic()
        lines = self.f.zbs("logs", application, "-l").stdout.splitlines()
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual((len(lines), lines[0], lines[-1]), (2 ** 17 + 1, "[0] 0123456", "[0] end"))

    def test_a_folder_in_use_is_refused(self):
        state = self.f.folder + "/state"
        for command, holder in (([federation.BIN + "/zbs", "quickstart", *self.f.quickstart_options, "--folder", state], self.f.quickstart.pid),
                                ([federation.BIN + "/zbs-zone", "--config", state + "/a.toml"], self.f.service("zbs-zone", "a.toml")),
                                ([federation.BIN + "/zbs-registry", "--state", state + "/registry"], self.f.service("zbs-registry"))):
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"is in use by process {holder}", done.stderr)
        self.assertEqual(self.f.zbs("list").returncode, 0)


class Profiles(Shared):
    def test_profiles_are_listed_shown_exported_and_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(ring(), folder + "/learner")
            with open(program, "ab") as f:
                f.write(b"of this test alone")
            os.chmod(program, 0o755)
            run = ["run", "-n", "4", "--", program, "--bytes", "1000", "--rounds", "3"]
            for _ in range(2):
                self.assertEqual(self.f.zbs(*run).returncode, 0)
            rows = json.loads(self.f.zbs("profile", "list", "--program", "learner", "-o", "json").stdout)["profiles"]
            self.assertEqual([(row["program"], row["arguments"], row["ranks"], len(row["digest"])) for row in rows], [(program, "--bytes {3} --rounds {0}", 4, 64)] * 2)
            self.assertGreater(rows[0]["measured_s"], 0)
            self.assertEqual(rows[0]["error"]["runs"], 1)
            self.assertAlmostEqual(rows[0]["predicted_s"], rows[1]["measured_s"], delta=1e-5)  # times are kept in microseconds
            self.assertNotIn("predicted_s", rows[1])
            shown = self.f.zbs("profile", "show", rows[0]["id"]).stdout
            for words in ("sha256:" + rows[0]["digest"], "predicted", "ranks      4"):
                self.assertIn(words, shown)
            exported = json.loads(self.f.zbs("profile", "export", rows[0]["id"]).stdout)
            self.assertEqual(sum(edge[2] for edge in exported["edges"]), 4 * 3 * 1000)
            self.assertIn("<svg", self.f.zbs("profile", "plot", rows[0]["id"]).stdout)
            again = self.f.zbs("run", "-n", "4", "--dry-run", *run[3:])
            self.assertIn("merged from 2 runs", again.stdout)
            self.assertIn("predicted run time", again.stdout)
            self.assertIn("with other arguments", self.f.zbs("run", "-n", "4", "--dry-run", "--", program).stdout)

            with open(folder + "/model.json", "w") as f:
                json.dump(exported, f)
            other = shutil.copy(ring(), folder + "/imported")
            os.chmod(other, 0o711)  # the zone does not read what not everybody may: it goes by the path
            imported = self.f.zbs("profile", "import", folder + "/model.json", "--run-time", "2m", "--", other, "1")
            self.assertEqual(imported.returncode, 0, imported.stderr)
            plan = json.loads(self.f.zbs("run", "-n", "4", "--dry-run", "--output", "json", "--", other, "2").stdout)
            self.assertEqual((plan["profile"], plan["predicted_s"]), (imported.stdout.strip(), 120))
            twice = self.f.zbs("profile", "import", folder + "/model.json", "--run-time", "1m", "--id", imported.stdout.strip(), "--", other, "1")
            self.assertEqual(twice.returncode, 8, twice.stderr)
            self.assertEqual(self.f.zbs("profile", "show", "0" * 26).returncode, 3)

    def test_jobs_end_with_and_without_a_profile(self):
        for options in ((), ("--no-record",)):
            for mode, code in (("all", 0), ("pending", 0), ("unreceived", 0), ("abort", 7)):
                done = self.f.zbs("run", "-n", "9", "-t", "60s", *options, "--", federation.BIN + "/apps/ends", mode, timeout=120)
                self.assertEqual(done.returncode, code, (options, mode, done.stderr))
        self.assert_idle()

    def test_trace_of_a_run_is_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.f.zbs("run", "-n", "6", "--trace", "ring.trace", "--", ring(), "--bytes", "100", "--rounds", "3", cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            traces = [f"{folder}/ring.trace.{rank}" for rank in range(6)]
            replayed = self.f.zbs("replay", "--trace", *traces, "--resources", Offline.ZONES, "--output", "json")
            self.assertEqual(replayed.returncode, 0, replayed.stderr)
            report = json.loads(replayed.stdout)
            self.assertIs(report["complete"], True)
            self.assertEqual(report["unreceived_messages"], 0)
            self.assertEqual(sum(link["bytes"] for link in report["links"]), 6 * 3 * 100)
        refused = self.f.zbs("run", "-n", "2", "--no-record", "--trace", "x", "--", ring())
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--no-record", refused.stderr)


class Endings(Shared):
    def test_program_that_stays_after_finalize_is_named(self):
        done = self.f.zbs("run", "-n", "6", "-t", "8s", "--", federation.BIN + "/apps/ends", "stay")
        self.assertEqual(done.returncode, 143, done.stderr)
        self.assertRegex(done.stderr, "walltime .*: all ranks there had returned from MPI_Finalize, and not all had exited")
        for program in ("/bin/sleep", "600"), (federation.BIN + "/apps/ends", "save"):
            done = self.f.zbs("run", "-n", "6", "-t", "4s", "--", *program)
            self.assertEqual(done.returncode, 143, done.stderr)
            self.assertNotIn("MPI_Finalize", done.stderr)

    def test_cancel_reaches_every_part(self):
        application = self.f.submit("-n", "12", "--", "/bin/sleep", "600")
        self.f.wait_state(application, ["running"])
        begin = time.monotonic()
        self.assertEqual(self.f.zbs("cancel", application).returncode, 0)
        self.assertEqual(self.f.wait_state(application, ["cancelled"], 10)["state"], "cancelled")
        self.assertEqual(self.f.zbs("wait", application).returncode, 128 + signal.SIGTERM)
        self.assert_idle(5)
        self.assertLess(time.monotonic() - begin, 10)

    def test_walltime_ends_the_program(self):
        done = self.f.zbs("run", "-n", "5", "-t", "2s", "--", "/bin/sleep", "600")
        self.assertEqual(done.returncode, 143, done.stderr)
        self.assertIn("walltime", done.stderr)
        self.assert_idle()

    def test_two_interrupts_at_once_cancel_and_do_not_leave(self):
        run = self.f.start("run", "-n", "2", "--", "/bin/sleep", "600")
        try:
            application = until(lambda: next((row["id"] for row in json.loads(self.f.zbs("list", "--limit", "1", "-o", "json").stdout)["applications"]
                                              if row["state"] == "running" and row["program"].endswith("sleep")), None), 20, "the job does not run")
            # Stopped meanwhile, it sees both in one look.
            run.send_signal(signal.SIGSTOP)
            run.send_signal(signal.SIGINT)
            run.send_signal(signal.SIGTERM)
            run.send_signal(signal.SIGCONT)
            _, messages = run.communicate(timeout=20)
        finally:
            run.kill()
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, messages)
        self.assertIn("cancelling", messages)
        self.assertNotIn("left " + application, messages)
        self.assertEqual(self.f.wait_state(application, ["cancelled"], 10)["state"], "cancelled")
        self.assert_idle()


class Waits(Shared):
    def test_job_inside_a_job_is_a_job_of_its_own(self):
        inner = self.f.zbs("run", "-n", "1", "--", "/bin/sh", "-c", "zbs submit -n 2 -- /bin/sh -c 'sleep 3; echo inner done'",
                           env={"ZBS_TEST_CREDENTIALS": self.f.identity("you")})
        # Inside, the settings are not forwarded: the program must say where it submits.
        self.assertNotEqual(inner.returncode, 0)
        script = f"ZBS_CREDENTIALS={self.f.identity('you')} zbs submit -n 2 -- /bin/sh -c 'sleep 3; echo inner done'"
        outer = self.f.zbs("run", "-q", "-n", "1", "--", "/bin/sh", "-c", script)
        self.assertEqual(outer.returncode, 0, outer.stderr)
        application = outer.stdout.strip()
        self.assertEqual(self.f.zbs("wait", application, "--timeout", "30s").returncode, 0)
        self.assertEqual(self.f.zbs("logs", application).stdout, "inner done\n" * 2)

    def test_waits_for_processors_that_are_busy(self):
        first = self.f.submit("-n", "12", "--", "/bin/sleep", "3")
        self.f.wait_state(first, ["running"])
        second = self.f.submit("-n", "2", "--", "/bin/true")
        self.assertIn("waiting for processors", until(lambda: self.f.show(second)["reason"], 10, "no reason is reported"))
        self.assertEqual(self.f.wait_state(second, ["completed"], 20)["state"], "completed")

    def test_a_later_start_is_shown_reserved_and_moved_up(self):
        long = self.f.submit("-n", "9", "-t", "1h", "--", "/bin/sleep", "600")
        self.f.wait_state(long, ["running"])
        shown = self.f.zbs("run", "-n", "6", "-t", "1m", "--dry-run", "--", "/bin/true")
        self.assertRegex(shown.stdout, r"common start: in (59m|1h)")
        self.assertRegex(shown.stdout, r"COULD START")
        waits = self.f.submit("-n", "6", "-t", "1m", "--", "/bin/true")
        self.f.wait_state(waits, ["committed"])
        self.assertIn("reserved start", self.f.zbs("explain", waits).stdout)
        self.f.zbs("cancel", long)
        self.f.wait_state(waits, ["completed"])
        output = self.f.zbs("explain", waits).stdout
        for what in ("capacity", "hold", "commit", "launch"):
            self.assertRegex(output, rf"\b{what}\b")
        events = json.loads(self.f.zbs("explain", waits, "-o", "json").stdout)["events"]
        self.assertGreater(sum(event["what"] == "commit" for event in events), 1, "reserved, then held anew for an earlier start")

    def test_requests_at_the_same_time_leave_nothing_pending(self):
        runs = [self.f.start("submit", "-n", "1", "--no-record", "--", "/bin/true") for _ in range(8)]
        ids = [run.communicate(timeout=60)[0].strip() for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 8)
        pending = read(self.f.folder + "/client/zbs/pending")
        for application in ids:
            self.assertNotIn(application, pending)
            self.f.wait_state(application, ["completed"])


class BadInput(Shared):
    def expect(self, code, words, *arguments, **more):
        done = self.f.zbs(*arguments, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_more_ranks_than_all_zones_hold(self):
        self.expect(7, ["13 processors", "12"], "run", "-n", "13", "--", "/bin/true")
        self.assertTrue(self.f.idle())

    def test_no_ranks_and_bad_options(self):
        self.expect(2, ["-n"], "run", "-n", "0", "--", "/bin/true")
        self.expect(2, ["duration"], "run", "-n", "1", "-t", "soon", "--", "/bin/true")
        self.expect(3, ["cannot be run"], "run", "-n", "1", "--", "./nothing")
        self.expect(3, ["no application 01ARZ3NDEKTSV4RRFFQ69G5FAV of yours", "zbs list"], "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
        self.expect(2, ["26 characters"], "show", "not-an-id")
        self.expect(4, ["users of this organisation"], "run", "-n", "1", "--", "/bin/true", env={"ZBS_CREDENTIALS": self.operator_at_home()})
        self.expect(3, ["zbs login"], "list", env={"ZBS_CREDENTIALS": "/nonexistent"})

    def test_ids_are_checked_before_anything_is_sent(self):
        for command in ("show", "wait", "logs", "cancel", "explain"):
            for text in ("a b", "../peerings", "caf\udce9", ""):
                begin = time.monotonic()
                self.expect(2, ["is no id"], command, text, env={"ZBS_CREDENTIALS": self.f.identity("you")})
                self.assertLess(time.monotonic() - begin, 5)

    def test_what_is_not_utf8_is_refused(self):
        self.expect(2, ["argument 2 'caf?'"], "run", "-n", "1", "--", "/bin/echo", "good", b"caf\xe9")
        self.expect(2, ["program '/bin/caf?'"], "run", "-n", "1", "--", b"/bin/caf\xe9")
        self.expect(2, ["--env"], "run", "-n", "1", "--env", b"A=\xff", "--", "/bin/true")
        with tempfile.TemporaryDirectory() as folder:
            odd = folder.encode() + b"/caf\xe9"
            os.mkdir(odd)
            self.expect(2, ["--chdir", "caf?"], "run", "-n", "1", "--", "/bin/true", cwd=odd)
            self.expect(2, ["--chdir", "caf?"], "run", "-n", "1", "-D", odd, "--", "/bin/true")

    def test_same_id_other_body(self):
        application = self.f.submit("-n", "1", "--", "/bin/true")
        self.assertEqual(self.f.submit("-n", "1", "--id", application, "--", "/bin/true"), application)
        self.expect(8, ["another request"], "submit", "-n", "2", "--id", application, "--", "/bin/true")
        self.f.wait_state(application, ["completed"])
        ids = [row["id"] for row in json.loads(self.f.zbs("list", "-o", "json").stdout)["applications"]]
        self.assertEqual(ids.count(application), 1)

    def test_bad_models(self):
        with tempfile.TemporaryDirectory() as folder:
            def model(text):
                path = folder + "/model.json"
                with open(path, "w") as f:
                    f.write(text)
                return ["run", "-n", "2", "--profile", path, "--", "/bin/true"]

            good = '{"format":"zbs-model/1","program":"p","ranks":2,"compute":[1,1],"edges":[[0,1,5,1]]}'
            self.assertEqual(self.f.zbs(*model(good)).returncode, 0)
            for text, words in ((good.replace("model/1", "model/9"), ["zbs-model/9"]), (good.replace("[0,1,5,1]", "[0,2,5,1]"), ["edges/0"]),
                                (good.replace("5,1]]", "-5,1]]"), ["edges/0/2"]), (good.replace('"ranks":2', '"ranks":0'), ["ranks"]),
                                (good.replace("}", ',"ranks":2}'), ["twice"]), (good.replace("}", ',"extra":2}'), ["extra"]), (good[:-9], ["JSON"])):
                self.expect(2, words, *model(text))

    def test_bad_logs_leave_the_old_model(self):
        with tempfile.TemporaryDirectory() as folder:
            out = folder + "/model.json"
            log = folder + "/run.log"
            good = "1 -101 0 0 4 0 1093114 S 0 D 4 SZ 200\n2 1 0 0 0 0 1093220 PAPI 0 52723\n"
            with open(log, "w") as f:
                f.write(good)
            self.assertEqual(self.f.zbs("profile", log, "-o", out).returncode, 0)
            before = read(out)
            for bad, words in ((good + "3 -101 0 0 1 0 109", [":3"]), (good + "\0\1\2\n", [":3"]), (good.replace("SZ 200", "SZ -5"), [":1"]),
                               (good.replace("S 0 D 4", "S 0 D 99999999"), [":1"])):
                with open(log, "w") as f:
                    f.write(bad)
                self.expect(2, [log, *words], "profile", log, "-o", out)
                self.assertEqual(read(out), before)

    def test_refuses_to_listen_without_tls_beyond_loopback(self):
        with tempfile.TemporaryDirectory() as folder:
            config = folder + "/z.toml"
            with open(config, "w") as f:
                f.write(f'name="z"\norganisation="z"\nstate="{folder}/s"\nlisten="0.0.0.0:0"\n[[machine]]\nname="m"\n')
            done = subprocess.run([federation.BIN + "/zbs-zone", "--config", config], capture_output=True, text=True, timeout=10)
            self.assertEqual(done.returncode, 2)
            self.assertIn("beyond loopback a zone needs keys", done.stderr)
            with open(config, "w") as f:
                f.write(f'name="z"\norganisation="z"\nstate="{folder}/s"\ncolour="red"\n[[machine]]\nname="m"\n')
            done = subprocess.run([federation.BIN + "/zbs-zone", "--config", config], capture_output=True, text=True, timeout=10)
            self.assertEqual(done.returncode, 2)
            self.assertIn("z.toml:4", done.stderr)

    def test_zone_that_was_not_accepted_gets_nothing(self):
        body = {"user": "spiffe://org-x/user/mallory", "processors": 1, "walltime_s": 60, "zones": []}
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/x.toml", "w") as f:
                f.write(f'name="x"\norganisation="org-x"\nstate="{folder}/x"\n[[machine]]\nname="m"\n')
            made = subprocess.run([federation.BIN + "/zbs-zone", "init", "--config", folder + "/x.toml"], capture_output=True, text=True, timeout=20)
            self.assertEqual(made.returncode, 0, made.stderr)
            status, answer = self.f.call(self.f.zone_url("b") + "/v1/capacity", "POST", body, folder=folder + "/x/identity")
        self.assertEqual(status, 401)
        self.assertIn("org-x", answer["detail"])
        body["user"] = "spiffe://org-a/user/you"
        self.assertEqual(self.f.call(self.f.zone_url("b") + "/v1/capacity", "POST", body, "zone c")[0], 403)

    def operator_at_home(self):
        """The operator's keys as credentials of a client: the running zone says in them where it is."""
        return self.f.identity("operator a")


class Offline(unittest.TestCase):
    """Commands that need no service."""

    ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    ZONES = ROOT + "/tests/apps/three_zones.json"

    def zbs(self, *arguments):
        return subprocess.run([federation.BIN + "/zbs", *arguments], capture_output=True, text=True, timeout=60)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = f"{self.folder}/{name}"
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def test_logs_plain_split_merged_and_compressed_give_one_model(self):
        records = [f"{i} -101 0 0 {i % 5} 0 {i * 10} S {i % 3} D {3 + i % 2} SZ {i % 700}\n" if i % 4 else f"{i} 1 0 0 0 0 {i * 10} PAPI {i % 5} {i % 90}\n"
                   for i in range(20000)]
        models = []
        whole = "".join(records)
        for paths in ([self.write("all.log", whole)], [self.write("all.log.gz", gzip.compress(whole.encode()))],
                      [self.write("1.log", "".join(records[:7000])), self.write("2.log.gz", gzip.compress("".join(records[7000:]).encode()))]):
            out = self.folder + "/model.json"
            done = self.zbs("profile", *paths, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("ranks      5", done.stdout)
            models.append(json.loads(read(out)))
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])
        sent = sum(i % 700 for i in range(20000) if i % 4)
        self.assertEqual(sum(edge[2] for edge in models[0]["edges"]), sent)
        shown = self.zbs("profile", self.folder + "/model.json")
        self.assertEqual(shown.returncode, 0)
        self.assertIn("messages", shown.stdout)

    def model(self, ranks=6):
        return {"format": "zbs-model/1", "program": "/opt/<ring> & co", "ranks": ranks, "compute": [0.5] * ranks,
                "edges": [[r, r + 1, 2 ** (10 + r % 20), 4] for r in range(ranks - 1)]}

    def test_a_profile_is_plotted_as_a_heat_map(self):
        for ranks in (6, 1500):
            model = self.write("model.json", json.dumps(self.model(ranks)))
            done = self.zbs("profile", "plot", model, "-o", self.folder + "/heat.svg")
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            text = read(self.folder + "/heat.svg")
            document = xml.etree.ElementTree.fromstring(text)
            self.assertTrue(document.tag.endswith("svg"))
            words = [element.text for element in document.iter() if element.text]
            self.assertIn("Bytes between ranks of <ring> & co", words)
            self.assertTrue([word for word in words if word.endswith("KiB")], words)
            self.assertIn("0", words)
            self.assertEqual(bool([word for word in words if "3 in a row" in word]), ranks == 1500, words)
            self.assertEqual(self.zbs("profile", "plot", model).stdout, text)

    def test_a_profile_is_exported_and_shown_as_it_is(self):
        model = self.write("model.json", json.dumps(self.model()))
        self.assertEqual(json.loads(self.zbs("profile", "export", model).stdout), self.model())
        self.assertEqual(json.loads(self.zbs("profile", "show", model, "-o", "json").stdout), {"version": 1, "model": self.model()})
        self.assertEqual(self.zbs("profile", "show", model).stdout, self.zbs("profile", model).stdout)
        before = read(model)
        for verb in ("export", "plot"):
            done = self.zbs("profile", verb, model, "-o", model)
            self.assertEqual((done.returncode, "would overwrite" in done.stderr, read(model)), (2, True, before), done.stderr)

    def test_wrong_profile_commands_are_refused_with_advice(self):
        model = self.write("model.json", json.dumps({**self.model(), "program": "ring"}))
        for arguments, code, words in ((["profile"], 2, "logs"), (["profile", model, "list"], 2, "logs"), (["profile", "plot"], 2, "source"),
                                       (["profile", "plot", self.folder + "/none.json"], 3, "none.json"), (["profile", "import", model], 2, "absolute path"),
                                       (["profile", "import", model, "--", "./none"], 3, "none"), (["profile", "import", model, "--id", "x", "--", "/bin/true"], 2, "--id"),
                                       (["profile", "import", model, "--run-time", "x", "--", "/bin/true"], 2, "--run-time"),
                                       (["profile", "list", "-o", "xml"], 2, "xml"), (["profile", "show", model, "-o", "csv"], 2, "csv is for lists")):
            done = self.zbs(*arguments)
            self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
            self.assertIn(words, done.stderr)

    def test_files_of_two_kinds_are_not_one_profile(self):
        log = self.write("run.log", "1 -101 0 0 1 0 5 S 0 D 1 SZ 200\n")
        model = self.write("model.json", json.dumps(self.model()))
        for other, words in ((model, "is no log"), (log, "is given twice")):
            done = self.zbs("profile", log, other)
            self.assertEqual((done.returncode, words in done.stderr), (2, True), done.stderr)
        piped = subprocess.run(["/bin/bash", "-c", '"$0" profile <(cat "$1")', federation.BIN + "/zbs", log], capture_output=True, text=True, timeout=60)
        self.assertIn("200 B in 1 message", piped.stdout, piped.stderr)
        marked = self.write("marked.json", "\ufeff" + json.dumps(self.model()))
        self.assertEqual(json.loads(self.zbs("profile", "export", marked).stdout), self.model())

    def test_replay_as_docs_map_shows_it(self):
        lines = [line[2:] for line in read(self.ROOT + "/docs/map.md").splitlines() if line.startswith(("$ zbs replay", "$ cp ", "$ zbs map --model kernel.json --resources zones.json --format json"))]
        block = "\n".join(lines)
        done = subprocess.run(["/bin/bash", "-euc", block], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "ZBS": os.path.abspath(self.ROOT), "PATH": federation.BIN + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        table, report = done.stdout.split("{", 1)
        report = json.loads("{" + report)
        self.assertIn("run time", table)
        self.assertEqual(len(report["ranks"]), 9)
        self.assertEqual(report["unreceived_messages"], 0)
        for rank in report["ranks"]:
            self.assertAlmostEqual(rank["compute_s"] + rank["blocked_s"] + rank["idle_s"], report["run_time_s"], 6)
        # Teams torn by round robin wait for the links between zones; the plan's do not.
        planned = float(table.split("run time")[1].split()[0])
        self.assertLess(planned, report["run_time_s"])
        svg = read(self.folder + "/kernel.svg")
        self.assertTrue(svg.startswith("<svg") and svg.endswith("</svg>\n"))

    def test_replay_refuses_bad_input_with_the_place(self):
        for text, message in (("hello", ":1: the first line"), ("zbs-trace/1 2\nrank 0\nc x\n", ":3: seconds must be"),
                              ("zbs-trace/1 2\nrank 0\nc 1\n", ":3: ends without a line 'rank 1'"),
                              ("zbs-trace/1 2\nrank 0\nr 1\nrank 1\nr 0\n", "rank 0 waits for rank 1")):
            done = self.zbs("replay", "--trace", self.write("bad.trace", text), "--resources", self.ZONES)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(message, done.stderr)
        good = self.write("good.trace", "zbs-trace/1 2\nrank 0\nc 1\nrank 1\n")
        for arguments, message in ((["--mapping", self.write("m.json", '{"format":"zbs-mapping/1","mapping":[]}')], "maps 0 tasks"),
                                   (["--mapping", self.write("m2.json", '{"version":2,"format":"zbs-mapping/1","places":[]}')], "is 2, and this program reads 1"),
                                   (["--algorithm", "best"], "known are"), (["--gantt", "/proc/no/x.svg"], "/proc/no/x.svg")):
            done = self.zbs("replay", "--trace", good, "--resources", self.ZONES, *arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(message, done.stderr)
        self.assertIn("--resources", self.zbs("replay", "--trace", good).stderr)
        self.assertIn("--trace", self.zbs("replay").stderr)
        self.assertIn("--params", self.zbs("replay", "--generate", "transport", "--resources", self.ZONES).stderr)
        self.assertIn("2 to 1000000 ranks", self.zbs("replay", "--generate", "random", "--ranks", "1", "--resources", self.ZONES).stderr)
        self.assertEqual(self.zbs("replay", "--generate", "random", "--ranks", "100", "--resources", self.ZONES).returncode, 2)

    def test_trace_packed_by_gzip_is_the_same_trace(self):
        plain, packed = self.folder + "/a.trace", self.folder + "/a.trace.gz"
        self.assertEqual(self.zbs("replay", "--generate", "random", "--ranks", "8", "--lines", "500", "--save-trace", plain).returncode, 0)
        with open(plain, "rb") as file, gzip.open(packed, "wb") as out:
            out.write(file.read())
        runs = [self.zbs("replay", "--trace", path, "--resources", self.ZONES, "-o", "json") for path in (plain, packed)]
        self.assertEqual(runs[0].returncode, 0, runs[0].stderr)
        runs.append(self.zbs("replay", "--generate", "random", "--ranks", "8", "--lines", "500", "--resources", self.ZONES, "-o", "json"))
        reports = [json.loads(run.stdout) for run in runs]
        settings = [report.pop("settings") for report in reports]
        self.assertEqual(reports[1:], reports[:1] * 2)
        common = {"resources": self.ZONES, "seed": 1, "algorithm": "hier", "tasks_per_processor": 1}
        random = {"generate": "random", "ranks": 8, "clusters": 4, "every": 10, "bytes": 1000, "lines": 500, "compute": 1e-4}
        self.assertEqual(settings, [{**common, "trace": [plain]}, {**common, "trace": [packed]}, {**common, **random}])

    def test_cut_gzip_is_refused(self):
        packed = gzip.compress(b"1 -101 0 0 4 0 1 S 0 D 4 SZ 200\n" * 1000)
        done = self.zbs("profile", self.write("cut.log.gz", packed[:-20]))
        self.assertEqual(done.returncode, 2)
        self.assertIn("cut.log.gz", done.stderr)

    def test_a_directory_is_called_one(self):
        for command in (["profile", self.folder], ["map", "--model", self.folder, "--resources", self.folder]):
            done = self.zbs(*command)
            self.assertEqual(done.returncode, 2)
            self.assertIn(self.folder + ": is a directory", done.stderr)

    def test_quickstart_folder_of_another_user_is_refused(self):
        if os.getuid() != 0:
            self.skipTest("only root can make a folder of another user")
        theirs = f"{self.folder}/zbs-quickstart-0"
        os.mkdir(theirs)
        os.chown(theirs, 65534, 65534)
        done = subprocess.run([federation.BIN + "/zbs", "quickstart", "--user", "root"], capture_output=True, text=True, env=dict(os.environ, TMPDIR=self.folder), timeout=20)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("belongs to another user", done.stderr)
        self.assertEqual(os.listdir(theirs), [])

    def test_map_gives_the_published_format(self):
        model = {"format": "zbs-model/1", "program": "p", "ranks": 4, "compute": [0.01] * 4,
                 "edges": [[0, 1, 10, 1], [0, 2, 1e6, 100], [1, 3, 1e6, 100], [2, 3, 10, 1]]}
        resources = {"format": "zbs-resources/1", "links": [{"a": "x", "b": "y", "delay_s": 0.01, "bandwidth_Bps": 1e7}],
                     "zones": [{"name": name, "machines": [{"name": "m", "processors": 2, "speed": 1}], "machine_delay_s": 1e-6, "machine_bandwidth_Bps": 1e9,
                                "zone_delay_s": 1e-4, "zone_bandwidth_Bps": 1e8} for name in "xy"]}
        paths = ["--model", self.write("m.json", json.dumps(model)), "--resources", self.write("r.json", json.dumps(resources))]
        done = self.zbs("map", *paths, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        mapping = json.loads(done.stdout)
        self.assertEqual(sorted(mapping), ["cost", "format", "imbalance", "inter_zone_bytes", "mapping", "occupancy", "program", "seconds", "settings", "version"])
        zone = [row["zone"] for row in mapping["mapping"]]
        self.assertEqual([row["task"] for row in mapping["mapping"]], [0, 1, 2, 3])
        self.assertEqual((zone[0] == zone[2], zone[1] == zone[3], zone[0] == zone[1]), (True, True, False))
        self.assertEqual(mapping["inter_zone_bytes"], 20)
        for algorithm in ("global", "block", "round-robin", "random"):
            self.assertEqual(self.zbs("map", *paths, "--algorithm", algorithm).returncode, 0)
        self.assertEqual(self.zbs("map", *paths, "--algorithm", "magic").returncode, 2)
        hosts = self.zbs("map", *paths, "--format", "hostfile").stdout.split()
        self.assertEqual([line.split(":")[0] for line in hosts for _ in range(int(line.split(":")[1]))], [z + ".m" for z in zone])
        model["ranks"], model["compute"] = 5, [1] * 5
        done = self.zbs("map", "--model", self.write("m5.json", json.dumps(model)), *paths[2:])
        self.assertEqual(done.returncode, 2)
        self.assertIn("5", done.stderr)

    def test_no_settings_no_service(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ZBS_")}
        environment["XDG_CONFIG_HOME"] = self.folder if hasattr(self, "folder") else "/nonexistent"
        done = subprocess.run([federation.BIN + "/zbs", "list"], capture_output=True, text=True, env=environment, timeout=20)
        self.assertEqual(done.returncode, 3)
        self.assertIn("zbs login", done.stderr)
        environment["ZBS_IDENTITY"] = "spiffe://org-a/user/you"
        done = subprocess.run([federation.BIN + "/zbs", "list"], capture_output=True, text=True, env=environment, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ZBS_URL", done.stderr)
        environment.update(ZBS_URL="http://127.0.0.1:1", ZBS_IDENTITY="spiffe://org-a/user/you")
        done = subprocess.run([federation.BIN + "/zbs", "list"], capture_output=True, text=True, env=environment, timeout=30)
        self.assertEqual(done.returncode, 5, done.stderr)
        environment["ZBS_URL"] = "http://192.0.2.1:1"
        done = subprocess.run([federation.BIN + "/zbs", "list"], capture_output=True, text=True, env=environment, timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn("without TLS", done.stderr)


class Help(Shared):
    def test_every_example_of_the_help_names_a_command_that_exists(self):
        for command in ("run", "submit", "list", "show", "wait", "logs", "cancel", "explain", "zone list", "peer list", "login", "whoami", "delegate", "map", "profile", "profile list", "profile show", "profile plot",
                        "profile export", "profile import", "replay", "quickstart"):
            done = self.f.zbs(*command.split(), "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Example: zbs " + command, done.stdout)


class Faults(Shared):
    def hold(self, zone, part, ranks):
        count = len(ranks)
        # Of the zone's own organisation: no delegation is needed there.
        body = {"id": part, "application": part, "user": f"spiffe://org-{zone}/user/you", "home": zone, "ranks": ranks,
                "graph": {"compute": [1] * count, "edges": []}, "outside": [], "walltime_s": 60, "seed": 1}
        return self.f.call(self.f.zone_url(zone) + "/v1/parts", "POST", body, f"zone {zone}")

    def test_known_peers_work_without_the_registry(self):
        registry = self.f.service("zbs-registry")
        os.kill(registry, signal.SIGSTOP)
        try:
            self.assertEqual(self.f.zbs("run", "-n", "12", "--", "/bin/true").returncode, 0)
        finally:
            os.kill(registry, signal.SIGCONT)

    def test_hold_survives_a_kill_and_then_expires(self):
        part = fresh_id("spiffe://org-c/zone/c")
        config = self.f.folder + "/state/c.toml"
        text = read(config)
        with open(config, "w") as settings:
            settings.write(text.replace("[timing]\n", "[timing]\nhold_ttl_s = 12\n"))
        killed = self.f.service("zbs-zone", "c.toml")
        os.kill(killed, signal.SIGTERM)
        until(lambda: self.f.service("zbs-zone", "c.toml") not in (None, killed), 10, "zone c is not restarted")
        until(lambda: "a zone is down" not in self.f.used(), 10, "zone c is not up")
        status, held = self.hold("c", part, [0, 1, 2])
        self.assertEqual(status, 201, held)
        self.assertEqual(self.f.used()["c"], 3)
        killed = self.f.service("zbs-zone", "c.toml")
        os.kill(killed, signal.SIGKILL)
        until(lambda: self.f.service("zbs-zone", "c.toml") not in (None, killed), 10, "zone c is not restarted")
        until(lambda: self.f.used().get("c") == 3, 10, "the hold was forgotten")
        again, same = self.hold("c", part, [0, 1, 2])
        self.assertEqual((again, same["token"]), (201, held["token"]))
        until(lambda: self.f.used().get("c") == 0, 45, "the hold does not expire")
        commit = self.f.call(self.f.zone_url("c") + f"/v1/parts/{held['id']}/commit", "POST", {"token": held["token"]}, "zone c")
        self.assertEqual(commit[0], 409)

    def test_no_processor_is_promised_twice(self):
        ids = [fresh_id("spiffe://org-b/zone/b") for _ in range(3)]
        answers = [self.hold("b", part, [0, 1]) for part in ids]
        self.assertEqual([status for status, _ in answers], [201, 201, 422])
        places = [place["processor"] for _, answer in answers[:2] for place in answer["assignment"]]
        self.assertEqual(sorted(places), [0, 1, 2, 3])
        for part in ids[:2]:
            self.assertEqual(self.f.call(self.f.zone_url("b") + "/v1/parts/" + part, "DELETE", None, "zone b")[1]["state"], "released")
        self.assertEqual(self.f.used()["b"], 0)

    def test_home_goes_on_after_a_kill(self):
        application = self.f.submit("-n", "6", "--", "/bin/sh", "-c", "sleep 3; echo done $PMI_RANK; exit 3")
        self.f.wait_state(application, ["running"])
        killed = self.f.service("zbs-zone", "a.toml")
        os.kill(killed, signal.SIGKILL)
        until(lambda: self.f.service("zbs-zone", "a.toml") not in (None, killed), 10, "zone a is not restarted")
        view = self.f.wait_state(application, ["completed", "failed"], 30)
        self.assertEqual((view["state"], view["exit_code"]), ("failed", 3))
        self.assertEqual(self.f.zbs("logs", application).stdout.count("done "), 6)
        self.assert_idle()

    def test_zone_that_cannot_start_its_part_stops_all(self):
        # The configuration of zone c names a proxy that does not exist, and the zone is restarted.
        config = self.f.folder + "/state/c.toml"
        original = read(config)
        with open(config, "w") as f:
            f.write(original + '\n[mpi]\nproxy = "/nonexistent/proxy"\n')
        try:
            killed = self.f.service("zbs-zone", "c.toml")
            os.kill(killed, signal.SIGTERM)
            until(lambda: self.f.service("zbs-zone", "c.toml") not in (None, killed), 10, "zone c is not restarted")
            until(lambda: "a zone is down" not in self.f.used(), 10, "zone c is not up")
            until(self.all_zones_take_work, 20, "zone a does not know that c is back")
            begin = time.monotonic()
            done = self.f.zbs("run", "-n", "12", "--", "/bin/sleep", "600")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("zone c", done.stderr)
            self.assertNotIn("/nonexistent/proxy", done.stderr, "a path of another organisation's zone came out")
            self.assertIn("/nonexistent/proxy", read(self.f.folder + "/state/c.log"))
            self.assert_idle(5)
            self.assertLess(time.monotonic() - begin, 15)
        finally:
            with open(config, "w") as f:
                f.write(original)
            killed = self.f.service("zbs-zone", "c.toml")
            os.kill(killed, signal.SIGTERM)
            until(lambda: self.f.service("zbs-zone", "c.toml") not in (None, killed), 10, "zone c is not restarted")
            until(lambda: "a zone is down" not in self.f.used(), 10, "zone c is not up")
            until(self.all_zones_take_work, 20, "zone a does not know that c is back")

    def all_zones_take_work(self):
        return self.f.zbs("run", "--dry-run", "-n", "12", "--", "/bin/true").returncode == 0


class KillNine(Shared):
    """kill -9 of any one process while a job runs: no stuck hold and no orphan 60 s later."""

    def victim(self, kind):
        if kind == "registry":
            return self.f.service("zbs-registry")
        if kind in ("home zone", "peer zone"):
            return self.f.service("zbs-zone", {"home zone": "a.toml", "peer zone": "b.toml"}[kind])
        tests = {
            "launcher": lambda argv: "mpiexec" in argv[0] and "-launcher" in argv,
            "launcher supervisor": lambda argv: "zbs-step" in argv[0] and any("mpiexec" in word for word in argv),
            "proxy": lambda argv: "hydra_pmi_proxy" in argv[0],
            "proxy supervisor": lambda argv: "zbs-step" in argv[0] and any("hydra_pmi_proxy" in word for word in argv),
            "rank": lambda argv: argv[0].endswith("sleep"),
        }
        marked = self.f.job_processes()
        return next((pid for pid, argv in marked.items() if tests[kind](argv)), None)

    def check(self, kind):
        run = self.f.start("run", "-n", "6", "--", "/bin/sleep", "8")
        try:
            until(lambda: sum(argv[0].endswith("sleep") for argv in self.f.job_processes().values()) == 6, 20, "the ranks do not run")
            os.kill(run.pid if kind == "client" else until(lambda: self.victim(kind), 5, f"no {kind} is there"), signal.SIGKILL)
            until(lambda: not self.f.job_processes(), 60, f"{kind}: processes left: {self.f.job_processes()}")
            until(self.f.idle, 60, f"{kind}: processors still held: {self.f.used()}")
        finally:
            if kind != "client":
                until(lambda: run.poll() is not None, 60, f"{kind}: zbs run does not end")
            run.kill()
            run.communicate()
        return run.returncode


class KillOfServices(KillNine):
    def test_what_the_job_does_not_depend_on(self):
        for kind in ("registry", "home zone", "peer zone"):
            with self.subTest(kind):
                self.assertEqual(self.check(kind), 0, "the job must not notice")


class KillOfProcesses(KillNine):
    def test_what_the_job_dies_of(self):
        for kind in ("launcher", "launcher supervisor", "proxy", "proxy supervisor", "rank"):
            with self.subTest(kind):
                self.assertNotEqual(self.check(kind), 0, "the job must not be called a success")

    def test_client(self):
        self.check("client")
        newest = json.loads(self.f.zbs("list", "--limit", "1", "-o", "json").stdout)["applications"][0]["id"]
        self.f.wait_state(newest, ["completed"], 20)


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
