"""What `zbs` prints for programs: each document against its golden file.

usage: document_test.py ZBS SOURCE_DIR
"""
import csv
import hashlib
import io
import json
import os
import sys
import unittest

from manners import DECIDED, JOBS, ONE, PEERING, PROFILE, SOURCE, TWO, VIEW, WHOLE_PLAN, Manners, Zone
from shapes import keys_in_json, shape

# Which golden file tells of what a command of `zbs` prints for programs; or why it prints nothing of the kind.
DOCUMENTS = {
    "run": ["run_dry_run"], "submit": ["submit"], "list": ["list", "list_truncated", "list_columns"], "show": ["show", "show_assignment"], "cancel": ["cancel", "cancel_several"], "explain": ["explain"], "fetch": ["fetch"],
    "zone list": ["zone_list"], "zone links": ["zone_links"], "zone machine-links": ["zone_machine_links"], "zone show": ["zone_show"], "peer list": ["peer_list"], "peer show": ["peer_show"],
    "peer accept": ["peer_set"], "peer set": ["peer_set"], "peer reject": ["peer_set"], "peer suspend": ["peer_set"], "peer resume": ["peer_set"], "delegate": ["delegate_revoke"], "whoami": ["whoami"],
    "map": ["map", "map_hierarchy"], "profile list": ["profile_list"], "profile show": ["profile_show", "profile_show_stored"], "profile import": ["profile_import"], "queue replay": ["queue_replay", "queue_replay_difference"],
    "replay": ["replay"], "simulate": ["simulate", "simulate_details", "simulate_compare", "simulate_list", "simulate_policies", "simulate_allocators", "simulate_generators"],
    "top": ["top"], "doctor": ["doctor"],
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
        documented = {"zbs-" + name.replace(" ", "-") for name in DOCUMENTS}
        self.assertEqual(names - groups - documented, set(), "commands that DOCUMENTS does not list")
        self.assertEqual(documented - names, set(), "commands that are not there any more")
        golden = {name[:-len(".json")] for name in os.listdir(os.path.join(SOURCE, "tests/golden/cli")) if name.endswith(".json") and not name.startswith(("zbs_zone", "zbs_registry", "zbs_node"))}
        self.assertEqual(golden, {file for files in DOCUMENTS.values() if isinstance(files, list) for file in files})

    def test_a_log_of_a_queue_is_decided_again_in_every_format(self):
        same, path = self.queue_log("same.jsonl", DECIDED), self.queue_log("other.jsonl", DECIDED | {"starts": []})
        self.assertEqual(json.loads(self.good("queue", "replay", same, "-o", "json")), {"version": 1, "decisions": 1, "events": 5, "same": True, "starts": 1})
        self.assertEqual(self.good("queue", "replay", same), "1 decision over 1 start: the simulator's code decides as the zone did\n")
        done = self.zbs("queue", "replay", path, "-o", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((next(iter(answer)), answer["version"], answer["same"], answer["first_difference"]["event"]), ("version", 1, False, 5))
        self.assertEqual(self.zbs("queue", "replay", path, "-o", "jsonl").stdout, done.stdout)
        self.assertIn("event 5: the zone decided otherwise\nzone ", self.zbs("queue", "replay", path).stdout)
        for decision in ("logged", "replayed"):
            self.assertEqual((answer["first_difference"][decision]["at_us"], answer["first_difference"][decision]["usable"]), (DECIDED["at_us"], DECIDED["usable"]))
        self.assertIn("csv is for lists", self.refused("queue", "replay", "/nowhere", "-o", "csv"))

    def test_a_queue_log_without_a_decision_compares_nothing(self):
        whole = self.queue_log("same.jsonl", DECIDED)
        with open(os.path.join(self.folder, whole)) as f:
            text = f.read()
        for kept, words in ((0, "0 whole events and no decision;"), (len(text) - 1, "4 whole events and no decision, and its last line is cut off;")):
            with open(os.path.join(self.folder, "part.jsonl"), "w") as f:
                f.write(text[:kept])
            self.assertIn("nothing was compared: the log has " + words, self.refused("queue", "replay", "part.jsonl"))
        with open(os.path.join(self.folder, "part.jsonl"), "w") as f:
            f.write(text + text[:9])
        done = self.zbs("queue", "replay", "part.jsonl")
        self.assertEqual((done.returncode, done.stdout), (0, "1 decision over 1 start: the simulator's code decides as the zone did\n"))
        self.assertIn("the last line of the log is cut off and was not compared", done.stderr)

    def test_an_id_of_a_delegation_is_a_document_for_programs(self):
        Zone.answers["/v1/delegations/" + ONE] = {}
        self.assertEqual(self.good("delegate", "--revoke", ONE), ONE + "\n")
        self.assertEqual(self.good("delegate", "--revoke", ONE, "-o", "name"), ONE + "\n")
        self.assertEqual(json.loads(self.good("delegate", "--revoke", ONE, "-o", "json")), {"version": 1, "id": ONE})
        self.assertIn("csv is for lists", self.refused("delegate", "--revoke", ONE, "-o", "csv"))

    def test_an_assignment_in_json_has_its_version(self):
        Zone.answers["/v1/applications/" + ONE + "/assignment"] = ASSIGNMENT
        answer = json.loads(self.good("show", ONE, "--format", "json"))
        self.assertEqual(next(iter(answer.items())), ("version", 1))
        self.assertEqual(answer, {"version": 1} | ASSIGNMENT)


ASSIGNMENT_ROW = [{"rank": 0, "machine": "n1", "processor": 0}]
ASSIGNMENT = {"application": ONE, "ranks": [{"rank": 0, "zone": "x", "machine": "n1", "processor": 0}], "rsl_rank_order": [0]}
ACCEPTED = {key: VIEW[key] for key in ("id", "owner", "name", "state", "reason", "ranks", "argv", "submitted_us", "directory", "history")} | {
    "cancel_requested": False, "mapper": "hier", "program": "/bin/a", "walltime_s": 3600.0, "grace_s": 30.0, "zones": [], "parts": []}
WHOLE_VIEW = VIEW | ACCEPTED | {"zones": ["x"], "started_us": 2, "ended_us": 3, "expected_start_us": 4, "waits_for": "turn", "exit_code": 0, "profile": ONE, "plan": WHOLE_PLAN,
                                "parts": [VIEW["parts"][0] | {"assignment": ASSIGNMENT_ROW, "queue": VIEW["parts"][0]["queue"] | {"promised_in_s": 9.5}}]}
SERIES = {"next": 0.1, "error": 0.1, "values": [0.1], "forecaster": "mean"}
EVENT = {"at_us": 1, "last_us": 2, "times": 1, "round": 1, "zone": "x", "what": "commit", "ok": True, "answer": "a"}


# Columns of lists that no member of the items tells, with the reason.
NOT_IN_JSON = {"elapsed": "the time between the members started_us and ended_us, or until now", "missing": "a text made of the member unseen", "path": "the member program is the whole path; PROGRAM shows its last part", "planned_with": "a text made of the members link.delay_s and link.bandwidth_Bps"}


class Golden(Manners):
    """Keys and types of the documents that `zbs` itself makes, against tests/golden/cli. Fields may be added here; none may go or change."""

    def document(self, *words):
        answer = json.loads(self.zbs(*words).stdout)
        self.assertEqual(next(iter(answer.items())), ("version", 1), words)
        return shape(answer)

    def commands(self):
        """Of every golden file the command that prints it, before a zone that tells all there is."""
        Zone.answers |= {"/v1/nodes": {"zone": "x", "organisation": "org-a", "categories": ["policy=easy"], "nodes": [{"name": name, "processors": 8, "used": 3, "speed": 1.5} for name in ("n1", "n2")],
                                       "agents": [{"description": {"name": "n1", "cores": 4, "memory_bytes": 1 << 30}, "available": SERIES}]},
                         "/v1/whoami": {"zone": "spiffe://org-a/zone/x", "name": "spiffe://org-a/user/ana", "via_proxy": False, "limited": False, "groups": ["g"], "serial": "1", "not_after_us": 1},
                         "/openapi.json": {"info": {"version": "1"}},
                         "/v1/links": {"links": [{"zone": "y", "source": "measured", "link": {"delay_s": 0.5, "bandwidth_Bps": 1e6}, "delay": SERIES, "bandwidth": SERIES, "failures": 0, "measured_us": 1}],
                                       "machines": {"source": "measured", "worst": [{"from": "n1", "to": "n2", "failures": 0, "delay": SERIES, "bandwidth": SERIES, "measured_us": 1}]}},
                         "/v1/peerings/org-b": {"peerings": [PEERING]},
                         "/v1/applications/" + ONE: WHOLE_VIEW, "/v1/applications/" + ONE + "/explain": {"id": ONE, "state": "planned", "reason": "", "events": [EVENT], "plan": WHOLE_PLAN},
                         "/v1/applications?dry_run=true": {key: value for key, value in WHOLE_PLAN.items() if key != "queued"}, "/v1/profiles": {"profiles": [PROFILE]},
                         "/v1/peerings": {"peers": [{"zone": "y", "organisation": "org-b", "outbound": "accepted", "inbound": "accepted", "url": "https://y:1", "reason": "", "last_heard_us": 1, "leased_until_us": 1, "categories": ["mpi", "policy=gang"], "condition": {"state": "up", "age_s": 0.5, "clock_ahead_s": 0.0}}]}}
        Zone.answers |= {"/v1/applications/" + TWO: dict(WHOLE_VIEW, id=TWO, state="completed"), "/v1/applications/" + ONE + "/assignment": ASSIGNMENT, "/v1/delegations/" + ONE: {},
                         "/v1/applications/" + ONE + "/results": {"complete": True, "notes": [], "files": [{"name": "out", "digest": hashlib.sha256(b"7").hexdigest(), "size": 1, "zone": "x"}]}}
        Zone.answers |= {"/v1/applications": {"applications": [JOBS[0] | {"owner": "spiffe://org-a/user/ana", "name": "n", "started_us": 2, "ended_us": 3, "expected_start_us": 4, "waits_for": "turn"}, *(job | {"owner": "spiffe://org-a/user/ana"} for job in JOBS[1:])]},
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
                ("show", ["show", ONE]), ("explain", ["explain", ONE]), ("cancel", ["cancel", ONE]), ("wait", ["wait", TWO]), ("run_dry_run", ["run", "-n", "2", "--dry-run", "--output", "json", "/bin/true"]),
                ("peer_show", ["peer", "show", "org-b"]), ("profile_show_stored", ["profile", "show", ONE]), ("zone_machine_links", ["zone", "machine-links"]),
                ("profile_show", ["profile", "show", os.path.join(SOURCE, "schemas/examples/valid/model.ring.json")]), ("simulate_list", ["simulate", "--list"]), ("simulate_policies", ["simulate", "--list-policies"]),
                ("simulate_allocators", ["simulate", "--list-allocators"]), ("simulate_generators", ["simulate", "--list-generators"]), ("simulate", [*made, "--policy", "easy"]),
                ("simulate_details", [*made, "--policy", "gang", "--details"]), ("simulate_compare", [*made, "--compare", "fcfs,easy"]),
                ("profile_list", ["profile", "list"]),
                ("replay", ["replay", "--generate", "random", "--ranks", "6", "--clusters", "2", "--lines", "100", "--resources", os.path.join(SOURCE, "tests/apps/three_zones.json")]),
                ("list_columns", ["list", "--columns", "id,ranks,exit,state"]), ("cancel_several", ["cancel", ONE, TWO]), ("peer_set", ["peer", "set", "org-b", "--processors", "8"]),
                ("show_assignment", ["show", ONE, "--format", "json"]), ("delegate_revoke", ["delegate", "--revoke", ONE]), ("fetch", ["fetch", ONE]),
                ("queue_replay", ["queue", "replay", "same.jsonl"]), ("queue_replay_difference", ["queue", "replay", "other.jsonl"]), ("map_hierarchy", [*onto, "--format", "json"]),
                ("map", ["map", "--graph", "line.graph", "--resources", os.path.join(SOURCE, "tests/apps/three_zones.json"), "--format", "json"]))

    def test_documents_keep_their_shape(self):
        golden = os.path.join(SOURCE, "tests", "golden", "cli")
        found = {}
        for name, words in self.commands():
            found[name] = self.document(*words, *([] if words[0] in ("map", "run") else ["-o", "json"]))
        Zone.answers |= {"/v1/applications": ACCEPTED, "/v1/profiles": {key: PROFILE[key] for key in ("id", "at_us", "program", "arguments", "ranks", "complete", "digest")}}  # to a POST
        found["submit"] = self.document("submit", "-n", "2", "--output", "json", "/bin/true")
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
