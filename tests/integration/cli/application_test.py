"""Commands of `zbs` about applications that are there: show, wait, logs, cancel, and the words in place of ids.

usage: application_test.py ZBS SOURCE_DIR
"""
import csv
import io
import json
import os
import pty
import select
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from manners import JOBS, ONE, PLAN, TWO, VIEW, WHOLE_PLAN, ZBS, Manners, Zone


class Applications(Manners):
    def setUp(self):
        super().setUp()
        Zone.answers["/v1/applications/" + ONE] = VIEW
        Zone.answers["/v1/applications/" + ONE + "/explain"] = {"id": ONE, "state": "planned", "reason": "", "events": [], "plan": PLAN}

    def test_a_rank_that_is_not_there_is_told(self):
        Zone.answers["/v1/applications/" + ONE + "/logs"] = {"files": [], "complete": True}
        Zone.answers["/v1/applications/" + ONE + "/logs/1"] = {}
        done = self.zbs("logs", ONE, "--rank", "77")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", "zbs: nothing there\n"))
        self.assertEqual(self.good("logs", ONE, "--rank", "1"), "", "it is there, and has said nothing")
        self.assertIn("'x' is neither a rank nor 'launcher'", self.refused("logs", ONE, "--rank", "x"))

    def end(self, state, **more):
        """One that wrote, and ended so."""
        files = [{"rank": "0", "stream": stream, "bytes": 1} for stream in ("stdout", "stderr")]
        Zone.answers |= {"/v1/applications/" + ONE: dict(VIEW, state=state, **more), "/v1/applications/" + ONE + "/logs": {"files": files, "complete": True},
                         "/v1/applications/" + ONE + "/logs/0": lambda asked: {"of": asked["stream"]}}

    def test_output_of_a_job_goes_into_files(self):
        self.end("completed", exit_code=0)
        read = lambda name: Path(self.folder, name).read_text()  # noqa: E731
        Path(self.folder, "out").write_text("of an earlier run, longer than what comes now")
        done = self.zbs("run", "-q", "--id", ONE, "-o", "out", "-e", "err", "/bin/true")
        self.assertEqual((done.returncode, done.stdout, read("out"), read("err")), (0, "", '{"of": "stdout"}', '{"of": "stderr"}'), done.stderr)
        self.script("#!/bin/sh\n#ZBS -o both -e both\n")
        done = self.zbs("submit", "--wait", "--id", ONE, "./job.sh", ZBS_OUTPUT="json")
        self.assertEqual((done.returncode, done.stdout, read("both")), (0, "", '{"of": "stdout"}{"of": "stderr"}'), done.stderr)
        done = self.zbs("run", "-q", "--id", ONE, "-e", "err", "/bin/true")
        self.assertEqual((done.returncode, done.stdout), (0, '{"of": "stdout"}'), done.stderr)

    def test_files_for_output_stay_as_they_are_until_the_job_begins(self):
        kept = Path(self.folder, "kept")
        kept.write_text("of an earlier run")
        self.end("rejected", reason="no room")
        Zone.answers["/v1/applications/" + ONE + "/logs"] = {"files": [], "complete": True}
        for words in (("run", "-q", "--id", ONE), ("run", "-q", "--id", ONE, "--url", "http://127.0.0.1:1")):
            done = self.zbs(*words, "-o", "kept", "-e", "new", "/bin/true")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual((kept.read_text(), Path(self.folder, "new").exists()), ("of an earlier run", False), done.stderr)
        self.end("completed", exit_code=0, started_us=1)
        Zone.answers["/v1/applications/" + ONE + "/logs"] = {"files": [], "complete": True}
        self.assertEqual(self.zbs("run", "-q", "--id", ONE, "-o", "kept", "/bin/true").returncode, 0)
        self.assertEqual(kept.read_text(), "", "it ran and printed nothing")

    def test_output_that_cannot_be_written_into_its_file_is_no_good_end(self):
        for code, ends_with in ((0, 5), (3, 3)):
            self.end("completed" if code == 0 else "failed", exit_code=code)
            for option in ("-o", "-e"):
                done = self.zbs("run", "-q", "--id", ONE, option, "/dev/full", "/bin/true")
                self.assertEqual(done.returncode, ends_with, done.stderr)
                self.assertIn("the output cannot be written: No space left on device", done.stderr)

    def test_files_for_output_that_nobody_writes_are_refused(self):
        self.script("#!/bin/sh\n#ZBS -o out\n")
        for words, message in ((("submit", "-o", "out", "/bin/true"), "-o names a file for the job's output, and this command does not wait for it; 'zbs run' and --wait write the file"),
                            (("submit", "./job.sh"), "-o names a file"), (("submit", "-e", "err", "/bin/true"), "-e names a file"), (("run", "--dry-run", "-e", "err", "/bin/true"), "a dry run has none"),
                            (("submit", "-o", "json", "/bin/true"), "; the format is --output json"), (("run", "--dry-run", "-o", "json", "/bin/true"), "; the format is --output json")):
            self.assertIn(message, self.refused(*words))
        done = self.zbs("run", "--id", ONE, "-o", "no/folder", "/bin/true")
        self.assertEqual((done.returncode, done.stderr), (5, "zbs: -o: 'no/folder' cannot be written: No such file or directory\n"))
        self.assertEqual((Zone.sent, os.path.exists(os.path.join(self.folder, "out"))), ([], False), "before anything is done")

    def test_a_failing_run_ends_with_the_next_command(self):
        for state, more, hint in (("failed", {"exit_code": 3}, f"zbs: 'zbs logs -l {ONE}' shows which rank wrote what"), ("failed", {}, f"zbs: 'zbs show {ONE}' shows its plan, its parts and why it ended"),
                                  ("rejected", {}, f"zbs: 'zbs show {ONE}' shows its plan, its parts and why it ended")):
            self.end(state, reason="r", **more)
            done = self.zbs("run", "--id", ONE, "/bin/true")
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(done.stderr.endswith(f"zbs: {ONE} {state}: r\n{hint}\n"), done.stderr)
        self.end("completed", exit_code=0)
        self.assertNotIn("'zbs ", self.zbs("run", "--id", ONE, "/bin/true").stderr)

    def test_results_whose_names_are_taken_are_fetched_by_id(self):
        self.end("completed", exit_code=0)
        Zone.answers["/v1/applications/" + ONE + "/results"] = {"complete": True, "notes": [], "files": [{"name": "a.dat", "digest": "0" * 64, "size": 1, "zone": "x"}]}
        Path(self.folder, "a.dat").write_text("of an earlier run")
        done = self.zbs("run", "-q", "--id", ONE, "--stage-out", "*.dat", "/bin/true")
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertTrue(done.stderr.endswith("zbs: ./a.dat is there already, with other content; fetch into another folder (-d)\n"
                                             f"zbs: not all results of {ONE} were fetched; 'zbs fetch {ONE} -d FOLDER' fetches them into FOLDER\n"), done.stderr)

    def test_a_matrix_of_what_is_not_learnt_is_told_with_the_remedy(self):
        for profile in ("none", "request"):
            Zone.answers["/v1/applications/" + ONE] = dict(VIEW, plan=dict(PLAN, profile=profile))
            done = self.zbs("show", ONE, "--matrix")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("nothing is learnt of this program and size yet", done.stderr)
            self.assertIn("zbs profile import", done.stderr)

    def test_an_expected_start_counts_from_the_plan(self):
        for words in (("show", ONE), ("explain", ONE)):
            output = self.good(*words)
            self.assertIn("waits in the queue of its zone, planned at 1970-01-01 01:02:03 to start in 5m4s\n", output, words)
            self.assertIn("place 3, expected to start in 2m8s; others are before it", output, words)

    def test_wait_tells_what_ended_and_exits_with_the_first_fault(self):
        Zone.answers["/v1/applications/" + ONE] = dict(VIEW, state="failed", exit_code=3)
        Zone.answers["/v1/applications/" + TWO] = dict(VIEW, id=TWO, state="failed", exit_code=4)
        for order, code in (((ONE, TWO), 3), ((TWO, ONE), 4)):
            done = self.zbs("wait", *order, "-o", "json")
            answer = json.loads(done.stdout)
            self.assertEqual((done.returncode, list(answer), [one["id"] for one in answer["applications"]]), (code, ["version", "applications"], list(order)))
        self.assertEqual(self.zbs("wait", ONE).stdout, "")

    def test_applications_go_by_last_all_and_names(self):
        a, b, c, d, e = self.mine()
        named = lambda *words: self.good(*words, "-o", "name").split()  # noqa: E731
        for command in ("show", "explain"):
            for one in (a, c, d):
                Zone.answers[f"/v1/applications/{one}/explain"] = {"id": one, "state": "running", "events": []}
            self.assertEqual((named(command, "last"), named(command, "name=lu-*"), named(command, "name=lu-0"), named(command, "name=c?")), ([a], [a], [d], [c]), command)
        self.assertEqual(named("cancel", "last"), [a])
        self.assertEqual(named("cancel", "name=lu-*", "--yes"), [a, b], "what has ended is left alone")
        self.assertEqual(named("cancel", "all", c, "-y"), [a, b, c])
        self.assertEqual(named("cancel", "name=cg"), [c], "of one nobody is asked")
        self.assertEqual(Zone.sent, ["/v1/applications/" + one for one in (a, a, b, a, b, c, c)])
        self.assertEqual(named("wait", "name=lu-0", "name=old"), [d, e])
        Zone.answers[f"/v1/applications/{a}/results"] = {"complete": True, "notes": [], "files": []}
        self.assertEqual(json.loads(self.good("fetch", "last", "-o", "json"))["files"], [])

    def test_all_of_nothing_is_no_fault(self):
        rows = self.mine()
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id=rows[3], state="completed")]}
        for words in (("wait", "all"), ("cancel", "all"), ("cancel", "all", "--no-input"), ("cancel", "all", "--yes")):
            done = self.zbs(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "zbs: nothing of yours is open\n"), words)
            self.assertEqual(json.loads(self.good(*words, "-o", "json")), {"version": 1, "applications": []})
        self.assertEqual(Zone.sent, [])

    def test_what_is_open_is_found_however_many_newer_ones_have_ended(self):
        a, b, *_ = self.mine()
        ended = [dict(JOBS[0], id=f"01KKKKKKKKKKKKKKKKKKK{i:05}", state="completed") for i in range(11_000)]
        rows = ended + [dict(JOBS[0], id=one, name="lu", state=state) for one, state in ((a, "running"), (b, "accepted"))]
        def page(query):
            mine = [row for row in rows if row["state"] in query["state"].split(",")] if "state" in query else rows
            begin = int(query.get("after", "0"))
            end = begin + int(query["limit"])
            return {"applications": mine[begin:end]} | ({"next": str(end)} if end < len(mine) else {})
        Zone.answers["/v1/applications"] = page
        for word in ("all", "name=l?"):
            self.assertEqual(self.good("cancel", word, "-y", "-o", "name").split(), [a, b], word)

    def test_a_word_that_names_nothing_says_so_and_does_nothing(self):
        self.mine()
        for words, code, message in ((("show", "name=nobody"), 3, "no application of yours has a name like nobody; 'zbs list' shows them"), (("cancel", "name=old", "-y"), 3, "no application of yours that has not ended has a name like old"),
                                  (("show", "all"), 2, "'all' is no id (26 characters; 'zbs list' shows them), and not 'last' or 'name=PATTERN'"), (("cancel", "name="), 2, "and not 'last', 'all' or 'name=PATTERN'"),
                                  (("wait", "lats"), 2, "is no id")):
            done = self.zbs(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(message, done.stderr)
        Zone.answers["/v1/applications"] = {"applications": []}
        self.assertIn("there is no application of yours; 'zbs list'", self.zbs("show", "last").stderr)
        self.assertEqual(Zone.sent, [])

    def test_several_that_one_word_names_are_cancelled_only_where_that_is_said(self):
        a, b, c, _, _ = self.mine()
        for words in (("cancel", "all"), ("cancel", "name=lu-*"), ("cancel", "all", "--no-input")):
            self.assertIn("applications, and nobody can be asked; --yes says that it is meant", self.refused(*words))
        self.assertEqual(Zone.sent, [])
        for answer, code, sent in ((b"n\n", 1, []), (b"\n", 1, []), (b"y\n", 0, ["/v1/applications/" + one for one in (a, b, c)])):
            Zone.sent.clear()
            terminal, inside = pty.openpty()
            env = dict(os.environ, HOME=self.folder, ZBS_URL=f"http://127.0.0.1:{self.server.server_port}", ZBS_TOKEN="x", ZBS_IDENTITY="spiffe://org-a/user/ana")
            with subprocess.Popen([ZBS, "cancel", "all"], stdin=inside, stdout=subprocess.DEVNULL, stderr=inside, env=env) as process:
                os.close(inside)
                seen = b""
                while b"[y/N]" not in seen:
                    self.assertTrue(select.select([terminal], [], [], 60)[0], seen)
                    seen += os.read(terminal, 65536)
                self.assertEqual(Zone.sent, [], "before the answer")
                os.write(terminal, answer)
                self.assertEqual(process.wait(60), code)
            os.close(terminal)
            lines = [line.split() for line in seen.decode().splitlines()]
            self.assertEqual(lines[:4], [["ID", "NAME", "STATE"], [a, "lu-2", "running"], [b, "lu-1", "planned"], [c, "cg", "running"]])
            self.assertIn(b"zbs: cancel 3 applications? [y/N]", seen)
            self.assertEqual(Zone.sent, sent)

    def test_logs_have_no_format(self):
        self.assertIn("--output: logs are the program's own output", self.zbs("logs", ONE, "-o", "json").stderr)
        self.assertEqual(self.zbs("logs", ONE, "-o", "json").returncode, 2)
        Zone.answers["/v1/applications/" + ONE + "/logs"] = {"files": [], "complete": True}
        self.assertEqual(self.zbs("logs", ONE, ZBS_OUTPUT="json").returncode, 0)
        self.assertEqual(self.zbs("logs", ONE, "-o", "json", ZBS_OUTPUT="json").returncode, 2, "it was asked for")

    def test_what_is_followed_has_no_format(self):
        for words in (("run", "/bin/true"), ("submit", "--wait", "/bin/true")):
            for form in (("--output", "csv"), ("--output=json",), ("--json",)):
                done = self.zbs(*words[:1], *form, *words[1:])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--output: what is followed is the program's own output, byte by byte, and has no other format", done.stderr)
            self.assertEqual(Zone.sent, [])
            self.assertIn("zbs: application ", self.zbs(*words, ZBS_OUTPUT="json").stderr, "a default is no order")
            self.assertEqual(len(Zone.sent), 1)
            Zone.sent.clear()

    def test_an_application_that_is_not_there_is_named(self):
        Zone.answers["/v1/applications/" + ONE] = VIEW | {"state": "completed", "exit_code": 0}
        for words in (("wait", ONE, TWO), ("show", TWO), ("explain", TWO), ("cancel", TWO)):
            done = self.zbs(*words)
            self.assertEqual((done.returncode, done.stderr), (3, f"zbs: there is no application {TWO} of yours; 'zbs list' shows them\n"), words)

    def test_a_default_that_a_command_has_not_changes_nothing_there(self):
        for words in (("show", ONE), ("explain", ONE), ("run", "--dry-run", "/bin/true")):
            for form in ("csv", "name"):
                if words[0] == "run":
                    Zone.answers["/v1/applications?dry_run=true"] = {key: value for key, value in WHOLE_PLAN.items() if key != "queued"}
                done = self.zbs(*words, ZBS_OUTPUT=form)
                self.assertEqual(done.returncode, 0, done.stderr)
                if form == "csv" or words[0] == "run":
                    self.assertEqual(done.stdout, self.good(*words), words)
        self.assertEqual(self.zbs("show", ONE, ZBS_OUTPUT="name").stdout, ONE + "\n")

    def test_a_default_that_is_none_is_told_where_it_stands(self):
        done = self.zbs("list", ZBS_OUTPUT="jsn")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("zbs: ZBS_OUTPUT: there is no format 'jsn'; did you mean 'json'?", done.stderr)

    def test_a_zone_that_is_not_there_is_told_with_what_to_look_at(self):
        with socket.socket() as probe:  # bound, and nobody listens
            probe.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{probe.getsockname()[1]}"
            done = self.zbs("--url", url, "list", "-o", "json")
        self.assertEqual(done.returncode, 5)
        for word in (url, "address and port", "'zbs doctor'", "--url and ZBS_URL"):
            self.assertIn(word, done.stderr)
            self.assertIn(word, json.loads(done.stdout)["detail"])

    def test_show_tells_name_and_owner(self):
        self.assertIn("\nname       my run\nowner      spiffe://org-a/user/ana\n", self.good("show", ONE))

    def test_cancel_tells_what_had_ended_and_takes_several(self):
        Zone.answers["/v1/applications/" + TWO] = dict(VIEW, id=TWO, state="completed")
        done = self.zbs("cancel", ONE, TWO)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", f"zbs: {TWO} had already ended: completed\n"))
        self.assertEqual(Zone.sent, ["/v1/applications/" + ONE, "/v1/applications/" + TWO])
        self.assertEqual(self.good("cancel", ONE, TWO, "-o", "name").split(), [ONE, TWO])
        self.assertEqual(json.loads(self.good("cancel", ONE, "-o", "json"))["id"], ONE)
        del Zone.answers["/v1/applications/" + ONE]
        Zone.sent.clear()
        done = self.zbs("cancel", ONE, TWO)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"zbs: {ONE}: nothing there\n", done.stderr)
        self.assertEqual(len(Zone.sent), 2, "the others are cancelled")

    def test_what_is_no_list_is_no_csv(self):
        for words in (("show", ONE), ("explain", ONE), ("cancel", ONE), ("submit", "--", "/bin/true"), ("run", "--dry-run", "--", "/bin/true"), ("profile", "show", ONE)):
            self.assertIn("--output: csv is for lists; this command prints table, wide, json", self.refused("-o", "csv", *words))
        self.assertEqual(Zone.sent, [], "before anything is done")
        self.assertIn("--output: name is for what has an id", self.refused("run", "--dry-run", "--output", "name", "/bin/true"))
        self.assertEqual((self.good("show", ONE, "-o", "name"), self.good("explain", ONE, "-o", "name")), (ONE + "\n", ONE + "\n"))

    def test_top_prints_its_applications_as_rows(self):
        Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": []}
        self.assertEqual([row["ID"] for row in csv.DictReader(io.StringIO(self.good("top", "-o", "csv")))], ["01", "03", "02"])
        self.assertEqual(self.good("top", "-o", "name").split(), ["01", "03", "02"])

    def test_what_was_measured_is_a_number_to_programs(self):
        series = lambda next_s: {"next": next_s, "error": next_s / 2, "values": [next_s]}  # noqa: E731
        Zone.answers["/v1/links"] = {"links": [{"zone": name, "source": "measured", "link": {"delay_s": 0.5, "bandwidth_Bps": 1e6}, "delay": series(s)}
                                               for name, s in (("y", 0.000429), ("z", 0.02), ("w", 0.1))]}
        rows = list(csv.DictReader(io.StringIO(self.good("zone", "links", "-o", "csv"))))
        self.assertEqual([float(row["MEASURED DELAY"]) for row in rows], [0.000429, 0.02, 0.1])
        self.assertEqual(self.good("zone", "links", "--filter", "measured_delay>0.01", "--sort", "-measured_delay", "-o", "name").split(), ["w", "z"])
        self.assertIn("429 us +- 214 us", self.good("zone", "links"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
