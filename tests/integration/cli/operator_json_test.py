"""What the programs of operators print: every list in every format, chosen and ordered as with `zbs`; of what they do, and of what they find, for programs one object with its version,
whose keys and types are those of tests/golden/cli.

usage: operator_json_test.py BIN SOURCE_DIR      (ZBS_WRITE_GOLDEN=1 writes the golden files anew)
"""
import csv
import datetime
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trust"), str(HERE.parent / "federation"), str(SOURCE / "tests/support")]

import federation  # noqa: E402
from federation import until  # noqa: E402
from live import DEADLINE_S, Live  # noqa: E402
from ports import free_port  # noqa: E402
from postgres_server import PostgresServer, missing  # noqa: E402
from shapes import keys_in_json, shape  # noqa: E402

federation.BIN = str(BIN)
GOLDEN = SOURCE / "tests/golden/cli"
WORKLOAD = SOURCE / "docs/examples/match/easy.toml"


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)

    def run_program(self, program, *words, **environment):
        where = {"zbs-zone": ("--config", self.f.state / "a.toml"), "zbs-registry": ("--state", self.f.state / "registry"), "zbs-node": ()}[program]
        if "--config" in words or "--state" in words:
            where = ()
        env = {name: value for name, value in os.environ.items() if name != "ZBS_OUTPUT"} | environment
        return subprocess.run([BIN / program, *words, *where], capture_output=True, text=True, timeout=DEADLINE_S, env=env)

    def good(self, program, *words, **environment):
        done = self.run_program(program, *words, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, program, *words, **environment):
        done = self.run_program(program, *words, **environment)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def node_file(self):
        path = self.f.state / "node.toml"
        path.write_text(f'name = "n1"\nzone = "https://127.0.0.1:1"\nzone_name = "a"\nstate = "{self.f.state}/node"\nhidden_paths = ["/srv"]\n')
        if not (self.f.state / "node/identity").exists():
            (self.f.state / "node").mkdir(mode=0o700, exist_ok=True)
            self.f.operate("a", "node", "add", "n1", "--out", str(self.f.state / "node/identity"))
        return str(path)


    def read(self, text):
        """With its version in front, and as one line."""
        self.assertEqual(text.count("\n"), 1)
        answer = json.loads(text)
        self.assertEqual(next(iter(answer.items())), ("version", 1))
        return answer

    def keeps_its_shape(self, name, answer):
        path = GOLDEN / (name + ".json")
        if os.environ.get("ZBS_WRITE_GOLDEN"):
            path.write_text(json.dumps(shape(answer), indent=1, sort_keys=True) + "\n")
        self.assertEqual(shape(answer), json.loads(path.read_text()), f"{name}: if this is meant, write the files anew with ZBS_WRITE_GOLDEN=1")


class Documents(Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.f.operate("a", "user", "add", "bo", "--group", "physics")
        cls.f.operate("a", "block", "spiffe://org-b/user/eve", "--reason", "lost key")

    def registry(self, *words):
        return self.good("zbs-registry", *words, "--json")

    def test_documents_keep_their_shape(self):
        until(lambda: len(json.loads(self.registry("list"))["zones"]) == 3, DEADLINE_S, "not all zones are enrolled")
        users = self.read(self.f.operate("a", "user", "list", "--json"))
        users["users"] = [user for user in users["users"] if user["name"] == "bo"]
        found = {"zbs_zone_user_list": users, "zbs_zone_blocks": self.read(self.f.operate("a", "blocks", "--json")),
                 "zbs_zone_doctor": self.read(self.f.zone("a", "doctor", "--json").stdout), "zbs_registry_list": self.read(self.registry("list")), "zbs_registry_zone_list": self.read(self.registry("zone", "list")),
                 "zbs_registry_organisation_list": self.read(self.registry("organisation", "list")), "zbs_registry_audit_list": self.read(self.registry("audit", "list")),
                 "zbs_registry_audit_verify": self.read(self.registry("audit", "verify")), "zbs_node_describe": self.read(self.good("zbs-node", "describe")),
                 "zbs_zone_match": self.read(self.good("zbs-zone", "match", WORKLOAD, "--json")), "zbs_zone_failpoints": self.read(self.good("zbs-zone", "failpoints", "--json")), "zbs_zone_config_show": self.read(self.good("zbs-zone", "config", "show", "--json")), "zbs_zone_config_check": self.read(self.good("zbs-zone", "config", "check", "--json")),
                 "zbs_node_config_show": self.read(self.good("zbs-node", "config", "show", "--json", ZBS_NODE_CONFIG=self.node_file())),
                 "zbs_node_config_check": self.read(self.good("zbs-node", "config", "check", "--json", ZBS_NODE_CONFIG=self.node_file())),
                 "zbs_zone_blocks_chosen": self.read(self.good("zbs-zone", "blocks", "--json", "--columns", "subject,since,announced_by"))}
        for name in ("audit list", "audit verify", "peer list", "peer show org-b"):
            found["zbs_zone_" + "_".join(name.split()[:2])] = self.read(self.f.operate("a", *name.split(), "--json"))
        found["zbs_zone_replay"] = self.read(self.good("zbs-zone", "replay", self.part_log(), "--json"))
        found["zbs_zone_replay_difference"] = self.read(self.run_program("zbs-zone", "replay", self.part_log('"event":"commit"', '"event":"block"'), "--json").stdout)
        for name, answer in found.items():
            with self.subTest(name):
                self.keeps_its_shape(name, answer)

    def part_log(self, old="", new=""):
        """A zone's settings, a part and its commit; with `new` in place of `old`."""
        path = self.f.state / "parts.jsonl"
        text = (HERE / "parts.jsonl").read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1) if old else text)
        return path

    def test_replay_of_parts_compares_states(self):
        done = self.run_program("zbs-zone", "replay", self.part_log())
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1 events of 1 parts and 0 applications, all states equal\n", ""))
        done = self.run_program("zbs-zone", "replay", self.part_log('"event":"commit"', '"event":"block"'))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"^line 3, part \w+, event block: the replay ends otherwise\nzone    committed, SHA-256 of the state [0-9a-f]{64}\nreplay  released, SHA-256 of the state ")
        done = self.run_program("zbs-zone", "replay", self.part_log('"event":"commit"', '"event":"comet"'))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("parts.jsonl:3: /event must be one of commit launch ", done.stderr)
        path = self.part_log()
        path.write_text(path.read_text()[:-5])
        done = self.run_program("zbs-zone", "replay", path)
        self.assertEqual((done.returncode, done.stdout), (1, "nothing was compared: the log has no whole step\n"), done.stderr)
        self.assertIn("is unfinished, and was left out", done.stderr)

    def test_each_has_its_version_and_what_its_table_has(self):
        for words, key, text in ((("user", "list"), "users", "bo"), (("blocks",), "blocks", "spiffe://org-b/user/eve"), (("peer", "list"), "peerings", "org-b"), (("peer", "show", "org-b"), "peerings", "org-b"),
                                 (("audit", "list"), "records", "spiffe://org-b/user/eve")):
            with self.subTest(words):
                self.assertIn(text, self.f.operate("a", *words, "-o", "wide"))
                self.assertIn(text, json.dumps(self.read(self.f.operate("a", *words, "--json"))[key]))
        described = self.read(self.good("zbs-node", "describe"))
        self.assertEqual(set(described), {"version", "description", "load"})

    LISTS = (("zbs-zone", ("user", "list"), "NAME", "users"), ("zbs-zone", ("blocks",), "SUBJECT", "blocks"), ("zbs-zone", ("peer", "list"), "ORGANISATION", "peerings"),
             ("zbs-zone", ("peer", "list", "--zones"), "ZONE", "peers"), ("zbs-zone", ("audit", "list"), "NUMBER", "records"), ("zbs-zone", ("failpoints",), "NAME", "failpoints"), ("zbs-zone", ("config", "show"), "SETTING", "settings"), ("zbs-zone", ("match", str(WORKLOAD)), "PART", "parts"),
             ("zbs-registry", ("list",), "ZONE", "zones"), ("zbs-registry", ("zone", "list"), "ZONE", "zones"), ("zbs-registry", ("organisation", "list"), "ORGANISATION", "organisations"),
             ("zbs-registry", ("audit", "list"), "NUMBER", "records"), ("zbs-zone", ("doctor",), "CHECK", "checks"))

    def test_every_list_takes_every_format(self):
        until(lambda: len(json.loads(self.registry("list"))["zones"]) == 3, DEADLINE_S, "not all zones are enrolled")
        until(lambda: len(self.good("zbs-zone", "peer", "list", "--zones", "-o", "name").split()) == 2, DEADLINE_S, "not all zones are known")
        for program, words, first, key in self.LISTS:
            with self.subTest(words):
                column = first.lower()
                rows = [row[first] for row in csv.DictReader(io.StringIO(self.good(program, *words, "-o", "csv")))]
                self.assertTrue(rows)
                few = ("--filter", f"{column}={rows[-1]}", "--columns", column)  # audit and doctor report more each time
                self.assertEqual(self.good(program, *words, *few, "-o", "name"), rows[-1] + "\n")
                self.assertEqual(self.good(program, *words, *few), f"{first}\n{rows[-1]}\n")
                self.assertEqual(self.good(program, *words, *few, "-o", "wide"), f"{first}\n{rows[-1]}\n")
                item = json.loads(self.good(program, *words, *few, "-o", "jsonl"))
                self.assertEqual({column: str(item[column])}, {column: rows[-1]})
                self.assertEqual(json.loads(self.good(program, *words, *few, "-o", "json")), {"version": 1, key: [item]})
                number = column == "number"
                backwards = self.good(program, *words, "--sort", "-" + column, "-o", "name").splitlines()
                self.assertEqual(backwards, sorted(backwards, key=(lambda row: int(row)) if number else None, reverse=True))
                self.assertIn(key, json.loads(self.good(program, *words, "-o", "json")))
                self.assertTrue(self.good(program, *words).count("\n") >= len(rows))

    def test_what_a_list_tells_people_it_tells_programs_too(self):
        until(lambda: len(self.good("zbs-zone", "peer", "list", "--zones", "-o", "name").split()) == 2, DEADLINE_S, "not all zones are known")
        elsewhere = {("blocks", "announced_by"): "of the list `announced`: what other zones said, and here none has", ("zones", "also_claimed_by"): "of a zone that two schedulers claim, and here none is"}
        for program, words, _, noun in self.LISTS:
            titles = next(csv.reader(io.StringIO(self.good(program, *words, "-o", "csv"))))
            refusal = self.refused(program, *words, "--columns", "nothing_of_that_kind")
            for key, found in keys_in_json(titles, refusal, json.loads(self.good(program, *words, "--json")), noun).items():
                with self.subTest(program=program, list=words, column=key):
                    self.assertTrue(found or (noun, key) in elsewhere, "in no item")

    def test_wide_has_more_or_help_says_that_it_has_not(self):
        for program, words, _, _ in self.LISTS:
            with self.subTest(words):
                help_text = self.run_program(program, *words, "--help").stdout
                table, wide = (self.good(program, *words, "-o", form).splitlines() for form in ("table", "wide"))
                head = [line for line in table if line.isupper()]
                wide_head = [line for line in wide if line.isupper()]
                promised = re.search(r"-o wide has (?:also (\S+)|no more than a table)", help_text).group(1)
                if words == ("peer", "list"):
                    self.assertEqual(promised, "parts_now,seconds_now,since,changed,by,reason")
                for name in (promised or "").split(",") if words[-1] != "--zones" else ("last_heard", "leased_until"):
                    if name:
                        self.assertIn(name.upper().replace("_", " "), wide_head[0])
                if not promised:
                    self.assertEqual([re.split("  +", line) for line in head[:1]], [re.split("  +", line) for line in wide_head[:1]])

    def test_a_record_of_decisions_begins_where_it_is_asked_to(self):
        for program in ("zbs-zone", "zbs-registry"):
            with self.subTest(program):
                records = json.loads(self.good(program, "audit", "list", "--limit", "1000", "--json"))["records"]
                middle = records[len(records) // 2]["at_us"]
                instant = datetime.datetime.fromtimestamp(middle // 1_000_000 + 1, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                later = [record["number"] for record in records if record["at_us"] >= (middle // 1_000_000 + 1) * 1_000_000]
                found = [record["number"] for record in json.loads(self.good(program, "audit", "list", "--limit", "1000", "--json", "--since", instant))["records"]]
                self.assertEqual(found[:len(later)], later)
                self.assertEqual(found, sorted(found))
                whole = self.good(program, "audit", "list", "--limit", "2", "--since", "300d", "-o", "name").split()
                self.assertEqual(whole, ["1", "2"])
                self.assertEqual(len(self.good(program, "audit", "list", "--limit", "2", "--no-header").splitlines()), 2)
                self.assertIn("--since: 'soon' is no time", self.refused(program, "audit", "list", "--since", "soon"))

    def test_bad_choices_name_place_and_remedy_and_print_nothing(self):
        for program, words, first, _ in self.LISTS:
            with self.subTest(words):
                name = first.lower()
                self.assertRegex(self.refused(program, *words, "--columns", name[:-1]), f"--columns: there is no column '{name[:-1]}'; did you mean '{name}'")
                self.assertIn("--filter: 'x' is no filter; write column=value", self.refused(program, *words, "--filter", "x"))
                self.assertIn("--output: there is no format 'tabel'; did you mean 'table'?", self.refused(program, *words, "-o", "tabel"))
                self.assertIn("--json: contradicts -o csv; give one of them", self.refused(program, *words, "-o", "csv", "--json"))
                self.assertIn("ZBS_OUTPUT: there is no format 'tabel'; did you mean 'table'?", self.refused(program, *words, ZBS_OUTPUT="tabel"))
        for program, words in (("zbs-zone", ("peer", "show", "org-b")), ("zbs-zone", ("audit", "verify")), ("zbs-registry", ("audit", "verify")), ("zbs-node", ("describe",)), ("zbs-zone", ("config", "check")),
                               ("zbs-zone", ("peer", "suspend", "org-b"))):
            with self.subTest(words):
                self.assertIn("--output: csv is for lists; this command prints table, wide, json or jsonl", self.refused(program, *words, "-o", "csv"))
        self.assertNotIn("suspended", self.good("zbs-zone", "peer", "list"), "before anything is done")

    def test_one_document_is_a_text_or_json(self):
        for program, words, text, member in (("zbs-zone", ("peer", "show", "org-b"), "trust", "peerings"), ("zbs-zone", ("audit", "verify"), "good: ", "entries"),
                                             ("zbs-registry", ("audit", "verify"), "good: ", "entries"), ("zbs-node", ("describe",), "processors  ", "description"),
                                             ("zbs-zone", ("peer", "resume", "org-b"), "trust", "peerings")):
            with self.subTest(words):
                self.assertIn(text, self.good(program, *words, "-o", "table"))
                self.assertIn(member, self.read(self.good(program, *words, "-o", "json")))
                self.assertIn(member, self.read(self.good(program, *words, ZBS_OUTPUT="jsonl")))

    def test_a_trace_is_on_record_in_every_zone(self):
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        until(lambda: len(self.good("zbs-zone", "peer", "list", "--zones", "--filter", "outbound=accepted", "-o", "name").split()) == 2, DEADLINE_S, "not all zones accept")
        job = {"ranks": 12, "argv": ["/bin/true"], "directory": "/tmp", "environment": {}, "walltime_s": 60}
        client = self.f.open("a", self.f.user("a", "ana"))
        self.addCleanup(client.close)
        client.connection.request("POST", "/v1/applications", json.dumps(job), {"Content-Type": "application/json", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        self.assertEqual(client.connection.getresponse().status, 202)
        for zone in "abc":
            asked = ("audit", "list", "--limit", "1000", "--filter", f"detail~trace {trace}", "--columns", "action", "-o", "name")
            action = "scheduleApplication" if zone == "a" else "scheduleCluster"
            until(lambda: action in self.f.operate(zone, *asked).split(), DEADLINE_S, f"zone {zone} does not know it")

    def test_a_word_that_is_no_name_reaches_no_other_organisation(self):
        peers = ("peer", "list", "--filter", "organisation=org-b", "--columns", "organisation,state,reason")
        before = self.good("zbs-zone", *peers)
        for name in ("org-b?x", "org%2db", "org-b#x", "org-b/", "./org-b", "org-c/../org-b", "../peerings/org-b", "a b", "\u00e9", ""):
            for words in (("suspend", name, "--reason", "t"), ("show", name), ("remove", name)):
                with self.subTest(words):
                    self.assertRegex(self.refused("zbs-zone", "peer", *words), r"ORGANISATION: '.*' is no name of an organisation: 1 to 64 of a-z 0-9 \. _ -, first a letter or digit")
            self.assertEqual(self.good("zbs-zone", *peers), before)

    NO_NAMES = (("zbs-zone", ("user", "add", "a b"), "NAME: 'a b' is no name of a user"), ("zbs-zone", ("user", "add", "ana", "--group", "a b"), "--group: 'a b' is no name of a group"),
                ("zbs-zone", ("user", "revoke", "a b"), "NAME: 'a b' is no name of a user"), ("zbs-zone", ("block", ""), "SUBJECT: '' is no subject; give an organisation's name, or spiffe://"),
                ("zbs-zone", ("unblock", "org-b?x"), "SUBJECT: 'org-b?x' is no subject"), ("zbs-zone", ("node", "add", "a b", "--out", "x"), "NAME: 'a b' is no name of a node"),
                ("zbs-zone", ("operator", "--name", "a b"), "--name: 'a b' is no name of an operator"), ("zbs-zone", ("init", "--operator", "a b"), "--operator: 'a b' is no name of an operator"),
                ("zbs-registry", ("init", "--organisation", "a b"), "--organisation: 'a b' is no name of an organisation"), ("zbs-registry", ("init", "--organisation", "a", "--name", "a b"), "--name: 'a b' is no name of a registry"),
                ("zbs-registry", ("operator", "--name", "a b"), "--name: 'a b' is no name of an operator"), ("zbs-registry", ("token", "--for", "a b"), "--for: 'a b' is no name of an organisation"),
                ("zbs-zone", ("peer", "accept", "org-q", "--fingerprint", "zzz"), "--fingerprint: 'zzz' is no fingerprint; write sha256: and 64 digits of 0-9 a-f"),
                ("zbs-registry", ("zone", "remove", "a?x"), "NAME: 'a?x' is no name of a zone"), ("zbs-registry", ("organisation", "remove", "org-a?x"), "NAME: 'org-a?x' is no name of an organisation"))

    def test_a_word_that_is_no_name_is_told_by_its_argument(self):
        for program, words, message in self.NO_NAMES:
            with self.subTest(words):
                self.assertIn(message, self.refused(program, *words))

    def test_a_refusal_is_a_problem_for_programs(self):
        for program, words, code in (("zbs-zone", ("peer", "show", "nobody", "--json"), 3), ("zbs-zone", ("audit", "verify", "--head", "1:" + "0" * 64, "--json"), 1), ("zbs-registry", ("audit", "verify", "--head", "1:" + "0" * 64, "--json"), 1)):
            with self.subTest(words):
                done = self.run_program(program, *words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(json.loads(done.stdout)["detail"], done.stderr)


# Golden files of the documents that a command of an operator's program prints; or why it prints nothing of the kind.
COMMANDS = {
    "zbs-zone": {
        "run": "stays, and prints its address", "completion": "a script of a shell", "failpoints": ["failpoints"], "doctor": ["doctor"], "match": ["match"], "replay": ["replay", "replay_difference"], "config check": ["config_check"], "config show": ["config_show"],
        "init": ["init"], "renew": ["renew"], "operator": ["operator"], "enrol": ["enrol"], "ready": ["ready"], "node add": ["node_add"],
        "user add": ["user_add"], "user list": ["user_list"], "user revoke": ["user_revoke", "user_revoke_unknown"],
        "block": ["block"], "unblock": ["unblock"], "blocks": ["blocks", "blocks_chosen"], "audit list": ["audit_list"], "audit verify": ["audit_verify"],
        "drain": ["drain"], "undrain": ["drain"], "backup": ["backup"], "restore": ["restore", "restore_database"], "database move": ["database_move"],
        "peer list": ["peer_list"], "peer show": ["peer_show"], "peer remove": ["peer_remove"], "peer accept": ["peer_show"], "peer set": ["peer_show"],
        "peer reject": ["peer_show"], "peer suspend": ["peer_show"], "peer resume": ["peer_show"], "peer request": ["peer_show"]},
    "zbs-registry": {
        "run": "stays, and prints its address", "completion": "a script of a shell", "init": ["init"], "operator": ["operator"], "renew": ["renew"], "token": ["token"],
        "list": ["list"], "ready": ["ready"], "zone list": ["zone_list"], "zone remove": ["zone_remove"], "organisation list": ["organisation_list"],
        "organisation remove": ["organisation_remove"], "audit list": ["audit_list"], "audit verify": ["audit_verify"], "backup": ["backup"], "restore": ["restore"]},
    "zbs-node": {"run": "stays, and prints its address", "completion": "a script of a shell", "describe": ["describe"], "ready": ["ready"], "config check": ["config_check"], "config show": ["config_show"]}}

NODE = """name = "node-1"
zone = "{zone}"
zone_name = "a"
state = "{folder}/node"
identity = "{folder}/node-1"
listen = "127.0.0.1:{port}"
run_as = "self"
"""


class Acts(Programs):
    """The documents of commands that change something, one after the other."""

    def document(self, program, *words):
        done = self.run_program(program, *words, "-o", "json")
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return self.read(done.stdout)

    def keeps(self, program, name, *words):
        answer = self.document(program, *words)
        self.keeps_its_shape(program.replace("-", "_") + "_" + name, answer)
        return answer

    def zone(self, name, *words):
        return self.keeps("zbs-zone", name, *words)

    def registry(self, name, *words):
        return self.keeps("zbs-registry", name, *words)

    def copy(self, service, folder):
        """The keys of a service in a state folder where nothing runs."""
        state = self.f.state / folder
        (state / "identity").parent.mkdir(mode=0o700)
        shutil.copytree(self.f.state / service / "identity", state / "identity")
        return state

    def config(self, name, change):
        path = self.f.state / f"{name}.toml"
        path.write_text(change((self.f.state / "a.toml").read_text()))
        return path

    def test_users_blocks_and_drain(self):
        token = self.zone("user_add", "user", "add", "eli", "--group", "physics")["token"]
        self.assertTrue(token.startswith("zbs-login-1+eli+"))
        self.assertEqual(self.zone("user_revoke", "user", "revoke", "eli")["standing"], "revoked")
        self.assertEqual(self.zone("user_revoke_unknown", "user", "revoke", "nobody")["subject"], "spiffe://org-a/user/nobody")
        self.assertEqual(self.zone("block", "block", "org-x")["known"], False)
        self.assertEqual(self.zone("unblock", "unblock", "org-x")["subject"], "org-x")
        self.assertEqual(self.zone("drain", "drain")["draining"], True)
        self.assertEqual(self.zone("drain", "undrain")["draining"], False)
        self.assertEqual(self.zone("ready", "ready"), {"version": 1, "ready": True, "role": "active"})
        self.assertEqual(self.good("zbs-zone", "drain", ZBS_OUTPUT="jsonl"), '{"version":1,"draining":true}\n')
        self.assertEqual(self.good("zbs-zone", "undrain", ZBS_OUTPUT="csv"), "takes new work again\n", "a format for lists is no order to a command that has none")

    def test_keys_of_a_zone(self):
        config = self.config("new", lambda text: text.replace(f"{self.f.state}/a\"", f"{self.f.state}/new\""))
        where = ("--config", config)
        made = self.zone("init", "init", *where)
        self.assertRegex(made["fingerprint"], "sha256:[0-9a-f]{64}$")
        self.assertEqual((made["imported"], made["can_issue"], made["has_operator"]), (False, True, True))
        again = self.run_program("zbs-zone", "init", "-o", "json", *where)
        self.assertEqual((again.returncode, json.loads(again.stdout)["code"]), (8, "conflict"))
        self.zone("operator", "operator", *where)
        self.zone("renew", "renew", "--certificate", self.f.state / "new/identity/certificate.pem", *where)
        token = self.registry("token", "token", "--for", "org-a")["token"]
        self.assertTrue(token.startswith("zbs-enrol-1+"))
        self.assertTrue(self.zone("enrol", "enrol", token, *where)["registry"].startswith("spiffe://grid/registry/"))

    def test_an_agent(self):
        folder = self.f.state / "agent"
        folder.mkdir()
        made = self.zone("node_add", "node", "add", "node-1", "--out", folder / "node-1")
        self.assertEqual((made["name"], made["zone"]), ("spiffe://org-a/node/node-1", "a"))
        port = free_port()
        (folder / "node.toml").write_text(NODE.format(zone=self.f.zone_url("a"), folder=folder, port=port))
        where = ("--config", folder / "node.toml")
        away = self.run_program("zbs-node", "ready", "-o", "json", *where)
        self.assertEqual((away.returncode, json.loads(away.stdout)["code"]), (1, "unavailable"))
        agent = subprocess.Popen([BIN / "zbs-node", "run", *where], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertIn("listening on", agent.stdout.readline())
            self.assertEqual(self.keeps("zbs-node", "ready", "ready", *where), {"version": 1, "ready": True})
            self.assertEqual(self.good("zbs-node", "ready", *where), "")
        finally:
            agent.terminate()
            agent.wait(DEADLINE_S)
            agent.stdout.close()

    def test_backups(self):
        backup = self.f.state / "zone.backup"
        self.assertEqual(self.zone("backup", "backup", backup)["service"], "spiffe://org-a/zone/a")
        self.copy("a", "restored")
        config = self.config("restored", lambda text: text.replace(f"{self.f.state}/a\"", f"{self.f.state}/restored\""))
        restored = self.zone("restore", "restore", backup, "--config", config)
        self.assertEqual((restored["backup"]["service"], restored["audit_log"], restored["steps_put_aside"]), ("spiffe://org-a/zone/a", "of_the_backup", 0))
        if missing():
            print(missing())
        else:
            with PostgresServer() as server:
                config.write_text(config.read_text() + f'\n[database]\nurl = "{server.url}"\n')
                moved = self.zone("database_move", "database", "move", "--config", config)
                self.assertIn("application", [table["table"] for table in moved["tables"]])
                self.zone("restore_database", "restore", "--database-restored", "--config", config)
        registry = self.f.state / "registry.backup"
        self.registry("backup", "backup", registry)
        self.copy("registry", "restored-registry")
        self.registry("restore", "restore", registry, "--state", self.f.state / "restored-registry")

    def test_registry(self):
        state = ("--state", self.f.state / "other-registry")
        self.assertEqual(self.registry("init", "init", "--organisation", "grid", *state)["name"], "spiffe://grid/registry/registry")
        self.registry("operator", "operator", *state)
        self.registry("renew", "renew", "--certificate", self.f.state / "other-registry/identity/certificate.pem", *state)
        self.registry("ready", "ready")

    def test_what_is_taken_out(self):
        until(lambda: len(self.document("zbs-registry", "list")["zones"]) == 3, DEADLINE_S, "not all zones are enrolled")
        self.assertEqual(self.registry("zone_remove", "zone", "remove", "c")["zones"], ["c"])
        self.assertEqual(self.registry("organisation_remove", "organisation", "remove", "org-c")["zones"], [])
        self.assertEqual(self.zone("peer_remove", "peer", "remove", "org-c")["organisation"], "org-c")

    def test_each_has_golden_files_or_a_reason(self):
        for program, commands in COMMANDS.items():
            with self.subTest(program):
                pages = self.f.state / f"pages-{program}"
                subprocess.run([BIN / program, "pages", pages], check=True, timeout=DEADLINE_S)
                names = {path.stem for path in (pages / "man").iterdir()}
                commands_of_help = {name for name in names if not any(other.startswith(name + "-") for other in names)}
                self.assertEqual(commands_of_help, {f"{program}-{name.replace(' ', '-')}" for name in commands})
                prefix = program.replace("-", "_") + "_"
                self.assertEqual({path.stem for path in GOLDEN.glob(prefix + "*.json")}, {prefix + file for files in commands.values() if isinstance(files, list) for file in files})

    def test_what_was_not_understood_is_a_problem_for_programs(self):
        for program, words in (("zbs-zone", ("drian", "-o", "json")), ("zbs-zone", ("user", "add", "--json")), ("zbs-registry", ("token", "-ojson", "--hour", "3")), ("zbs-node", ("raedy", "--output=jsonl"))):
            with self.subTest(words):
                done = self.run_program(program, *words)
                self.assertEqual((done.returncode, json.loads(done.stdout)["code"]), (2, "invalid_argument"), done.stderr)
                self.assertIn(json.loads(done.stdout)["detail"], done.stderr)

    def test_faults_are_problems_for_programs(self):
        exits = {"unavailable": 5, "conflict": 8, "not_found": 3, "invalid_argument": 2, "denied": 4}  # as of zbs
        stolen = self.f.state / "stolen"
        shutil.copytree(self.f.state / "registry", stolen)
        (stolen / "identity/operator/key.pem").chmod(0o644)
        self.addCleanup(shutil.rmtree, stolen)
        for program, words, code in (("zbs-zone", ("backup", "/nowhere/at/all", "--json"), "unavailable"), ("zbs-zone", ("node", "add", "n", "--out", self.f.folder, "--json"), "conflict"),
                                     ("zbs-zone", ("peer", "remove", "nobody", "--json"), "not_found"), ("zbs-registry", ("zone", "remove", "nobody", "--json"), "not_found"),
                                     ("zbs-zone", ("enrol", "x", "--json"), "invalid_argument"), ("zbs-registry", ("restore", "/nowhere", "--json"), "conflict"),
                                     ("zbs-registry", ("list", "--json", "--state", stolen), "denied"), ("zbs-registry", ("list", "--json", "--state", "/nowhere"), "unavailable")):
            with self.subTest(words):
                done = self.run_program(program, *words)
                self.assertEqual((done.returncode, json.loads(done.stdout)["code"]), (exits[code], code), done.stderr)
                self.assertIn(json.loads(done.stdout)["detail"].split(": ", 1)[-1], done.stderr)

    def test_the_place_of_a_fault_that_the_service_tells_is_told_to_programs_and_people(self):
        other = "sha256:" + "0" * 64
        for words, place, code, text in ((("block", "org-a"), "SUBJECT", 8, "a zone cannot block itself"), (("peer", "suspend", "org-q"), "ORGANISATION", 3, "has not asked to be accepted"),
                                         (("peer", "suspend", "org-b", "--fingerprint", other), "--fingerprint", 3, "has this fingerprint"),
                                         (("peer", "request", "org-z"), "ORGANISATION", 3, "the registry shows no zone of 'org-z'; give its bundle"),
                                         (("peer", "request", "org-z", "--fingerprint", other), "--fingerprint", 3, "the registry shows no zone of 'org-z' with a bundle of this fingerprint"),
                                         (("peer", "set", "org-b", "--partitions", "a b"), "--partitions", 2, "must be 1 to 64")):
            with self.subTest(words):
                done = self.run_program("zbs-zone", *words, "--json")
                answer = json.loads(done.stdout)
                self.assertEqual((done.returncode, [one["pointer"] for one in answer["errors"]]), (code, [place]), done.stderr)
                self.assertIn(text, answer["detail"])
                self.assertEqual(answer["detail"], f"at {place}: " + answer["errors"][0]["detail"])
                self.assertEqual(done.stderr, f"zbs-zone: {place}: {answer['errors'][0]['detail']}\n")

    def test_whose_folder_is_asked_before_anything_is_done(self):
        for program, words, variable in (("zbs-zone", ("drain",), "ZBS_ZONE_CONFIG"), ("zbs-zone", ("init",), "ZBS_ZONE_CONFIG"), ("zbs-registry", ("init", "--organisation", "x"), "ZBS_REGISTRY_STATE"),
                                         ("zbs-registry", ("token",), "ZBS_REGISTRY_STATE")):
            with self.subTest(words):
                done = subprocess.run([BIN / program, *words], capture_output=True, text=True, timeout=DEADLINE_S)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
                self.assertIn(variable, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
