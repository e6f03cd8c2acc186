"""Manners of `zbs` from the outside, against a zone that only answers what it is told to.

usage: cli_test.py ZBS SOURCE_DIR
"""
import csv
import fcntl
import hashlib
import http.server
import io
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import urllib.parse

from shapes import keys_in_json, shape

ZBS, SOURCE = sys.argv[1:3]
JOBS = [
    {"id": "01", "state": "running", "ranks": 8, "program": "/bin/a", "zones": ["x", "y"], "reason": "", "submitted_us": 3_000_000},
    {"id": "02", "state": "failed", "ranks": 16, "program": "/bin/b", "zones": [], "reason": "no, \"not\" \x1b[2J", "submitted_us": 2_000_000, "exit_code": 3},
    {"id": "03", "state": "running", "ranks": 100, "program": "/bin/c", "zones": ["y"], "reason": "", "submitted_us": 1_000_000},
]


class Zone(http.server.BaseHTTPRequestHandler):
    """GETs answer from `answers`, a value or what makes one of the query; everything that is sent is kept in `sent`, and refused where there is no answer to the address with its "?"."""
    answers, sent = {}, []

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Zbs-Next-Offset", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        found = Zone.answers.get(path)
        if callable(found):
            found = found(dict(urllib.parse.parse_qsl(query)))
        self.reply(404 if found is None else 200, found if found is not None else {"title": "Not Found", "status": 404, "detail": "nothing there"})

    def do_DELETE(self):
        Zone.sent.append(self.path)
        self.do_GET()

    def do_PATCH(self):
        Zone.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.do_GET()

    def do_POST(self):
        Zone.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if self.path in Zone.answers:
            return self.reply(200, Zone.answers[self.path])
        self.reply(400, {"title": "Bad Request", "status": 400, "detail": "seen"} | Zone.answers.get("refusal", {}))

    def log_message(self, *_):
        pass


class Manners(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Zone)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        Zone.answers, Zone.sent = {"/v1/applications": {"applications": JOBS}}, []

    def zbs(self, *words, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ZBS_")}
        env |= {"HOME": self.folder, "ZBS_URL": f"http://127.0.0.1:{self.server.server_port}", "ZBS_TOKEN": "x",
                "ZBS_IDENTITY": "spiffe://org-a/user/ana", "TZ": "UTC"} | environment
        return subprocess.run([ZBS, *words], cwd=self.folder, env=env, capture_output=True, text=True, timeout=60)

    def good(self, *words):
        done = self.zbs(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *words):
        done = self.zbs(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def mine(self):
        """Five applications with names, newest first; the zone tells each of them."""
        ids = [f"01JJJJJJJJJJJJJJJJJJJJJJJ{letter}" for letter in "ABCDE"]
        rows = [dict(JOBS[0], id=one, name=name, state=state) for one, name, state in zip(ids, ("lu-2", "lu-1", "cg", "lu-0", "old"), ("running", "planned", "running", "completed", "completed"))]
        Zone.answers["/v1/applications"] = {"applications": rows}
        Zone.answers |= {"/v1/applications/" + row["id"]: dict(VIEW, id=row["id"], name=row["name"], state=row["state"]) for row in rows}
        return ids

    def script(self, text, name="job.sh"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path


    def queue_log(self, name, decided):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write("".join(json.dumps(event) + "\n" for event in [*QUEUE_LOG, decided]))
        return path


class Formats(Manners):
    def test_every_format_tells_of_the_same_rows(self):
        ids = [job["id"] for job in JOBS]
        self.assertEqual(json.loads(self.good("list", "-o", "json")), {"version": 1, "applications": JOBS})
        self.assertEqual([json.loads(line) for line in self.good("list", "-o", "jsonl").splitlines()], JOBS)
        self.assertEqual(self.good("list", "-o", "name").split(), ids)
        rows = list(csv.DictReader(io.StringIO(self.good("list", "-o", "csv"))))
        self.assertEqual([(row["ID"], row["RANKS"], row["EXIT"]) for row in rows], [("01", "8", ""), ("02", "16", "3"), ("03", "100", "")])
        self.assertEqual(rows[1]["REASON"], 'no, "not" ?[2J')
        self.assertEqual([line.split()[0] for line in self.good("list").splitlines()], ["ID", *ids])
        self.assertTrue(self.good("list", "-o", "yaml").startswith('version: 1\napplications:\n  - id: "01"\n    program: /bin/a\n    ranks: 8\n'))
        for form in ("table", "wide", "csv", "name", "yaml", "json"):
            self.assertNotIn("\x1b", self.good("list", "-o", form), form)

    def test_wide_has_more_of_every_list(self):
        Zone.answers |= {"/v1/peerings": {"peers": [{"zone": "y", "organisation": "org-b", "last_heard_us": 1_000_000, "leased_until_us": 2_000_000}]}, "/v1/profiles": {"profiles": [PROFILE]},
                         "/v1/peerings/org-b": {"peerings": [PEERING]}, "/v1/nodes": {"zone": "x", "nodes": [{"name": "n1", "processors": 8, "used": 3, "speed": 1.5}], "agents": [
                             {"description": {"name": "n1", "cores": 4, "memory_bytes": 1 << 30}}]},
                         "/v1/links": {"links": [{"zone": "y", "failures": 7, "measured_us": 1_000_000}], "machines": {"worst": [{"from": "n1", "to": "n2", "failures": 0, "measured_us": 1_000_000}]}}}
        for words, told in ((["list"], "PATH"), (["top"], "PATH"), (["zone", "list"], "THEY ACCEPT US"), (["zone", "links"], "FAILURES"), (["zone", "machine-links"], "1970-01-01 00:00:01"),
                            (["zone", "show"], "1.0 GiB"), (["peer", "list"], "1970-01-01T00:00:02Z"), (["peer", "show", "org-b"], "PARTS NOW"), (["profile", "list"], "APPLICATION")):
            self.assertNotIn(told, self.good(*words), words)
            self.assertIn(told, self.good(*words, "-o", "wide"), words)
            self.assertRegex(self.good(*words, "--help"), "-o wide has also [a-z]")

    def test_rows_come_without_their_header(self):
        self.assertEqual(self.good("list", "--no-header", "--columns", "id,ranks"), "01  8\n02  16\n03  100\n")
        self.assertEqual(self.good("list", "--no-header", "--columns", "id,ranks", "-o", "csv"), "01,8\n02,16\n03,100\n")
        self.assertEqual(self.good("list", "--no-header", "-o", "json"), self.good("list", "-o", "json"))
        Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": []}
        self.assertTrue(self.good("top", "--no-header").split("\n\n")[1].startswith("01 "))
        Zone.answers["/v1/peerings"] = {"peers": [{"zone": "y"}]}
        self.assertTrue(self.good("peer", "list", "--no-header").startswith("y "))

    def test_a_list_begins_where_it_is_asked_to(self):
        now = time.time()
        jobs = [dict(JOBS[0], id=f"{i:02}", submitted_us=int((now - 3600 * i) * 1e6)) for i in range(48)]
        asked = []
        def page(query):
            asked.append(query)
            begin = int(query.get("after", -1)) + 1
            return {"applications": jobs[begin:begin + 12]} | ({"next": jobs[begin + 11]["id"]} if begin + 12 < len(jobs) else {})
        Zone.answers["/v1/applications"] = page
        names = lambda *words: self.good("list", "-o", "name", *words).split()  # noqa: E731
        for since in ("-330m", "5h30m", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 5.5 * 3600)), time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now - 5.5 * 3600))):
            self.assertEqual(names("--since", since), [f"{i:02}" for i in range(6)], since)
        self.assertEqual(names("--since", "30h", "--sort", "submitted"), [f"{i:02}" for i in reversed(range(30))])
        asked.clear()
        self.assertEqual(len(names("--since", "5h30m")), 6)
        self.assertEqual(len(asked), 2, "a page of older ones is the end")
        self.assertIn("--since: '90' has no unit: 90m for minutes, 90s for seconds", self.refused("list", "--since", "90"))
        self.assertIn("--since: 'soon' is no time; write how long ago (6h, 2d), a day (2026-11-24)", self.refused("list", "--since", "soon"))
        Zone.answers["/v1/profiles"] = {"profiles": [PROFILE, PROFILE | {"id": TWO, "at_us": int(now * 1e6)}]}
        self.assertEqual(self.good("profile", "list", "--since", "1h", "-o", "name"), TWO + "\n")

    def test_the_newest_are_those_that_the_zone_says_whatever_clock_an_id_has(self):
        a, b, *_ = self.mine()
        rows = Zone.answers["/v1/applications"]["applications"]
        # The first came from a machine whose clock is a day ahead; the newest stands on the second page.
        times = {row["id"]: at for row, at in zip(rows, (2, 1, 3, 9, 4))}
        for row in rows:
            row["submitted_us"] = times[row["id"]] * 1_000_000
        def page(query):
            begin = 3 if "after" in query else 0
            return {"applications": rows[begin:begin + min(3, int(query["limit"]))]} | ({} if begin else {"next": rows[2]["id"]})
        Zone.answers["/v1/applications"] = page
        newest = sorted(times, key=times.get, reverse=True)
        self.assertEqual(self.good("list", "-o", "name").split(), newest)
        self.assertEqual(self.good("list", "--limit", "1", "-o", "name").split(), newest[:1])
        self.assertEqual(self.good("cancel", "last", "-o", "name").split(), newest[:1])
        self.assertEqual(self.good("show", "name=lu-*", "-o", "name").split(), newest[:1])
        self.assertIn("of the 1,000 with the newest ids", " ".join(self.good("list", "--help").split()))
        self.assertIn("'name=PATTERN' (a shell pattern: *, ?, [a-z])", " ".join(self.good("cancel", "--help").split()))
        self.assertIn("of the 10,000 with the newest ids", " ".join(self.good("show", "--help").split()))

    def test_rows_are_chosen_and_ordered(self):
        chosen = ("--filter", "state=running", "--sort", "-ranks", "--columns", "id,ranks")
        self.assertEqual(self.good("list", *chosen), "ID  RANKS\n03  100\n01  8\n")
        self.assertEqual(json.loads(self.good("list", *chosen, "-o", "json")), {"version": 1, "applications": [{"id": "03", "ranks": 100}, {"id": "01", "ranks": 8}]})
        self.assertEqual(self.good("list", "--filter", "ranks>8", "--filter", "zones~y", "-o", "name"), "03\n")

    def test_a_column_goes_by_the_name_of_its_member_in_json_too(self):
        self.assertEqual(self.good("list", "--filter", "exit_code=3", "-o", "name"), "02\n")
        self.assertEqual(self.good("list", "--sort", "submitted_us", "-o", "name").split(), ["03", "02", "01"])
        self.assertEqual(json.loads(self.good("list", "--columns", "id,exit_code,submitted_us", "--filter", "id=02", "-o", "json"))["applications"],
                         [{"id": "02", "exit_code": 3, "submitted_us": 2_000_000}])
        self.assertEqual(self.good("list", "--columns", "id,exit_code", "--filter", "id=02"), "ID  EXIT\n02  3\n")
        self.assertIn("known are id, user, owner, name, state, ranks, program, zones, exit, exit_code, submitted, submitted_us, reason, path", self.refused("list", "--columns", "nothing_of_that_kind"))

    def test_an_unknown_column_is_told_with_the_nearest(self):
        self.assertIn("--columns: there is no column 'stat'; did you mean 'state'?", self.refused("list", "--columns", "stat"))
        self.assertIn("--filter", self.refused("list", "--filter", "state"))

    def test_unknown_commands_and_options_are_told_with_the_nearest(self):
        for words, meant in ((["lsit"], "'list'"), (["zone", "lst"], "'list'"), (["list", "--filtre", "a=1"], "'--filter'"),
                             (["run", "--waltime", "1h", "--", "true"], "'--walltime'")):
            self.assertIn(f"did you mean {meant}?", self.refused(*words))
        for words in (("job", "list"), ("job", "list", "--limit", "1"), ("-o", "table", "job", "list")):
            self.assertIn("zbs: there is no command 'job' of zbs; known are run, ", self.refused(*words))
        self.assertIn("there is no command 'zones' of zbs; did you mean 'zone'?", self.refused("zones", "list"))
        self.assertIn("there is no command 'my' of 'zone'; known are list, ", self.refused("zone", "my", "list"))
        self.assertIn("'job' is too much: 'list' takes no more", self.refused("list", "job"))


    def test_json_is_short_for_o_json_for_every_command(self):
        self.assertEqual(self.good("list", "--json"), self.good("list", "-o", "json"))
        self.assertEqual(self.good("--json", "list"), self.good("list", "-o", "json"))
        self.assertEqual(self.good("list", "--json", "-o", "json"), self.good("list", "-o", "json"))
        self.assertEqual(self.zbs("list", "--json", ZBS_OUTPUT="csv").stdout, self.good("list", "-o", "json"))
        for words in (("list", "-o", "csv", "--json"), ("--json", "list", "-ocsv"), ("--output=csv", "list", "--json")):
            done = self.zbs(*words)
            self.assertEqual((done.returncode, done.stderr), (2, "zbs: --json: contradicts -o csv; give one of them\nSee 'zbs list --help'.\n"))
        for words in (("simulate", "--list-policies"), ("report", "claims", "--list"), ("doctor",), ("profile", "list")):
            self.assertEqual(json.loads(self.zbs(*words, "--json").stdout), json.loads(self.zbs(*words, "-o", "json").stdout), words)
        self.assertEqual(json.loads(self.zbs("show", "--json").stdout)["status"], 400)
        self.assertEqual(self.good("--help").count("--json"), 1)
        self.assertEqual(self.good("list", "--help").count("--json"), 1)
        self.assertEqual(self.good("simulate", "--help").count("--json"), 1)


class Usage(Manners):
    def test_a_fault_is_told_by_the_program_and_in_json_as_a_problem(self):
        for words, told in ((("shw",), "there is no command 'shw' of zbs; did you mean 'show'?"), (("show",), "the argument 'id' is missing ("), (("run", "-n", "0", "--", "true"), "--ntasks: 0 is out of range; give 1 to 1000000"),
                            (("run", "-t", "0s", "--", "true"), "--walltime: must be at least 1 second")):
            self.assertIn("zbs: " + told, self.refused(*words))
            for form in (("-o", "json"), ("-ojson",), ("--output=jsonl",)):
                done = self.zbs(*form, *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(told, json.loads(done.stdout)["detail"])
        self.assertNotIn("did you mean", self.refused("cancel", "--all"))

    def test_an_address_that_is_none_is_told_with_its_place_and_what_to_write(self):
        for url, told in (("https://localhost:1/foo", "nothing may follow host and port; write https://localhost:1"), ("localhost", "it must start with https:// (http:// on loopback), e.g. https://zone.example:8001"),
                          ("ftp://x", "it must start with https:// (http:// on loopback), not with ftp://"), ("http://127.0.0.1:99999", "the port must be 1 to 65535, and is '99999'"),
                          ("http://u@127.0.0.1:1", "no user may stand in it; write http://127.0.0.1:1")):
            for words, environment, place in ((("--url", url, "list"), {}, "--url"), (("list",), {"ZBS_URL": url}, "ZBS_URL"), (("list", "--url=" + url), {"ZBS_URL": "http://127.0.0.1:1"}, "--url")):
                done = self.zbs(*words, **environment)
                self.assertEqual((done.returncode, done.stderr), (2, f"zbs: {place}: '{url}' is no service's address: {told}\n"))
        self.assertIn("'y' is no service's address", self.refused("list", "--url", "http://127.0.0.1:1, y"))
        self.assertIn("fail  home zone: ZBS_URL: 'x' is no service's address", self.zbs("doctor", ZBS_URL="x").stdout)
        self.assertEqual(self.zbs("simulate", "--list-policies", ZBS_URL="x").returncode, 0, "what asks no zone needs no address")
        folder = os.path.join(self.folder, "credentials")
        os.mkdir(folder)
        with open(os.path.join(folder, "home"), "w", encoding="utf-8") as file:
            file.write("https://x:8001/v1 spiffe://o/zone/z\n")
        done = self.zbs("list", ZBS_URL="", ZBS_IDENTITY="", ZBS_CREDENTIALS=folder)
        self.assertEqual((done.returncode, done.stderr), (2, f"zbs: {folder}/home: 'https://x:8001/v1' is no service's address: nothing may follow host and port; write https://x:8001; log in again with 'zbs login'\n"))

    def test_the_place_of_a_fault_that_the_zone_tells_is_told_to_programs_and_people(self):
        fault = {"pointer": "/ranks", "detail": "must be less"}
        Zone.answers = {"refusal": {"detail": "at /ranks: must be less", "errors": [fault]}}
        done = self.zbs("submit", "/bin/true", "-o", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["errors"], json.loads(done.stdout)["detail"]), (2, [fault], "at /ranks: must be less"))
        self.assertEqual(done.stderr, "zbs: /ranks: must be less\n")

    def test_directives_without_an_interpreter_are_told(self):
        self.script("#ZBS -n 8\necho\n")
        self.assertIn("job.sh: its #ZBS lines count for nothing, because its first line is no #!", self.zbs("submit", "--dry-run", "./job.sh").stderr)

    def test_wide_shows_more(self):
        Zone.answers |= {"/v1/nodes": {"zone": "x", "organisation": "org-a", "nodes": []}, "/v1/peerings": {"peers": [{"zone": "y", "they_accept_us": "requested", "we_accept_them": "accepted", "reason": "r"}]},
                         "/v1/profiles": {"profiles": []}}
        for words, column in ((("zone", "list"), "WE ACCEPT THEM"), (("profile", "list"), "PATH")):
            self.assertNotIn(column, self.good(*words))
            self.assertIn(column, self.good(*words, "-o", "wide"))


class ManyApplications(Manners):
    """A zone with 2,500 applications: one in a hundred runs, the others have ended; those at the end of the list run, too."""

    def setUp(self):
        super().setUp()
        self.asked = []
        self.all = [dict(JOBS[0], id=f"{i:05}", state="running" if i % 100 == 99 else "completed", ranks=i, owner="spiffe://org-a/user/" + ("bo" if i % 2 else "ana")) for i in range(2_500)]
        Zone.answers["/v1/applications"] = self.page

    def page(self, query):
        self.asked.append(query)
        limit = min(int(query.get("limit", 100)), 1_000)
        rows = [row for row in self.all if row["id"] > query.get("after", "") and query.get("owner", row["owner"]) == row["owner"] and row["state"] in query.get("state", row["state"]).split(",")][:limit]
        return {"applications": rows} | ({"next": rows[-1]["id"]} if len(rows) == limit else {})

    def names(self, *words):
        return self.good("list", "-o", "name", *words).split()

    def test_a_state_is_asked_of_the_zone(self):
        running = [row["id"] for row in self.all if row["state"] == "running"]
        for words in (("--filter", "state=running"), ("--filter", "STATE==running"), ("--state", "running"), ("--state", "running,launching", "--filter", "ranks>0")):
            self.asked.clear()
            self.assertEqual(self.names(*words), running, words)
            self.assertEqual([query["state"].split(",")[0] for query in self.asked], ["running"], words)
        self.assertIn("--filter: there is no state 'runing'; did you mean 'running'?", self.refused("list", "--filter", "state=runing"))
        self.assertIn("--state: there is no state 'complete'; did you mean 'completed'?", self.refused("list", "--state", "running,complete"))
        self.assertIn("--state: there is no state ''; known are accepted, ", self.refused("list", "--state", "running,"))

    def test_other_filters_and_sort_look_at_every_page(self):
        self.assertEqual(self.names("--filter", "ranks>=2498"), ["02498", "02499"])
        self.assertEqual(self.names("--sort", "-ranks", "--limit", "2"), ["02499", "02498"])
        self.asked.clear()
        self.assertEqual(self.names("--filter", "ranks<5", "--limit", "3"), ["00000", "00001", "00002"])
        self.assertEqual(len(self.asked), 1, "more were there at once")

    def test_a_cut_list_says_so(self):
        done = self.zbs("list")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 101))
        self.assertEqual(done.stderr, "zbs: there are more than these 100; --limit takes more of them\n")
        done = self.zbs("list", "--limit", "3")
        self.assertEqual((done.returncode, len(done.stdout.splitlines()), done.stderr), (0, 4, ""), "who asks for three knows")
        told = json.loads(self.good("list", "--limit", "3", "-o", "json"))
        self.assertEqual((list(told), told["truncated"], len(told["applications"])), (["version", "applications", "truncated"], True, 3))
        self.assertTrue(self.good("list", "--limit", "3", "-o", "yaml").endswith("\ntruncated: true\n"))
        done = self.zbs("list", "--limit", "2500", "-o", "json")
        self.assertEqual((done.stderr, list(json.loads(done.stdout))), ("", ["version", "applications"]))
        self.all *= 1
        self.all += [dict(self.all[0], id=f"{i:05}") for i in range(2_500, 10_500)]
        done = self.zbs("list", "--filter", "ranks=2499", "-o", "json")
        self.assertEqual([row["id"] for row in json.loads(done.stdout)["applications"]], ["02499"])
        self.assertIn("only the newest 10000 applications were looked at, and there are more", done.stderr)
        self.assertTrue(json.loads(done.stdout)["truncated"])

    def test_an_operator_chooses_a_user(self):
        operator = {"ZBS_IDENTITY": "spiffe://org-a/operator/ada"}
        for user in ("bo", "spiffe://org-a/user/bo"):
            done = self.zbs("list", "--user", user, "--limit", "1", **operator)
            self.assertEqual([line.split()[:2] for line in done.stdout.splitlines()], [["ID", "USER"], ["00001", "bo"]], done.stderr)
            self.assertEqual(self.asked[-1]["owner"], "spiffe://org-a/user/bo")
        done = self.zbs("list", "--user", "bo")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (4, "", "zbs: --user: only operators see the applications of others\n"))
        self.assertEqual(len(self.names("--user", "ana", "--limit", "5")), 5)
        self.assertIn("--user: must be the name of a user", self.refused("list", "--user", "x:y"))

    def test_wide_and_operators_see_whose_and_all_see_the_name(self):
        self.all = [JOBS[0] | {"owner": "spiffe://org-a/user/ana", "name": "my run"}, JOBS[1] | {"owner": "spiffe://org-b/user/bo"}]
        self.assertEqual(self.good("list").splitlines()[0].split(), ["ID", "NAME", "STATE", "RANKS", "PROGRAM", "ZONES", "EXIT", "SUBMITTED", "REASON"])
        self.assertIn("01  my run  running", self.good("list"))
        wide = self.good("list", "-o", "wide").splitlines()
        self.assertEqual(wide[0].split(), ["ID", "USER", "NAME", "STATE", "RANKS", "PROGRAM", "ZONES", "EXIT", "SUBMITTED", "REASON", "PATH"])
        self.assertEqual(([line.split()[1] for line in wide[1:]], wide[1].split()[-1]), (["ana", "spiffe://org-b/user/bo"], "/bin/a"))
        self.assertIn("USER", self.zbs("list", ZBS_IDENTITY="spiffe://org-a/operator/ada").stdout)

    def test_top_counts_all_and_shows_what_runs_first(self):
        Zone.answers |= {"/v1/nodes": {"zone": "x", "nodes": []},
                         "/v1/applications/counts": {"counts": {"running": 25, "committed": 117, "launching": 1, "failed": 3, "completed": 4}, "ended_since_us": 60_000_000}}
        told = self.good("top", "--limit", "30").splitlines()
        self.assertEqual(told[1], "applications: 25 running, 118 waiting, 7 ended since 1970-01-01 00:01")
        self.assertEqual([line.split()[1] for line in told[4:]], ["running"] * 25 + ["completed"] * 5)
        self.assertLess(told[3].index("PROGRAM"), told[3].index("SUBMITTED"))
        found = json.loads(self.good("top", "--limit", "1", "-o", "json"))
        self.assertEqual((found["counts"]["committed"], found["ended_since_us"], found["applications"][0]["state"]), (117, 60_000_000, "running"))

    def test_top_of_an_older_zone_says_what_it_counted(self):
        Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": []}
        self.assertIn("applications: 10 running, 0 waiting, 990 ended, of the newest 1000\n", self.good("top"))


class Directives(Manners):
    def request(self, *words):
        """The request that a dry run of these words sends."""
        done = self.zbs("submit", "--dry-run", *words)
        self.assertIn("seen", done.stderr)
        return Zone.sent.pop()

    def test_a_script_sets_what_the_command_line_leaves_out(self):
        os.mkdir(os.path.join(self.folder, "sub"))
        self.script("#!/bin/sh\n#ZBS -n 8 --walltime 1h\n#ZBS --env A=1 --env 'B=x y'\n#ZBS --env C=3 --chdir sub\necho\n#ZBS -n 9\n")
        got = self.request("./job.sh", "word")
        self.assertEqual((got["ranks"], got["walltime_s"], got["argv"]), (8, 3600, [os.path.join(self.folder, "job.sh"), "word"]))
        self.assertEqual({k: v for k, v in got["environment"].items() if k in "ABC"}, {"A": "1", "B": "x y", "C": "3"})
        self.assertEqual(got["directory"], os.path.join(self.folder, "sub"))
        got = self.request("-n", "2", "--env", "A=2", "--", "./job.sh")
        self.assertEqual((got["ranks"], got["walltime_s"]), (2, 3600))
        self.assertEqual({k: v for k, v in got["environment"].items() if k in "ABC"}, {"A": "2"})

    def test_a_bad_directive_names_file_and_line(self):
        for line, wrong in (("--waltime 1h", "did you mean '--walltime'?"), ("-n 0", "-n"), ("-n", "-n"), ("--env 'A", "does not end"),
                            ("--walltime soon", "'soon' is no duration"), ("--dry-run", "command line only"), ("--id x", "command line only"),
                            ("other.sh", "the script itself is the program"), ("-- other.sh", "the script itself is the program"),
                            ("--mapper best", "best"), ("-o json", "no option"), ("--help", "no option")):
            self.script(f"#!/bin/sh\n\n#ZBS {line}\n")
            told = self.refused("submit", "--dry-run", "./job.sh")
            self.assertIn(f"{self.folder}/job.sh, line 3: ", told, line)
            self.assertIn(wrong, told, line)
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
        self.assertIn("Address already in use; 'ss -ltnp' tells which program listens there: end it, or set another port with '--port'\n", done.stderr)


class Doctor(Manners):
    def setUp(self):
        super().setUp()
        Zone.answers |= {"/v1/whoami": {"zone": "spiffe://org-a/zone/x", "name": "spiffe://org-a/user/ana"},
                         "/openapi.json": {"info": {"version": "1"}},
                         "/v1/profiles": {"profiles": [{"id": ONE, "application": ONE, "at_us": 1, "program": "/bin/a", "arguments": "", "ranks": 2, "complete": True, "predicted_s": 1.5, "measured_s": 2.5,
                                                         "error": {"runs": 1, "mean": 0.5, "spread": 1.5, "last": 0.5}}]},
                         "/v1/peerings": {"peers": [{"zone": "y", "they_accept_us": "accepted"}, {"zone": "z\x1b[2J", "they_accept_us": "requested"}]}}
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
        self.assertIn("applications: 20 running, 0 waiting, 0 ended, of the newest", first)
        lines = first.split("\x1b[J")[0].replace("\x1b[K", "").splitlines()
        self.assertLessEqual(len(lines), 9)
        self.assertLessEqual(max(map(len, lines)), 60)

    def test_top_shows_the_applications_that_were_asked_for(self):
        chosen = ("--filter", "state=running", "--sort", "-ranks", "--columns", "id,ranks,submitted_us")
        told = self.good("top", *chosen)
        self.assertTrue(told.endswith("applications: 2 running, 0 waiting, 1 ended, of the newest 3\n\nID  RANKS  SUBMITTED\n03  100    1970-01-01 00:00:01\n01  8      1970-01-01 00:00:03\n"), told)
        found = json.loads(self.good("top", *chosen, "-o", "json"))
        self.assertEqual(found["applications"], [{"id": "03", "ranks": 100, "submitted_us": 1_000_000}, {"id": "01", "ranks": 8, "submitted_us": 3_000_000}])
        self.assertEqual((found["version"], found["zone"]["zone"]), (1, "x"))
        self.assertEqual(self.good("top", "--filter", "exit_code=3", "-o", "name"), "02\n")
        self.assertEqual(self.good("top", *chosen, "-o", "csv"), "ID,RANKS,submitted_us\n03,100,1000000\n01,8,3000000\n")
        self.assertIn("--sort: there is no column 'rnaks'; did you mean 'ranks'?", self.refused("top", "--sort", "rnaks"))

    def test_top_prints_once_elsewhere(self):
        told = self.good("top")
        self.assertTrue(told.startswith("zone x: 3 of 16 processors in use, 2 machines\napplications: 2 running, 0 waiting, 1 ended, of the newest 3\n\nID "), told)
        self.assertNotIn("\x1b", told)
        self.assertEqual(json.loads(self.good("top", "-o", "json"))["version"], 1)

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


ONE, TWO = "01JJJJJJJJJJJJJJJJJJJJJJJJ", "01JJJJJJJJJJJJJJJJJJJJJJJK"
PLAN = {"profile": "none", "clusters": [[0, 1]], "zone_of_cluster": ["x"], "zone_of_rank": ["x", "x"], "round": 1, "start_in_s": 304.0, "queued": True,
        "zones": [{"zone": "x", "processors": 8, "ranks": 2, "reason": ""}]}
VIEW = {"id": ONE, "owner": "spiffe://org-a/user/ana", "name": "my run", "state": "planned", "reason": "", "ranks": 2, "argv": ["/bin/a"], "submitted_us": 1, "directory": "/", "plan": PLAN,
        "history": [{"state": "accepted", "at_us": 1_000_000}, {"state": "planned", "at_us": 3_723_000_000}],
        "parts": [{"id": TWO, "zone": "x", "ranks": [0, 1], "state": "queued", "reason": "", "assignment": [],
                   "queue": {"place": 3, "start_in_s": 128.0, "waits_for": "turn"}}]}


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

    def test_a_matrix_of_what_is_not_learnt_is_told_with_the_remedy(self):
        for profile in ("none", "request"):
            Zone.answers["/v1/applications/" + ONE] = dict(VIEW, plan=dict(PLAN, profile=profile))
            done = self.zbs("show", ONE, "--matrix")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("nothing is learnt of this program and size yet", done.stderr)
            self.assertIn("zbs profile import", done.stderr)

    def test_an_expected_start_counts_from_the_plan(self):
        for words in (("show", ONE), ("explain", ONE)):
            told = self.good(*words)
            self.assertIn("waits in the queue of its zone, planned at 1970-01-01 01:02:03 to start in 5m4s\n", told, words)
            self.assertIn("place 3, expected to start in 2m8s; others are before it", told, words)

    def test_wait_tells_what_ended_and_exits_with_the_first_fault(self):
        Zone.answers["/v1/applications/" + ONE] = dict(VIEW, state="failed", exit_code=3)
        Zone.answers["/v1/applications/" + TWO] = dict(VIEW, id=TWO, state="failed", exit_code=4)
        for order, code in (((ONE, TWO), 3), ((TWO, ONE), 4)):
            done = self.zbs("wait", *order, "-o", "json")
            told = json.loads(done.stdout)
            self.assertEqual((done.returncode, list(told), [one["id"] for one in told["applications"]]), (code, ["version", "applications"], list(order)))
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
        for words, code, told in ((("show", "name=nobody"), 3, "no application of yours has a name like nobody; 'zbs list' shows them"), (("cancel", "name=old", "-y"), 3, "no application of yours that has not ended has a name like old"),
                                  (("show", "all"), 2, "'all' is no id (26 characters; 'zbs list' shows them), and not 'last' or 'name=PATTERN'"), (("cancel", "name="), 2, "and not 'last', 'all' or 'name=PATTERN'"),
                                  (("wait", "lats"), 2, "is no id")):
            done = self.zbs(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(told, done.stderr)
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
        for words in (("show", ONE), ("explain", ONE), ("cancel", ONE), ("submit", "/bin/true"), ("run", "--dry-run", "/bin/true"), ("profile", "show", ONE)):
            self.assertIn("--output: csv is for lists; this command prints table, wide, json, jsonl", self.refused(*words, "-o", "csv"))
        self.assertEqual(Zone.sent, [], "before anything is done")
        self.assertIn("--output: name is for what has an id", self.refused("run", "--dry-run", "/bin/true", "-o", "name"))
        self.assertEqual((self.good("show", ONE, "-o", "name"), self.good("explain", ONE, "-o", "name")), (ONE + "\n", ONE + "\n"))

    def test_top_prints_its_applications_as_rows(self):
        Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": []}
        self.assertEqual([row["ID"] for row in csv.DictReader(io.StringIO(self.good("top", "-o", "csv")))], ["01", "02", "03"])
        self.assertEqual(self.good("top", "-o", "name").split(), ["01", "02", "03"])

    def test_what_was_measured_is_a_number_to_programs(self):
        series = lambda next_s: {"next": next_s, "error": next_s / 2, "values": [next_s]}  # noqa: E731
        Zone.answers["/v1/links"] = {"links": [{"zone": name, "source": "measured", "link": {"delay_s": 0.5, "bandwidth_Bps": 1e6}, "delay": series(s)}
                                               for name, s in (("y", 0.000429), ("z", 0.02), ("w", 0.1))]}
        rows = list(csv.DictReader(io.StringIO(self.good("zone", "links", "-o", "csv"))))
        self.assertEqual([float(row["MEASURED DELAY"]) for row in rows], [0.000429, 0.02, 0.1])
        self.assertEqual(self.good("zone", "links", "--filter", "measured_delay>0.01", "--sort", "-measured_delay", "-o", "name").split(), ["w", "z"])
        self.assertIn("429 us +- 214 us", self.good("zone", "links"))


QUEUE_LOG = [{"event": "opened", "processors": 4}, {"event": "discipline", "policy": "easy"},
             {"event": "waits", "part": ONE, "party": "org-a", "since_us": 1, "processors": 3, "length_us": 1_000_000},
             {"event": "waits", "part": TWO, "party": "org-a", "since_us": 1, "processors": 2, "length_us": 1_000_000}]
DECIDED = {"event": "decided", "at_us": 2, "usable": {}, "starts": [ONE], "outlooks": [{"part": TWO, "place": 1, "promised_us": 1_000_002, "start_us": 1_000_002, "waits_for": "turn"}]}

# Which golden file tells of what a command of `zbs` prints for programs; or why it prints nothing of the kind.
DOCUMENTS = {
    "run": ["run_dry_run"], "submit": ["submit"], "list": ["list", "list_truncated", "list_columns"], "show": ["show", "show_assignment"], "cancel": ["cancel", "cancel_several"], "explain": ["explain"], "fetch": ["fetch"],
    "zone list": ["zone_list"], "zone links": ["zone_links"], "zone machine-links": ["zone_machine_links"], "zone show": ["zone_show"], "peer list": ["peer_list"], "peer show": ["peer_show"],
    "peer accept": ["peer_set"], "peer set": ["peer_set"], "peer reject": ["peer_set"], "peer suspend": ["peer_set"], "peer resume": ["peer_set"], "delegate": ["delegate_revoke"], "whoami": ["whoami"],
    "map": ["map", "map_hierarchy"], "profile list": ["profile_list"], "profile show": ["profile_show", "profile_show_stored"], "profile import": ["profile_import"], "queue replay": ["queue_replay", "queue_replay_difference"],
    "replay": ["replay"], "simulate": ["simulate", "simulate_details", "simulate_compare", "simulate_list", "simulate_policies", "simulate_allocators", "simulate_generators"],
    "report claims": ["report_claims", "report_claims_list"], "top": ["top"], "doctor": ["doctor"],
    "wait": ["wait"], "logs": "the output of the program, byte by byte", "login": "prints nothing, and says on standard error who one is",
    "profile": "a model, which is a file: zbs-model/1", "profile export": "a model, which is a file: zbs-model/1", "profile plot": "a picture", "dashboard": "stays, and prints its address",
    "quickstart": "stays, and prints what is to be typed", "completion": "a script of a shell",
}


class Commands(Manners):
    def test_each_has_golden_files_or_a_reason(self):
        pages = os.path.join(self.folder, "pages")
        self.good("pages", pages)
        names = {name[:-len(".1")] for name in os.listdir(os.path.join(pages, "man"))}
        groups = {name for name in names if any(other.startswith(name + "-") for other in names)} - {"zbs-profile"}  # a command, too
        told = {"zbs-" + name.replace(" ", "-") for name in DOCUMENTS}
        self.assertEqual(names - groups - told, set(), "commands that DOCUMENTS does not tell of")
        self.assertEqual(told - names, set(), "commands that are not there any more")
        golden = {name[:-len(".json")] for name in os.listdir(os.path.join(SOURCE, "tests/golden/cli")) if name.endswith(".json") and not name.startswith(("zbs_zone", "zbs_registry", "zbs_node"))}
        self.assertEqual(golden, {file for files in DOCUMENTS.values() if isinstance(files, list) for file in files})

    def test_a_log_of_a_queue_is_decided_again_in_every_format(self):
        same, path = self.queue_log("same.jsonl", DECIDED), self.queue_log("other.jsonl", DECIDED | {"starts": []})
        self.assertEqual(json.loads(self.good("queue", "replay", same, "-o", "json")), {"version": 1, "decisions": 1, "events": 5, "same": True, "starts": 1})
        self.assertEqual(self.good("queue", "replay", same), "1 decisions over 1 starts: the simulator's code decides as the zone did\n")
        done = self.zbs("queue", "replay", path, "-o", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((next(iter(told)), told["version"], told["same"], told["first_difference"]["event"]), ("version", 1, False, 5))
        self.assertTrue(self.zbs("queue", "replay", path, "-o", "yaml").stdout.startswith("version: 1\n"))
        self.assertEqual(self.zbs("queue", "replay", path, "-o", "jsonl").stdout, done.stdout)
        self.assertIn("event 5: the zone decided otherwise\nzone ", self.zbs("queue", "replay", path).stdout)
        self.assertIn("csv is for lists", self.refused("queue", "replay", "/nowhere", "-o", "csv"))

    def test_an_id_of_a_delegation_is_a_document_for_programs(self):
        Zone.answers["/v1/delegations/" + ONE] = {}
        self.assertEqual(self.good("delegate", "--revoke", ONE), ONE + "\n")
        self.assertEqual(self.good("delegate", "--revoke", ONE, "-o", "name"), ONE + "\n")
        self.assertEqual(json.loads(self.good("delegate", "--revoke", ONE, "-o", "json")), {"version": 1, "id": ONE})
        self.assertIn("csv is for lists", self.refused("delegate", "--revoke", ONE, "-o", "csv"))

    def test_an_assignment_in_json_has_its_version(self):
        Zone.answers["/v1/applications/" + ONE + "/assignment"] = ASSIGNMENT
        told = json.loads(self.good("show", ONE, "--format", "json"))
        self.assertEqual(next(iter(told.items())), ("version", 1))
        self.assertEqual(told, {"version": 1} | ASSIGNMENT)


ASSIGNMENT_ROW = [{"rank": 0, "machine": "n1", "processor": 0}]
ASSIGNMENT = {"application": ONE, "ranks": [{"rank": 0, "zone": "x", "machine": "n1", "processor": 0}], "rsl_rank_order": [0]}


# All that a zone may tell: tests/integration/cli/real_zone_test.py holds the golden files against real ones.
WHOLE_PLAN = PLAN | {"digest": "0" * 64, "predicted_s": 4.5, "crossing_bytes": 1.5, "crossing_bytes_block": 2.5, "crossing_bytes_round_robin": 3.5, "learned": "l",
                     "zones": [{"zone": "x", "processors": 8, "ranks": 2, "reason": "", "start_from_s": 0.5, "start_to_s": 1.5}]}
ACCEPTED = {key: VIEW[key] for key in ("id", "owner", "name", "state", "reason", "ranks", "argv", "submitted_us", "directory", "history")} | {
    "cancel_requested": False, "mapper": "hier", "program": "/bin/a", "walltime_s": 3600.0, "zones": [], "parts": []}
WHOLE_VIEW = VIEW | ACCEPTED | {"zones": ["x"], "exit_code": 0, "profile": ONE, "plan": WHOLE_PLAN,
                                "parts": [VIEW["parts"][0] | {"assignment": ASSIGNMENT_ROW, "queue": VIEW["parts"][0]["queue"] | {"promised_in_s": 9.5}}]}
SERIES = {"next": 0.1, "error": 0.1, "values": [0.1], "forecaster": "mean"}
EVENT = {"at_us": 1, "last_us": 2, "times": 1, "round": 1, "zone": "x", "what": "commit", "ok": True, "answer": "a"}
RIGHTS = {"processors": 4, "concurrent_parts": 1, "walltime_s": 1.5, "hours": [], "weekdays": ["mon"], "partitions": [], "share": 0.5, "account_rule": "map", "may_forward": False, "require_delegation": True}
PEERING = {"organisation": "org-b", "state": "accepted", "fingerprint": "sha256:1", "by": "b", "changed_us": 1, "requested_us": 1, "reason": "",
           "zones": [{"name": "y", "url": "https://y:1", "seen_us": 1}], "usage": {"processors": 1, "parts": 1}, "last_events": [{"at_us": 1, "event": "e"}],
           "trust": {"score": 0.5, "initial": 0.5, "reasons": [{"event": "e", "count": 1, "weight": 0.5, "effect": 0.5}]},
           "rights": {"floor": {"processors": 1, "concurrent_parts": 1, "walltime_s": 1.5}, "ceiling": RIGHTS}, "rights_now": RIGHTS}
PROFILE = {"id": ONE, "application": ONE, "at_us": 1, "program": "/bin/a", "arguments": "", "ranks": 2, "complete": True, "digest": "0" * 64, "predicted_s": 1.5, "measured_s": 2.5,
           "error": {"runs": 1, "mean": 0.5, "spread": 1.5, "last": 0.5}}


# Columns of lists that no member of the items tells, with the reason.
NOT_IN_JSON = {"path": "the member program is the whole path; PROGRAM shows its last part", "planned_with": "a text made of the members link.delay_s and link.bandwidth_Bps"}


class Golden(Manners):
    """Keys and types of the documents that `zbs` itself makes, against tests/golden/cli. Fields may be added here; none may go or change."""

    def document(self, *words):
        told = json.loads(self.zbs(*words).stdout)
        self.assertEqual(next(iter(told.items())), ("version", 1), words)
        return shape(told)

    def commands(self):
        """Of every golden file the command that prints it, before a zone that tells all there is."""
        Zone.answers |= {"/v1/nodes": {"zone": "x", "organisation": "org-a", "nodes": [{"name": name, "processors": 8, "used": 3, "speed": 1.5} for name in ("n1", "n2")],
                                       "agents": [{"description": {"name": "n1", "cores": 4, "memory_bytes": 1 << 30}, "available": SERIES}]},
                         "/v1/whoami": {"zone": "spiffe://org-a/zone/x", "name": "spiffe://org-a/user/ana", "via_proxy": False, "limited": False, "groups": ["g"], "serial": "1", "not_after_us": 1},
                         "/openapi.json": {"info": {"version": "1"}},
                         "/v1/links": {"links": [{"zone": "y", "source": "measured", "link": {"delay_s": 0.5, "bandwidth_Bps": 1e6}, "delay": SERIES, "bandwidth": SERIES, "failures": 0, "measured_us": 1}],
                                       "machines": {"source": "measured", "worst": [{"from": "n1", "to": "n2", "failures": 0, "delay": SERIES, "bandwidth": SERIES, "measured_us": 1}]}},
                         "/v1/peerings/org-b": {"peerings": [PEERING]},
                         "/v1/applications/" + ONE: WHOLE_VIEW, "/v1/applications/" + ONE + "/explain": {"id": ONE, "state": "planned", "reason": "", "events": [EVENT], "plan": WHOLE_PLAN},
                         "/v1/applications?dry_run=true": {key: value for key, value in WHOLE_PLAN.items() if key != "queued"}, "/v1/profiles": {"profiles": [PROFILE]},
                         "/v1/peerings": {"peers": [{"zone": "y", "organisation": "org-b", "they_accept_us": "accepted", "we_accept_them": "accepted", "url": "https://y:1", "reason": "", "last_heard_us": 1, "leased_until_us": 1}]}}
        Zone.answers |= {"/v1/applications/" + TWO: dict(WHOLE_VIEW, id=TWO, state="completed"), "/v1/applications/" + ONE + "/assignment": ASSIGNMENT, "/v1/delegations/" + ONE: {},
                         "/v1/applications/" + ONE + "/results": {"complete": True, "notes": [], "files": [{"name": "out", "digest": hashlib.sha256(b"7").hexdigest(), "size": 1, "zone": "x"}]}}
        Zone.answers |= {"/v1/applications": {"applications": [JOBS[0] | {"owner": "spiffe://org-a/user/ana", "name": "n"}, *(job | {"owner": "spiffe://org-a/user/ana"} for job in JOBS[1:])]},
                         "/v1/applications/counts": {"counts": {"running": 2, "failed": 1}, "ended_since_us": 1}}
        with open(os.path.join(SOURCE, "schemas/examples/valid/model.ring.json")) as f:
            Zone.answers["/v1/profiles/" + ONE] = json.load(f)
        with open(os.path.join(self.folder, "out"), "w") as f:
            f.write("7")  # fetched before
        self.queue_log("same.jsonl", DECIDED)
        self.queue_log("other.jsonl", DECIDED | {"starts": []})
        with open(os.path.join(self.folder, "line.graph"), "w") as f:
            f.write("3 2 001\n2 5\n1 5 3 7\n2 7\n")
        onto = ["map", "--graph", "line.graph", "--hierarchy", "2:2", "--distances", "1:10"]
        made = ["simulate", "--generate", "lublin:jobs=20"]
        return (("list", ["list"]), ("list_truncated", ["list", "--limit", "1"]), ("zone_list", ["zone", "list"]), ("zone_links", ["zone", "links"]), ("zone_show", ["zone", "show"]),
                ("peer_list", ["peer", "list"]), ("whoami", ["whoami"]), ("top", ["top"]), ("doctor", ["doctor"]),
                ("show", ["show", ONE]), ("explain", ["explain", ONE]), ("cancel", ["cancel", ONE]), ("wait", ["wait", TWO]), ("run_dry_run", ["run", "-n", "2", "--dry-run", "/bin/true"]),
                ("peer_show", ["peer", "show", "org-b"]), ("profile_show_stored", ["profile", "show", ONE]), ("zone_machine_links", ["zone", "machine-links"]),
                ("profile_show", ["profile", "show", os.path.join(SOURCE, "schemas/examples/valid/model.ring.json")]), ("simulate_list", ["simulate", "--list"]), ("simulate_policies", ["simulate", "--list-policies"]),
                ("simulate_allocators", ["simulate", "--list-allocators"]), ("simulate_generators", ["simulate", "--list-generators"]), ("simulate", [*made, "--policy", "easy"]),
                ("simulate_details", [*made, "--policy", "gang", "--details"]), ("simulate_compare", [*made, "--compare", "fcfs,easy"]), ("report_claims_list", ["report", "claims", "--list"]),
                ("report_claims", ["report", "claims", "--quick", "--source", "ShmueliFeitelson2005", "--details"]), ("profile_list", ["profile", "list"]),
                ("replay", ["replay", "--generate", "random", "--ranks", "6", "--clusters", "2", "--lines", "100", "--resources", os.path.join(SOURCE, "tests/apps/three_zones.json")]),
                ("list_columns", ["list", "--columns", "id,ranks,exit,state"]), ("cancel_several", ["cancel", ONE, TWO]), ("peer_set", ["peer", "set", "org-b", "--processors", "8"]),
                ("show_assignment", ["show", ONE, "--format", "json"]), ("delegate_revoke", ["delegate", "--revoke", ONE]), ("fetch", ["fetch", ONE]),
                ("queue_replay", ["queue", "replay", "same.jsonl"]), ("queue_replay_difference", ["queue", "replay", "other.jsonl"]), ("map_hierarchy", [*onto, "--format", "json"]),
                ("map", ["map", "--graph", "line.graph", "--resources", os.path.join(SOURCE, "tests/apps/three_zones.json"), "--format", "json"]))

    def test_documents_keep_their_shape(self):
        golden = os.path.join(SOURCE, "tests", "golden", "cli")
        found = {}
        for name, words in self.commands():
            found[name] = self.document(*words, *([] if words[0] == "map" else ["-o", "json"]))
        Zone.answers |= {"/v1/applications": ACCEPTED, "/v1/profiles": {key: PROFILE[key] for key in ("id", "at_us", "program", "arguments", "ranks", "complete", "digest")}}  # to a POST
        found["submit"] = self.document("submit", "-n", "2", "/bin/true", "-o", "json")
        found["profile_import"] = self.document("profile", "import", os.path.join(SOURCE, "schemas/examples/valid/model.ring.json"), "-o", "json", "--", "/bin/true")
        for name, got in found.items():
            path = os.path.join(golden, name + ".json")
            if os.environ.get("ZBS_WRITE_GOLDEN"):
                with open(path, "w") as f:
                    f.write(json.dumps(got, indent=1, sort_keys=True) + "\n")
            with open(path) as f:
                self.assertEqual(got, json.load(f), f"{name}: if this is meant, write the files anew with ZBS_WRITE_GOLDEN=1")

    def test_what_a_list_tells_people_it_tells_programs_too(self):
        lists = []
        for name, words in self.commands():
            refusal = self.zbs(*words, "--columns", "nothing_of_that_kind").stderr
            if "there is no column" not in refusal or name == "list_truncated":  # of one row, which says little
                continue
            lists.append(name)
            titles = next(csv.reader(io.StringIO(self.good(*words, "-o", "csv"))))
            for key, found in keys_in_json(titles, refusal, json.loads(self.good(*words, "-o", "json"))).items():
                with self.subTest(list=name, column=key):
                    self.assertTrue(key in NOT_IN_JSON or found, "in no item")
        self.assertLessEqual({"list", "top", "zone_list", "zone_links", "zone_machine_links", "zone_show", "peer_list", "peer_show", "profile_list"}, set(lists))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
