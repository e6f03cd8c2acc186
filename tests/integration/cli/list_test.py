"""Lists of `zbs` and zbs top: formats, columns, filters, order, what the zone is asked for.

usage: list_test.py ZBS SOURCE_DIR
"""
import csv
import datetime
import io
import json
import os
import pty
import subprocess
import sys
import termios
import time
import unittest

from manners import JOBS, ONE, PEERING, PROFILE, TWO, VIEW, ZBS, Manners, Zone


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
        for form in ("table", "wide", "csv", "name", "json"):
            self.assertNotIn("\x1b", self.good("list", "-o", form), form)

    def test_wide_has_more_of_every_list(self):
        Zone.answers |= {"/v1/peerings": {"peers": [{"zone": "y", "organisation": "org-b", "last_heard_us": 1_000_000, "leased_until_us": 2_000_000}]}, "/v1/profiles": {"profiles": [PROFILE]},
                         "/v1/peerings/org-b": {"peerings": [PEERING]}, "/v1/nodes": {"zone": "x", "nodes": [{"name": "n1", "processors": 8, "used": 3, "speed": 1.5}], "agents": [
                             {"description": {"name": "n1", "cores": 4, "memory_bytes": 1 << 30}}]},
                         "/v1/links": {"links": [{"zone": "y", "failures": 7, "measured_us": 1_000_000}], "machines": {"worst": [{"from": "n1", "to": "n2", "failures": 0, "measured_us": 1_000_000}]}}}
        for words, column in ((["list"], "PATH"), (["top"], "PATH"), (["zone", "list"], "OUTBOUND"), (["zone", "links"], "FAILURES"), (["zone", "machine-links"], "1970-01-01 00:00:01"),
                            (["zone", "show"], "1.0 GiB"), (["peer", "list"], "1970-01-01T00:00:02Z"), (["peer", "show", "org-b"], "PARTS NOW"), (["profile", "list"], "APPLICATION")):
            self.assertNotIn(column, self.good(*words), words)
            self.assertIn(column, self.good(*words, "-o", "wide"), words)
            self.assertRegex(self.good(*words, "--help"), "-o wide has also [a-z]")

    def test_zones_are_found_by_what_they_offer(self):
        Zone.answers |= {"/v1/nodes": {"zone": "x", "organisation": "org-a", "nodes": [{"name": "n1", "processors": 8, "used": 3, "speed": 1.5}],
                                       "categories": ["policy=easy", "launcher=mpich", "mpi=4.0.2", "mpich=4.0.2"]},
                         "/v1/peerings": {"peers": [{"zone": "y", "organisation": "org-b", "outbound": "accepted", "condition": {"state": "up"}, "categories": ["mpi", "policy=gang", "mpi=4.1", "zone=x"]},
                                                    {"zone": "z", "organisation": "org-b", "outbound": "accepted"}]}}
        for where, zones in (("policy = gang and mpi >= 4", ["y"]), ("mpi >= 4.0.2", ["x", "y"]), ("processors > 7", ["x"]), ("category = mpi or zone = z", ["y", "z"]),
                             ("not (organisation = org-b)", ["x"]), ("policy != easy", ["y", "z"]), ("zone = x", ["x"]), ("state = down", [])):
            self.assertEqual(self.good("zone", "list", "-o", "name", "--where", where).split(), zones, where)
        self.assertIn("policy=gang", self.good("zone", "list", "-o", "wide", "--where", "zone = y"))
        self.assertEqual([zone["categories"] for zone in json.loads(self.good("zone", "list", "-o", "json", "--where", "zone != x"))["zones"]], [["mpi", "policy=gang", "mpi=4.1", "zone=x"], []])
        Zone.answers.clear()
        for where, fault in (("polcy = gang", "--where: character 1, 'polcy': there is no such attribute; did you mean 'policy'?"), ("mpi >= new", "--where: character 8, 'new': "), ("", "--where: it is empty")):
            self.assertIn(fault, self.refused("zone", "list", "--where", where))

    def test_a_profile_that_lacks_messages_is_not_complete(self):
        Zone.answers["/v1/profiles"] = {"profiles": [PROFILE, PROFILE | {"unseen": {"MPI_Psend_init": 4, "MPI_Bcast_c": 1}}]}
        self.assertEqual(self.good("profile", "list", "--no-header", "--columns", "complete,missing", "-o", "csv"),
                         'yes,\nno,"MPI_Bcast_c (1 call), MPI_Psend_init (4 calls)"\n')

    def test_a_filter_is_about_one_state(self):
        for filter in ("state=running,completed", "State==running,completed", "state!=running,completed"):
            for command in ("list", "top"):
                Zone.answers["/v1/nodes"] = {"zone": "x", "nodes": []}
                self.assertIn("--filter: 'running,completed' is not one state; --state takes several", self.refused(command, "--filter", filter))

    def test_a_word_that_is_no_name_reaches_no_other_organisation(self):
        Zone.answers |= {"/v1/peerings/org-b": {"peerings": [PEERING]}, "/v1/users": {"peerings": [PEERING]}}
        for name in ("org-b?x", "org%2db", "org-b#x", "../users", "a b", "\u00e9", ""):
            for words in (("show", name), ("suspend", name, "--reason", "t")):
                self.assertRegex(self.refused("peer", *words), r"ORGANISATION: '.*' is no name of an organisation: 1 to 64 of a-z 0-9 \. _ -, first a letter or digit")
        self.assertEqual(Zone.sent, [])

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
            since = datetime.datetime.fromisoformat(query["since"].replace("Z", "+00:00")).timestamp() if "since" in query else 0
            recent = [job for job in jobs if job["submitted_us"] >= since * 1e6]
            begin = int(query.get("after", -1)) + 1
            return {"applications": recent[begin:begin + 12]} | ({"next": recent[begin + 11]["id"]} if begin + 12 < len(recent) else {})
        Zone.answers["/v1/applications"] = page
        names = lambda *words: self.good("list", "-o", "name", *words).split()  # noqa: E731
        for since in ("-330m", "5h30m", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 5.5 * 3600)), time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now - 5.5 * 3600))):
            self.assertEqual(names("--since", since), [f"{i:02}" for i in range(6)], since)
        self.assertEqual(names("--since", "30h", "--sort", "submitted"), [f"{i:02}" for i in reversed(range(30))])
        asked.clear()
        self.assertEqual(len(names("--since", "5h30m")), 6)
        self.assertEqual(len(asked), 1, "the zone knows where the list begins")
        self.assertIn("--since: '90' has no unit: 90m for minutes, 90s for seconds", self.refused("list", "--since", "90"))
        self.assertIn("--since: 'soon' is no time; write how long ago (6h, 2d), a day (2026-11-24)", self.refused("list", "--since", "soon"))
        Zone.answers["/v1/profiles"] = {"profiles": [PROFILE, PROFILE | {"id": TWO, "at_us": int(now * 1e6)}]}
        self.assertEqual(self.good("profile", "list", "--since", "1h", "-o", "name"), TWO + "\n")
        cut = json.loads(self.good("profile", "list", "--limit", "1", "--sort", "-at", "-o", "json"))
        self.assertEqual(([row["id"] for row in cut["profiles"]], cut["truncated"]), ([TWO], True))
        self.assertNotIn("truncated", json.loads(self.good("profile", "list", "--limit", "2", "-o", "json")))

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
        self.assertIn("known are id, user, owner, name, state, ranks, program, zones, exit, exit_code, submitted, submitted_us, started, started_us, ended, ended_us, elapsed, expected_start, expected_start_us, reason, path", self.refused("list", "--columns", "nothing_of_that_kind"))

    def test_a_narrow_terminal_shows_the_whole_reason_of_a_row(self):
        reason = "waiting for processors: 4 of 6 are free; b: drains: it takes no new work now"
        Zone.answers["/v1/applications"] = {"applications": [dict(JOBS[0], id=ONE, state="accepted", reason=reason)]}
        terminal, side = pty.openpty()
        termios.tcsetwinsize(side, (24, 80))
        with open(terminal, "rb", 0) as reader:
            subprocess.run([ZBS, "list"], cwd=self.folder, env=self.environment(), stdout=side, timeout=60, check=True)
            lines = reader.read(4096).decode().splitlines()
            os.close(side)
        self.assertEqual((len(lines), lines[2]), (3, "  " + reason), lines)
        self.assertTrue(lines[1].startswith(ONE), lines)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_results_that_did_not_come_back_show_in_the_list(self):
        ended = dict(JOBS[1], state="completed", exit_code=0, reason="", results_left_out=2)
        Zone.answers["/v1/applications"] = {"applications": [ended]}
        self.assertEqual(self.good("list", "--no-header", "--columns", "exit,reason"), "9  2 results that were asked for did not come back\n")
        self.assertEqual(json.loads(self.good("list", "-o", "json"))["applications"], [ended])
        Zone.answers["/v1/applications/" + ONE] = dict(VIEW, state="completed", exit_code=0, results_left_out=1)
        self.assertIn("\nresults    1 result that was asked for did not come back\n", self.good("show", ONE))

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
        for words in (("simulate", "--list-policies"), ("doctor",), ("profile", "list")):
            self.assertEqual(json.loads(self.zbs(*words, "--json").stdout), json.loads(self.zbs(*words, "-o", "json").stdout), words)
        self.assertEqual(json.loads(self.zbs("show", "--json").stdout)["status"], 400)
        self.assertEqual(self.good("--help").count("--json"), 1)
        self.assertEqual(self.good("list", "--help").count("--json"), 1)
        self.assertEqual(self.good("simulate", "--help").count("--json"), 1)


class ByTheZonesClock(Manners):
    """A zone whose list goes by its clock, with ids that say the contrary: 12,000 have ended, three of before them have not."""

    def setUp(self):
        super().setUp()
        self.asked = []
        # The largest ids are the oldest.
        self.all = [dict(JOBS[0], id=f"01KKKKKKKKKKKKKKKKKKK{20_000 - i:05}", state="completed", name="old" if i == 0 else "cg", ranks=1 + i % 7, owner="spiffe://org-a/user/ana", submitted_us=(1_000 + i) * 1_000_000) for i in range(12_000)]
        live = (("running", 300), ("planned", 200), ("launching", 400))
        self.live = [dict(JOBS[0], id=f"01LLLLLLLLLLLLLLLLLLL{i:05}", state=state, name="lu", ranks=ranks, owner="spiffe://org-a/user/ana", submitted_us=(1 + i) * 1_000_000) for i, (state, ranks) in enumerate(live)]
        self.all = sorted(self.all + self.live, key=self.place, reverse=True)
        Zone.answers |= {"/v1/applications": self.page, "/v1/nodes": {"zone": "x", "nodes": []}, "/v1/applications/counts": {"counts": {"running": 1}, "ended_since_us": 0}}
        self.newest = self.all[0]["id"]

    @staticmethod
    def place(row):
        return row["submitted_us"], row["id"]

    def page(self, query):
        self.asked.append(query)
        limit = min(int(query.get("limit", 100)), 1_000)
        rows = [row for row in self.all if row["state"] in query.get("state", row["state"]).split(",")]
        if "since" in query:
            since = datetime.datetime.strptime(query["since"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
            rows = [row for row in rows if row["submitted_us"] >= since.timestamp() * 1e6]
        if "after" in query:
            us, name = query["after"].split("-")
            rows = [row for row in rows if self.place(row) < (int(us), name)]
        rows = rows[:limit]
        return {"applications": rows} | ({"next": "%d-%s" % self.place(rows[-1])} if len(rows) == limit else {})

    def names(self, *words):
        return self.good(*words, "-o", "name").split()

    def test_a_list_asks_for_no_more_rows_than_it_shows(self):
        self.assertEqual(self.names("list"), [row["id"] for row in self.all[:100]])
        self.assertEqual([query["limit"] for query in self.asked], ["101"])

    def test_a_list_begins_at_an_instant_that_the_zone_is_asked_for(self):
        self.assertEqual(self.names("list", "--since", "1970-01-01T03:36:25.5Z", "--limit", "5000"), [row["id"] for row in self.all[:14]])
        self.assertEqual([(query["since"], "after" in query) for query in self.asked], [("1970-01-01T03:36:25.500000Z", False)])
        self.assertEqual(self.names("list", "--since", "1970-01-01T00:00:00+01:00", "--limit", "1"), [self.newest], "of before there were instants: all")
        self.assertEqual(self.asked[-1]["since"], "1970-01-01T00:00:00.000000Z")
        self.asked.clear()
        self.assertEqual(self.names("list", "--since", "1970-01-01T00:00:02Z", "--state", "running,launching"), [self.live[2]["id"]])
        self.assertEqual(len(self.asked), 1)
        self.names("list", "--since", "9999-12-31T23:00:00-05:00")
        self.assertEqual(self.asked[-1]["since"][:4], "9999")

    def test_how_long_ago_goes_by_the_zones_clock(self):
        Zone.answers["/livez"], Zone.ahead_s = {}, -86_400
        begin = time.time() - 86_400
        self.good("list", "--since", "30m")
        since = datetime.datetime.strptime(self.asked[-1]["since"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc).timestamp()
        self.assertTrue(begin - 1_801 <= since <= time.time() - 86_400 - 1_800, since - begin)

    def test_last_is_the_first_row_of_the_zone(self):
        Zone.answers["/v1/applications/" + self.newest] = self.all[0]
        self.assertEqual(self.names("show", "last"), [self.newest])
        self.assertEqual([query["limit"] for query in self.asked], ["2"])

    def test_a_name_is_found_however_many_newer_ones_there_are(self):
        Zone.answers |= {"/v1/applications/" + row["id"]: row for row in self.all[-4:]}
        self.assertEqual(self.names("show", "name=old"), [self.all[-4]["id"]])
        self.asked.clear()
        self.assertEqual(self.names("cancel", "name=lu", "--yes"), [row["id"] for row in reversed(self.live)])
        self.assertEqual(len(self.asked), 1, "those that are open are asked for by state")

    def test_completion_offers_what_is_open_however_many_newer_ones_have_ended(self):
        self.assertEqual(self.good("complete", "open-applications", "zbs cancel ").split(), [row["id"] for row in reversed(self.live)])

    def test_top_lists_what_runs_then_what_waits_then_what_has_ended(self):
        live = [row["id"] for row in self.live]
        self.assertEqual(self.names("top")[:5], [live[2], live[0], live[1]] + [row["id"] for row in self.all[:2]])
        self.assertEqual(self.names("top", "--limit", "3"), [live[2], live[0], live[1]])
        self.assertTrue(json.loads(self.good("top", "--limit", "3", "-o", "json"))["truncated"])
        self.assertEqual(self.names("top", "--limit", "1"), [live[2]])
        self.assertEqual(self.names("top", "--state", "planned,running"), [live[0], live[1]])
        self.assertEqual(self.names("top", "--filter", "state=planned"), [live[1]])
        self.asked.clear()
        self.assertIn("there is no state 'runing'", self.refused("top", "--state", "runing"))
        self.assertEqual(self.asked, [])

    def test_top_orders_all_that_has_not_ended_among_the_rest(self):
        live = [row["id"] for row in self.live]
        self.assertEqual(self.names("top", "--sort", "-ranks", "--limit", "3"), [live[2], live[0], live[1]])
        self.assertEqual(self.names("top", "--sort", "submitted", "--limit", "3"), live)

    def test_what_changes_its_state_between_two_questions_is_listed_once(self):
        page, moved = self.page, self.live[1]["id"]
        def changing(query):
            answer = page(query)
            if "running" in query["state"]:
                self.live[1]["state"] = "completed"
                answer["applications"] = answer["applications"] + [dict(self.live[1], state="running")]
            return answer
        Zone.answers["/v1/applications"] = changing
        self.all = list(self.live)
        self.assertEqual(self.names("top").count(moved), 1)


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
        answer = json.loads(self.good("list", "--limit", "3", "-o", "json"))
        self.assertEqual((list(answer), answer["truncated"], len(answer["applications"])), (["version", "applications", "truncated"], True, 3))
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
        self.assertEqual(self.good("list").splitlines()[0].split(), ["ID", "NAME", "STATE", "RANKS", "PROGRAM", "ZONES", "EXIT", "SUBMITTED", "ELAPSED", "REASON"])
        self.assertIn("01  my run  running", self.good("list"))
        wide = self.good("list", "-o", "wide").splitlines()
        self.assertEqual(wide[0].split(), ["ID", "USER", "NAME", "STATE", "RANKS", "PROGRAM", "ZONES", "EXIT", "SUBMITTED", "STARTED", "ENDED", "ELAPSED", "EXPECTED", "START", "REASON", "PATH"])
        self.assertEqual(([line.split()[1] for line in wide[1:]], wide[1].split()[-1]), (["ana", "spiffe://org-b/user/bo"], "/bin/a"))
        self.assertIn("USER", self.zbs("list", ZBS_IDENTITY="spiffe://org-a/operator/ada").stdout)

    def test_top_counts_all_and_shows_what_runs_first(self):
        Zone.answers |= {"/v1/nodes": {"zone": "x", "nodes": []},
                         "/v1/applications/counts": {"counts": {"running": 25, "committed": 117, "launching": 1, "failed": 3, "completed": 4}, "ended_since_us": 60_000_000}}
        lines = self.good("top", "--limit", "30").splitlines()
        self.assertEqual(lines[1], "applications: 25 running, 118 waiting, 7 ended since 1970-01-01 00:01")
        self.assertEqual([line.split()[1] for line in lines[4:]], ["running"] * 25 + ["completed"] * 5)
        self.assertLess(lines[3].index("PROGRAM"), lines[3].index("SUBMITTED"))
        found = json.loads(self.good("top", "--limit", "1", "-o", "json"))
        self.assertEqual((found["counts"]["committed"], found["ended_since_us"], found["applications"][0]["state"]), (117, 60_000_000, "running"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
