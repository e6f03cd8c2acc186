"""How `zbs` is used: faults of the command line, #ZBS lines, doctor, terminals, full disks, files that options name.

usage: usage_test.py ZBS SOURCE_DIR
"""
import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from manners import JOBS, ONE, VIEW, ZBS, Manners, Zone


class Usage(Manners):
    def test_a_fault_is_told_by_the_program_and_in_json_as_a_problem(self):
        for words, message in ((("shw",), "there is no command 'shw' of zbs; did you mean 'show'?"), (("show",), "the argument 'id' is missing ("), (("run", "-n", "0", "--", "true"), "--ntasks: 0 is out of range; give 1 to 1000000"),
                            (("run", "-t", "0s", "--", "true"), "--walltime: must be at least 1s")):
            self.assertIn("zbs: " + message, self.refused(*words))
            for form in (("-o", "json"), ("-ojson",), ("--output=jsonl",)):
                done = self.zbs(*form, *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, json.loads(done.stdout)["detail"])
        self.assertNotIn("did you mean", self.refused("cancel", "--all"))

    def test_an_address_that_is_none_is_told_with_its_place_and_what_to_write(self):
        for url, message in (("https://localhost:1/foo", "nothing may follow host and port; write https://localhost:1"), ("localhost", "it must start with https:// (http:// on loopback), e.g. https://zone.example:8001"),
                          ("ftp://x", "it must start with https:// (http:// on loopback), not with ftp://"), ("http://127.0.0.1:99999", "the port must be 1 to 65535, and is '99999'"),
                          ("http://u:secret@127.0.0.1:1", "no user or password may stand in it; write http://127.0.0.1:1")):
            for words, environment, place in ((("--url", url, "list"), {}, "--url"), (("list",), {"ZBS_URL": url}, "ZBS_URL"), (("list", "--url=" + url), {"ZBS_URL": "http://127.0.0.1:1"}, "--url")):
                done = self.zbs(*words, **environment)
                self.assertEqual((done.returncode, done.stderr), (2, f"zbs: {place}: '{re.sub('^.*@', '...@', url)}' is no service's address: {message}\n"))
        self.assertIn("'y' is no service's address", self.refused("list", "--url", "http://127.0.0.1:1, y"))
        for url in ("http://127.0.0.1:1,", ",http://127.0.0.1:1", "http://127.0.0.1:1, ,http://127.0.0.1:2"):
            self.assertIn("--url: an address is missing before or after a comma", self.refused("list", "--url", url))
        for words in (("list", "--url", ""), ("list", "--url=")):
            self.assertIn("--url: it is empty; write https://HOST:PORT", self.refused(*words))
        self.assertIn("fail  home zone: ZBS_URL: 'x' is no service's address", self.zbs("doctor", ZBS_URL="x").stdout)
        self.assertEqual(self.zbs("simulate", "--list-policies", ZBS_URL="x").returncode, 0, "what asks no zone needs no address")
        folder = os.path.join(self.folder, "credentials")
        os.mkdir(folder)
        with open(os.path.join(folder, "home"), "w", encoding="utf-8") as file:
            file.write("https://x:8001/v1 spiffe://o/zone/z\n")
        done = self.zbs("list", ZBS_URL="", ZBS_IDENTITY="", ZBS_CREDENTIALS=folder)
        self.assertEqual((done.returncode, done.stderr), (2, f"zbs: {folder}/home: 'https://x:8001/v1' is no service's address: nothing may follow host and port; write https://x:8001; log in again with 'zbs login'\n"))

    def test_an_empty_element_of_a_list_is_no_word_that_counts_for_nothing(self):
        for words in (("run", "--zones", "{}", "true"), ("submit", "--zones={}", "true"), ("list", "--columns", "{}"), ("list", "--sort", "{}"), ("simulate", "--trace", "x", "--refuse", "{}"), ("simulate", "--drop={}", "--trace", "x")):
            option = next(word for word in words if word.startswith("--") and word != "--trace").removesuffix("={}")
            for text, place in (("id,", 2), (",id", 1), ("id,,id", 2), ("id, ,id", 2)):
                self.assertIn(f"zbs: {option}: element {place} of '{text}' is empty; write one comma between two values", self.refused(*(word.format(text) for word in words)))
            self.assertIn(f"zbs: {option}: it is empty", self.refused(*(word.format("") for word in words)))
        self.script("#!/bin/sh\n#ZBS --zones a,\n")
        self.assertIn("job.sh, line 2: --zones: element 2 of 'a,' is empty", self.refused("submit", "./job.sh"))

    def test_a_trace_needs_a_profile(self):
        for words, what in ((("--no-record",), "--no-record"), (("--env", "ZBS_PROFILE=0"), "ZBS_PROFILE=0")):
            self.assertIn(f"zbs: --trace: a trace is part of the profile, which {what} turns off", self.refused("submit", "--trace", "x", *words, "/bin/true"))

    def test_a_trace_into_a_folder_that_takes_none_is_refused_before_the_run(self):
        self.script("", "file")
        for prefix, what in (("none/x", "No such file or directory"), ("file/x", "is not a folder"), (self.folder + "/file/x", "is not a folder")):
            error = self.refused("submit", "--trace", prefix, "/bin/true")
            self.assertTrue(error.startswith("zbs: --trace: ") and what in error, error)
        if os.geteuid() != 0:  # root opens all folders
            os.mkdir(self.folder + "/shut", 0o555)
            self.assertIn("Permission denied", self.refused("submit", "--trace", "shut/x", "/bin/true"))
        self.assertEqual(Zone.sent, [])
        self.zbs("submit", "--trace", "/on/another/machine/x", "/bin/true")
        self.assertEqual(len(Zone.sent), 1)

    def test_a_result_that_is_here_already_is_refused_before_the_run(self):
        self.script("old", "result")
        done = self.zbs("run", "--stage-out", "none", "--stage-out", "result", "/bin/true")
        self.assertEqual((done.returncode, done.stderr, Zone.sent), (8, "zbs: --stage-out: ./result is there already, and would not be replaced; move it, or name another folder (--results)\n", []))
        for words in (("--stage-out", "res*"), ("--stage-out", "result", "--id", ONE)):
            self.zbs("run", *words, "/bin/true")
            self.assertEqual(len(Zone.sent), 1, words)
            Zone.sent.clear()

    def test_a_result_with_an_absolute_name_is_refused_with_that_reason(self):
        self.assertIn("--stage-out: '/etc/passwd' must not be absolute", self.refused("submit", "--dry-run", "--stage-out", "/etc/passwd", "/bin/true"))

    def test_the_place_of_a_fault_that_the_zone_tells_is_told_to_programs_and_people(self):
        fault = {"pointer": "/ranks", "detail": "must be less"}
        Zone.answers = {"refusal": {"detail": "at /ranks: must be less", "errors": [fault]}}
        done = self.zbs("submit", "--output", "json", "/bin/true")
        self.assertEqual((done.returncode, json.loads(done.stdout)["errors"], json.loads(done.stdout)["detail"]), (2, [fault], "at /ranks: must be less"))
        self.assertEqual(done.stderr, "zbs: -n: must be less\n")

    def test_directives_without_an_interpreter_are_told(self):
        self.script("#ZBS -n 8\necho\n")
        self.assertIn("job.sh: its #ZBS lines count for nothing, because its first line is no #!", self.zbs("submit", "--dry-run", "./job.sh").stderr)

    def test_wide_shows_more(self):
        Zone.answers |= {"/v1/nodes": {"zone": "x", "organisation": "org-a", "nodes": []}, "/v1/peerings": {"peers": [{"zone": "y", "outbound": "requested", "inbound": "accepted", "reason": "r"}]},
                         "/v1/profiles": {"profiles": []}}
        for words, column in ((("zone", "list"), "INBOUND"), (("profile", "list"), "PATH")):
            self.assertNotIn(column, self.good(*words))
            self.assertIn(column, self.good(*words, "-o", "wide"))


class Directives(Manners):
    def request(self, *words):
        """The request that a dry run of these words sends."""
        done = self.zbs("submit", "--dry-run", *words)
        self.assertIn("seen", done.stderr)
        return Zone.sent.pop()

    def test_words_behind_the_program_are_its_own(self):
        words = ["[1,2,3]", "[]", "-n", "100", "--help", "-t", "5", "-o", "json", "--json", "--", "--env=x", "", "{}", ":", "a\nb", "日本"]
        for mark in ((), ("--",)):
            got = self.request("-n", "2", *mark, "/bin/true", *words)
            self.assertEqual((got["ranks"], got["argv"]), (2, ["/bin/true", *words]))
        self.assertEqual(self.request("--name=", "-n", "3", "/bin/true")["ranks"], 3, "an empty value takes no other word")

    def test_a_path_keeps_what_the_kernel_would_make_of_it(self):
        """`..` behind a link leads into another folder than the text of the path shows."""
        os.makedirs(os.path.join(self.folder, "far/inner"))
        os.symlink("far/inner", os.path.join(self.folder, "link"))
        self.script("#!/bin/sh\n")
        os.rename(os.path.join(self.folder, "job.sh"), os.path.join(self.folder, "far/job.sh"))
        got = self.request("--chdir", "link/..", os.path.join(self.folder, "link/.././/job.sh"))
        self.assertEqual((got["directory"], got["argv"]), (os.path.join(self.folder, "link/.."), [os.path.join(self.folder, "link/../job.sh")]))

    def test_a_working_directory_does_not_go_with_staged_files(self):
        self.script("#!/bin/sh\n#ZBS --chdir .\n")
        for words in (("-D", ".", "--stage-in", "job.sh", "/bin/true"), ("-D", ".", "--stage-out", "a", "/bin/true"), ("--stage-out", "a", "./job.sh")):
            self.assertIn("--chdir: '.' does not go with --stage-in and --stage-out", self.refused("submit", *words))
        self.assertEqual(Zone.sent, [])

    def test_words_of_directives_are_those_of_a_shell(self):
        self.script("#!/bin/sh\n#ZBS --env \"A=a\\d+b\" --env 'B=c\\d' --env C=e\\ f --env \"D=say \\\"x\\\"\" --name=\necho\n")
        self.assertEqual({k: v for k, v in self.request("./job.sh")["environment"].items() if k in "ABCD"}, {"A": "a\\d+b", "B": "c\\d", "C": "e f", "D": 'say "x"'})

    def test_lines_that_count_for_nothing_are_named(self):
        self.script("#!/bin/sh\n#SBATCH -n 3\n#PBS -l x\n#SBATCH -t 5\ncd .\n#ZBS -n 8\n")
        printed = self.zbs("submit", "--dry-run", "./job.sh").stderr
        self.assertEqual([printed.count(f"job.sh: its {mark} lines count for nothing") for mark in ("#SBATCH", "#PBS")], [1, 1], printed)
        self.assertIn("job.sh, line 6: counts for nothing, because #ZBS lines must stand above the first command", printed)

    def test_a_line_that_only_looks_like_an_option_is_named(self):
        self.script("#!/bin/sh\n#ZBS-n 2\n# zbs -n 3\n# zbs-zone runs here\ncd .\n")
        printed = self.zbs("submit", "--dry-run", "./job.sh").stderr
        self.assertEqual(printed.count("looks like"), 2, printed)
        for line, option in ((2, "-n 2"), (3, "-n 3")):
            self.assertIn(f"job.sh, line {line}: looks like an option of zbs and is none; write '#ZBS {option}'\n", printed)

    def test_variables_that_no_shell_passes_on_are_refused(self):
        for name in ("a.b", "1a", "PWD", "IFS"):
            self.assertIn(f"--env: '{name}' ", self.refused("submit", "--dry-run", "--env", name + "=1", "--", "/bin/true"))

    def test_more_arguments_than_launchers_take_are_refused_with_the_limits(self):
        for words in (["x"] * 900, ["x" * 65536]):
            printed = self.refused("submit", "--dry-run", "--", "/bin/true", *words)
            self.assertIn(f"the program has {len(words)} arguments, with its name of ", printed)
            self.assertIn("at most 899 and 65536 bytes reach the ranks", printed)

    def test_a_program_on_a_file_system_without_programs_is_refused_with_that_reason(self):
        if not os.statvfs("/proc").f_flag & os.ST_NOEXEC:
            self.skipTest("/proc is not mounted noexec")
        done = self.zbs("submit", "--dry-run", "--", "/proc/version")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("its file system is mounted noexec", done.stderr)

    def test_a_script_sets_what_the_command_line_leaves_out(self):
        os.mkdir(os.path.join(self.folder, "sub"))
        self.script("#!/bin/sh\n#ZBS -n 8 --walltime 1h\n#ZBS --env A=1 --env 'B=x y'\n#ZBS --env C=3 --chdir sub\necho\n#ZBS -n 9\n")
        got = self.request("./job.sh", "word")
        self.assertEqual((got["ranks"], got["walltime_s"], got["argv"]), (8, 3600, [os.path.join(self.folder, "job.sh"), "word"]))
        self.assertEqual({k: v for k, v in got["environment"].items() if k in "ABC"}, {"A": "1", "B": "x y", "C": "3"})
        self.assertEqual(got["directory"], os.path.join(self.folder, "sub"))
        got = self.request("-n", "2", "--env", "A=2", "--", "./job.sh")
        self.assertEqual((got["ranks"], got["walltime_s"]), (2, 3600))
        self.assertEqual({k: v for k, v in got["environment"].items() if k in "ABC"}, {"A": "2", "B": "x y", "C": "3"}, "what may be repeated adds up")

    def staged(self, *words):
        got = self.request(*words)["staging"]
        return sorted(file["name"] for file in got["inputs"]), got.get("program"), got.get("results", [])

    def test_what_is_sent_has_the_names_that_the_command_line_gives(self):
        os.makedirs(os.path.join(self.folder, "sub/.hidden"))
        for name in ("job.sh", "sub/data", ".profile"):
            self.script("#!/bin/sh\n#ZBS --stage-out a\n", name)
        self.assertEqual(self.staged("--stage-in", "./", "--stage-out", "b", "./job.sh"), self.staged("--stage-in", ".", "--stage-out", "./b", "./job.sh"))
        self.assertEqual(self.staged("--stage-in", ".", "--stage-out", "./b", "./job.sh"), (["job.sh", "sub/data"], "job.sh", ["a", "b"]))
        self.assertIn(".profile is hidden, and is not sent", self.zbs("submit", "--dry-run", "--stage-in", ".", "./job.sh").stderr)
        self.assertEqual(self.staged("--stage-in", "job.sh=other", "./other")[:2], (["other"], "other"))
        done = self.zbs("submit", "--dry-run", "--stage-in", "job.sh=other", "./another")
        self.assertEqual((done.returncode, "there is no such file" in done.stderr), (3, True), done.stderr)

    def test_numbers_are_decimal_and_values_are_not_empty(self):
        for words, wrong in ((("-n", "010"), "--ntasks: '010' is not a decimal number, or begins with 0"), (("--umask", ""), "--umask: it is empty"), (("--umask=",), "--umask: it is empty"), (("--chdir", ""), "--chdir: it is empty")):
            self.assertIn(wrong, self.refused("submit", "--dry-run", *words, "--", "/bin/true"))
        self.script("#!/bin/sh\n#ZBS -n 010\n")
        self.assertIn("line 2: --ntasks: '010' is not a decimal number", self.refused("submit", "--dry-run", "./job.sh"))

    def test_a_bad_directive_names_file_and_line(self):
        for line, wrong in (("--waltime 1h", "did you mean '--walltime'?"), ("-n 0", "-n"), ("-n", "-n"), ("--env 'A", "does not end"),
                            ("--walltime soon", "'soon' is no duration"), ("--dry-run", "command line only"), ("--id x", "command line only"),
                            ("other.sh", "the script itself is the program"), ("-- other.sh", "the script itself is the program"),
                            ("--mapper best", "best"), ("--output json", "no option"), ("--help", "no option")):
            self.script(f"#!/bin/sh\n\n#ZBS {line}\n")
            message = self.refused("submit", "--dry-run", "./job.sh")
            self.assertIn(f"{self.folder}/job.sh, line 3: ", message, line)
            self.assertIn(wrong, message, line)
        self.assertEqual(Zone.sent, [])

    def test_what_is_no_script_has_no_directives(self):
        self.script("#ZBS -n 8\necho\n")
        self.assertEqual(self.request("./job.sh")["ranks"], 1)
        self.assertEqual(self.request("/bin/true")["ranks"], 1)


class Dashboard(Manners):
    def test_a_port_that_is_taken_is_told_with_its_option(self):
        Zone.answers["/v1/whoami"] = {"zone": "spiffe://org-a/zone/x", "name": "spiffe://org-a/user/ana"}
        done = self.zbs("dashboard", "--port", str(self.server.server_port))
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        self.assertIn("Address already in use; 'ss -ltnp' names the program that listens there: end it, or set another port with '--port'\n", done.stderr)


class Doctor(Manners):
    def setUp(self):
        super().setUp()
        Zone.answers |= {"/v1/whoami": {"zone": "spiffe://org-a/zone/x", "name": "spiffe://org-a/user/ana"},
                         "/openapi.json": {"info": {"version": "1"}},
                         "/v1/profiles": {"profiles": [{"id": ONE, "application": ONE, "at_us": 1, "program": "/bin/a", "arguments": "", "ranks": 2, "complete": True, "predicted_s": 1.5, "measured_s": 2.5,
                                                         "error": {"runs": 1, "mean": 0.5, "spread": 1.5, "last": 0.5}}]},
                         "/v1/peerings": {"peers": [{"zone": "y", "outbound": "accepted"}, {"zone": "z\x1b[2J", "outbound": "requested"}]}}
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)

    def verdicts(self, **environment):
        done = self.zbs("doctor", "-o", "json", PATH=self.bin, **environment)
        found = json.loads(done.stdout)
        self.assertEqual(found["version"], 1)
        self.assertEqual(done.returncode, 1 if found["verdict"] == "fail" else 0, done.stdout)
        for check in found["checks"]:
            self.assertEqual(bool(check["remedy"]), check["verdict"] != "ok", check)
        return {check["check"]: (check["verdict"], check["found"]) for check in found["checks"]}

    def test_it_tells_of_home_peers_mpi_and_slurm(self):
        self.script("#!/bin/sh\necho 'mpiexec (OpenRTE) 4.1.4'\n", "bin/mpiexec")
        self.script("#!/bin/sh\necho no; exit 3\n", "bin/mpiexec.mpich")
        found = self.verdicts()
        self.assertEqual(found["home zone"][0], "ok")
        self.assertEqual(found["version"][0], "ok")
        self.assertEqual((found["peer y"][0], found["peer z\x1b[2J"][0]), ("ok", "warn"))
        self.assertEqual(found["MPI mpiexec"], ("ok", f"Open MPI 4.1.4 at {self.bin}/mpiexec"))
        self.assertEqual(found["MPI mpiexec.mpich"], ("warn", f"{self.bin}/mpiexec.mpich ends with 3"))
        self.assertEqual(found["Slurm"], ("ok", "none here; only a zone in front of Slurm needs it"))
        self.script("#!/bin/sh\necho all\n", "bin/sinfo")
        self.assertEqual(self.verdicts()["Slurm"], ("warn", "sinfo is here, but not sbatch, scancel, scontrol, squeue, srun"))

    def test_another_version_and_missing_credentials_fail(self):
        Zone.answers["/openapi.json"] = {"info": {"version": "2"}}
        self.assertEqual(self.verdicts()["version"][0], "fail")
        del Zone.answers["/v1/whoami"]
        self.assertEqual(self.verdicts()["home zone"][0], "fail")
        self.assertEqual(self.verdicts(ZBS_IDENTITY="")["credentials"][0], "fail")

    def test_no_colour_and_nothing_that_drives_a_terminal_leaves_it_for_a_pipe(self):
        self.assertNotIn("\x1b", self.zbs("doctor", TERM="xterm").stdout)

    def test_colour_is_for_terminals_and_no_color_turns_it_off(self):
        for no_color, coloured in (("", True), ("1", False)):
            with Terminal(self, ["doctor"], TERM="xterm", NO_COLOR=no_color) as screen:
                text = screen.until(lambda seen: "Slurm" in seen)
            self.assertEqual("\x1b[32mok\x1b[0m" in text, coloured, text)


class Terminal:
    """`zbs` with a terminal of 10 lines of 60 characters as its standard output."""

    def __init__(self, test, words, **environment):
        self.main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 60, 0, 0))
        env = dict(os.environ, HOME=test.folder, ZBS_URL=f"http://127.0.0.1:{test.server.server_port}", ZBS_TOKEN="x",
                   ZBS_IDENTITY="spiffe://org-a/user/ana", **environment)
        self.process = subprocess.Popen([ZBS, *words], stdin=subprocess.DEVNULL, stdout=side, env=env)
        os.close(side)
        self.seen = ""

    def until(self, enough, seconds=30):
        end = time.monotonic() + seconds
        while not enough(self.seen):
            if time.monotonic() > end:
                raise AssertionError(f"not seen on the terminal: {self.seen!r}")
            if select.select([self.main], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.main, 4096).decode()
                except OSError:  # the other side is closed
                    if not enough(self.seen):
                        raise AssertionError(f"ended with {self.seen!r}")
        return self.seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        os.close(self.main)


class Watching(Manners):
    def setUp(self):
        super().setUp()
        Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": [{"name": "n1", "processors": 8, "used": 3}, {"name": "n2", "processors": 8, "used": 0}]}

    def test_top_draws_again_on_a_terminal_and_cuts_to_its_size(self):
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id=f"{i:02}") for i in range(20)]}
        with Terminal(self, ["top", "--every", "0.1"]) as screen:
            text = screen.until(lambda seen: seen.count("3 of 16 processors") >= 3)
        first = text.split("\x1b[H")[1]
        self.assertIn("applications: 20 running, 0 waiting, 0 ended since", first)
        lines = first.split("\x1b[J")[0].replace("\x1b[K", "").splitlines()
        self.assertLessEqual(len(lines), 9)
        self.assertLessEqual(max(map(len, lines)), 60)

    def test_top_shows_the_applications_that_were_asked_for(self):
        chosen = ("--filter", "state=running", "--sort", "-ranks", "--columns", "id,ranks,submitted_us")
        output = self.good("top", *chosen)
        self.assertTrue(output.endswith("applications: 2 running, 0 waiting, 1 ended since 1970-01-01 00:01\n\nID  RANKS  SUBMITTED\n03  100    1970-01-01 00:00:01\n01  8      1970-01-01 00:00:03\n"), output)
        found = json.loads(self.good("top", *chosen, "-o", "json"))
        self.assertEqual(found["applications"], [{"id": "03", "ranks": 100, "submitted_us": 1_000_000}, {"id": "01", "ranks": 8, "submitted_us": 3_000_000}])
        self.assertEqual((found["version"], found["zone"]["zone"]), (1, "x"))
        self.assertEqual(self.good("top", "--filter", "exit_code=3", "-o", "name"), "02\n")
        self.assertEqual(self.good("top", *chosen, "-o", "csv"), "ID,RANKS,submitted_us\n03,100,1000000\n01,8,3000000\n")
        self.assertIn("--sort: there is no column 'rnaks'; did you mean 'ranks'?", self.refused("top", "--sort", "rnaks"))

    def test_top_prints_once_elsewhere(self):
        output = self.good("top")
        self.assertTrue(output.startswith("zone x: 3 of 16 processors in use, 2 machines\napplications: 2 running, 0 waiting, 1 ended since 1970-01-01 00:01\n\nID "), output)
        self.assertNotIn("\x1b", output)
        self.assertEqual(json.loads(self.good("top", "-o", "json"))["version"], 1)

    def test_tables_fit_the_terminal_and_120_columns_elsewhere(self):
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id=ONE, reason="waits " * 40)]}
        lines = self.good("list").splitlines()
        self.assertEqual((max(map(len, lines)), lines[1].split()[0], lines[1][-3:]), (120, ONE, "..."))
        self.assertIn("waits " * 40, self.good("list", "-o", "wide"))
        with Terminal(self, ["list"]) as screen:
            text = screen.until(lambda seen: ONE in seen and seen.endswith("\n"))
        self.assertEqual(max(map(len, text.replace("\r", "").splitlines())), 60)

    def test_lists_have_times_and_what_is_waited_for(self):
        hour = 3_600_000_000
        Zone.answers["/v1/applications"] = {"applications": [
            dict(JOBS[0], id="01", state="committed", reason="waiting in a queue", waits_for="turn", expected_start_us=2 * hour),
            dict(JOBS[0], id="02", state="completed", started_us=hour, ended_us=hour + 90_500_000), dict(JOBS[0], id="03", state="running", started_us=hour)]}
        row = dict(zip(("waits", "over", "runs"), csv.DictReader(io.StringIO(self.good("list", "-o", "csv"))), strict=True))
        self.assertEqual((row["waits"]["EXPECTED START"], row["waits"]["STARTED"], row["waits"]["ELAPSED"]), ("1970-01-01 02:00:00", "", ""))
        self.assertEqual(row["waits"]["REASON"], "until 1970-01-01 02:00: waiting in a queue; others are before it, or too few processors are free")
        self.assertEqual((row["over"]["STARTED"], row["over"]["ENDED"], row["over"]["ELAPSED"]), ("1970-01-01 01:00:00", "1970-01-01 01:01:30", "90.0"))
        self.assertGreater(float(row["runs"]["ELAPSED"]), 90.0)
        Zone.answers["/v1/applications/" + ONE] = dict(VIEW, started_us=hour, ended_us=hour + 90_500_000)
        self.assertIn("started    1970-01-01 01:00:00\nended      1970-01-01 01:01:30\nelapsed    1m30s\n", self.good("show", ONE))
        Zone.answers["/v1/applications/" + ONE] = dict(VIEW, expected_start_us=2 * hour)
        self.assertIn("expected   1970-01-01 02:00:00\n", self.good("show", ONE))

    def test_a_start_of_this_year_is_short_in_the_reason(self):
        now = time.time()
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id="01", state="committed", reason="waiting in a queue", expected_start_us=int(now * 1e6))]}
        (row,) = csv.DictReader(io.StringIO(self.good("list", "-o", "csv")))
        # At midnight the day may have changed since.
        self.assertRegex(row["REASON"], time.strftime("^until (%m-%d )?%H:%M: waiting in a queue$", time.gmtime(now)))

    def test_one_of_a_kind_is_no_plural(self):
        Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": [{"name": "n1", "processors": 1, "used": 0, "speed": 1}]}
        self.assertTrue(self.good("top").startswith("zone x: 0 of 1 processor in use, 1 machine\n"))

    def test_show_is_watched_until_the_application_ends(self):
        one = "01JJJJJJJJJJJJJJJJJJJJJJJJ"
        view = {"id": one, "state": "running", "ranks": 1, "argv": ["/bin/a"], "submitted_us": 1}
        Zone.answers["/v1/applications/" + one] = view
        env = dict(os.environ, HOME=self.folder, ZBS_URL=f"http://127.0.0.1:{self.server.server_port}", ZBS_TOKEN="x", ZBS_IDENTITY="spiffe://org-a/user/ana")
        with subprocess.Popen([ZBS, "show", one, "--watch=0.1", "-o", "jsonl"], env=env, stdout=subprocess.PIPE, text=True) as watched:
            self.assertEqual([json.loads(watched.stdout.readline())["state"] for _ in range(3)], ["running"] * 3)
            Zone.answers["/v1/applications/" + one] = dict(view, state="completed")
            rest = watched.stdout.read().splitlines()
            self.assertEqual(json.loads(rest[-1])["state"], "completed")
            self.assertEqual(watched.wait(30), 0)

    def test_an_interval_that_is_none_is_refused(self):
        for every in ("0", "x", "2d"):
            self.assertIn("--watch", self.refused("list", f"--watch={every}"))


class FullDisk(Manners):
    """Output that nobody can have is no success. Only the shell's redirection touches /dev/full."""

    def full(self, *words, code=1):
        env = dict(os.environ, HOME=self.folder, ZBS_URL=f"http://127.0.0.1:{self.server.server_port}", ZBS_TOKEN="x", ZBS_IDENTITY="spiffe://org-a/user/ana")
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" > /dev/full', ZBS, *words], cwd=self.folder, env=env, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stderr

    def test_every_command_tells_of_a_full_disk(self):
        one = "01JJJJJJJJJJJJJJJJJJJJJJJJ"
        Zone.answers |= {"/v1/applications/" + one: {"id": one, "state": "completed", "ranks": 1, "argv": ["/bin/a"], "submitted_us": 1},
                         "/v1/applications/" + one + "/logs": {"files": [{"rank": "0", "stream": "stdout", "bytes": 5}], "complete": True},
                         "/v1/applications/" + one + "/logs/0": {"x": 1}, "/v1/profiles": {"profiles": []}}
        for words in (["list"], ["list", "-o", "json"], ["show", one, "-o", "json"], ["profile", "list", "-o", "csv"], ["logs", one], ["logs", one, "-l"], ["simulate", "--list"], ["--help"], ["--version"]):
            self.assertEqual(self.full(*words), "zbs: cannot write standard output: No space left on device\n", words)

    def test_a_fault_keeps_its_own_code(self):
        self.assertIn("cannot write standard output", self.full("show", "01JJJJJJJJJJJJJJJJJJJJJJJJ", "-o", "json", code=3))

    def test_more_than_a_buffer_is_told_with_its_reason_too(self):
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id=f"{i:02}") for i in range(5_000)]}
        self.assertEqual(self.full("list", "--limit", "5000"), "zbs: cannot write standard output: No space left on device\n")

    def test_a_reader_that_has_seen_enough_is_no_fault(self):
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id=f"{i:02}") for i in range(5_000)]}
        env = dict(os.environ, HOME=self.folder, ZBS_URL=f"http://127.0.0.1:{self.server.server_port}", ZBS_TOKEN="x", ZBS_IDENTITY="spiffe://org-a/user/ana")
        with subprocess.Popen([ZBS, "list", "--limit", "5000"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual((process.stderr.read(), process.wait(30)), ("", 0))

    def test_logs_that_nobody_reads_any_more_end(self):
        one = "01JJJJJJJJJJJJJJJJJJJJJJJJ"
        Zone.answers |= {"/v1/applications/" + one: {"id": one, "state": "running"}, "/v1/applications/" + one + "/logs/0": {"text": "x" * 10_000},
                         "/v1/applications/" + one + "/logs": {"files": [{"rank": "0", "stream": "stdout", "bytes": 1 << 40}], "complete": False}}
        env = dict(os.environ, HOME=self.folder, ZBS_URL=f"http://127.0.0.1:{self.server.server_port}", ZBS_TOKEN="x", ZBS_IDENTITY="spiffe://org-a/user/ana")
        with subprocess.Popen([ZBS, "logs", "-f", one], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.read(4), '{"te')
            process.stdout.close()
            self.assertEqual((process.stderr.read(), process.wait(30)), ("", 0))


class Files(Manners):
    """Files that options name: written where they lead to."""
    SCHEDULE = ("simulate", "--generate", "lublin:jobs=5,processors=8", "--policy", "fcfs", "--schedule")

    def test_a_schedule_goes_to_standard_output(self):
        self.good(*self.SCHEDULE, "kept.csv")
        with open(os.path.join(self.folder, "kept.csv")) as f:
            kept = f.read()
        for name in ("-", "/dev/stdout"):
            self.assertIn(kept, self.good(*self.SCHEDULE, name), name)

    def test_a_link_stays_and_a_mode_is_kept(self):
        path = self.script("old", "target")
        os.chmod(path, 0o600)
        os.symlink("target", os.path.join(self.folder, "link"))
        self.good(*self.SCHEDULE, "link")
        self.assertTrue(os.path.islink(os.path.join(self.folder, "link")))
        with open(path) as f:
            self.assertNotEqual(f.read(), "old")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for programs in the background
    unittest.main(argv=sys.argv[:1])
