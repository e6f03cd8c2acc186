"""What the programs of operators print: every list in every format, chosen and ordered as with `zbs`; for programs one object with its version, whose keys and types are
those of tests/golden/cli.

usage: operator_json_test.py BIN SOURCE_DIR      (ZBS_WRITE_GOLDEN=1 writes the golden files anew)
"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import unittest

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trust"), str(HERE.parent / "federation")]

import federation  # noqa: E402
from federation import until  # noqa: E402
from live import DEADLINE_S, Live  # noqa: E402
from shapes import shape  # noqa: E402

federation.BIN = str(BIN)
GOLDEN = SOURCE / "tests/golden/cli"


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.f.tell("a", "user", "add", "bo", "--group", "physics")
        cls.f.tell("a", "block", "spiffe://org-b/user/eve", "--reason", "lost key")

    def run_program(self, program, *words, **environment):
        where = {"zbs-zone": ("--config", self.f.state / "a.toml"), "zbs-registry": ("--state", self.f.state / "registry"), "zbs-node": ()}[program]
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
        return str(path)

    def registry(self, *words):
        return self.good("zbs-registry", *words, "--json")

    def read(self, text):
        """With its version in front, and as one line."""
        self.assertEqual(text.count("\n"), 1)
        told = json.loads(text)
        self.assertEqual(next(iter(told.items())), ("version", 1))
        return told

    def test_documents_keep_their_shape(self):
        until(lambda: len(json.loads(self.registry("list"))["zones"]) == 3, DEADLINE_S, "not all zones are enrolled")
        users = self.read(self.f.tell("a", "user", "list", "--json"))
        users["users"] = [user for user in users["users"] if user["name"] == "bo"]
        found = {"zbs_zone_user_list": users, "zbs_zone_blocks": self.read(self.f.tell("a", "blocks", "--json")),
                 "zbs_zone_doctor": self.read(self.f.zone("a", "doctor", "--json").stdout), "zbs_registry_list": self.read(self.registry("list")), "zbs_registry_zone_list": self.read(self.registry("zone", "list")),
                 "zbs_registry_organisation_list": self.read(self.registry("organisation", "list")), "zbs_registry_audit_list": self.read(self.registry("audit", "list")),
                 "zbs_registry_audit_verify": self.read(self.registry("audit", "verify")), "zbs_node_describe": self.read(self.good("zbs-node", "describe")),
                 "zbs_zone_failpoints": self.read(self.good("zbs-zone", "failpoints", "--json")), "zbs_zone_config_show": self.read(self.good("zbs-zone", "config", "show", "--json")), "zbs_zone_config_check": self.read(self.good("zbs-zone", "config", "check", "--json")),
                 "zbs_node_config_show": self.read(self.good("zbs-node", "config", "show", "--json", ZBS_NODE_CONFIG=self.node_file())),
                 "zbs_node_config_check": self.read(self.good("zbs-node", "config", "check", "--json", ZBS_NODE_CONFIG=self.node_file())),
                 "zbs_zone_blocks_chosen": self.read(self.good("zbs-zone", "blocks", "--json", "--columns", "subject,since,told_by"))}
        for name in ("audit list", "audit verify", "peer list", "peer show org-b"):
            found["zbs_zone_" + "_".join(name.split()[:2])] = self.read(self.f.tell("a", *name.split(), "--json"))
        for name, told in found.items():
            with self.subTest(name):
                path = GOLDEN / (name + ".json")
                if os.environ.get("ZBS_WRITE_GOLDEN"):
                    path.write_text(json.dumps(shape(told), indent=1, sort_keys=True) + "\n")
                self.assertEqual(shape(told), json.loads(path.read_text()), "if this is meant, write the files anew with ZBS_WRITE_GOLDEN=1")

    def test_each_has_its_version_and_what_its_table_has(self):
        for words, key, told in ((("user", "list"), "users", "bo"), (("blocks",), "blocks", "spiffe://org-b/user/eve"), (("peer", "list"), "peerings", "org-b"), (("peer", "show", "org-b"), "peerings", "org-b"),
                                 (("audit", "list"), "records", "spiffe://org-b/user/eve")):
            with self.subTest(words):
                self.assertIn(told, self.f.tell("a", *words))
                self.assertIn(told, json.dumps(self.read(self.f.tell("a", *words, "--json"))[key]))
        described = self.read(self.good("zbs-node", "describe"))
        self.assertEqual(set(described), {"version", "description", "load"})

    LISTS = (("zbs-zone", ("user", "list"), "NAME", "users"), ("zbs-zone", ("blocks",), "SUBJECT", "blocks"), ("zbs-zone", ("peer", "list"), "ORGANISATION", "peerings"),
             ("zbs-zone", ("peer", "list", "--zones"), "ZONE", "peers"), ("zbs-zone", ("audit", "list"), "NUMBER", "records"), ("zbs-zone", ("failpoints",), "NAME", "failpoints"), ("zbs-zone", ("config", "show"), "SETTING", "settings"),
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
                few = ("--filter", f"{column}={rows[-1]}", "--columns", column)  # audit and doctor tell more each time
                self.assertEqual(self.good(program, *words, *few, "-o", "name"), rows[-1] + "\n")
                self.assertEqual(self.good(program, *words, *few), f"{first}\n{rows[-1]}\n")
                self.assertEqual(self.good(program, *words, *few, "-o", "wide"), f"{first}\n{rows[-1]}\n")
                self.assertTrue(self.good(program, *words, *few, "-o", "yaml").startswith(f"version: 1\n{key}:\n  - {column}: "))
                item = json.loads(self.good(program, *words, *few, "-o", "jsonl"))
                self.assertEqual({column: str(item[column])}, {column: rows[-1]})
                self.assertEqual(json.loads(self.good(program, *words, *few, "-o", "json")), {"version": 1, key: [item]})
                number = column == "number"
                backwards = self.good(program, *words, "--sort", "-" + column, "-o", "name").splitlines()
                self.assertEqual(backwards, sorted(backwards, key=(lambda row: int(row)) if number else None, reverse=True))
                self.assertIn(key, json.loads(self.good(program, *words, "-o", "json")))
                self.assertTrue(self.good(program, *words).count("\n") >= len(rows))

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
                self.assertIn("--output: csv is for lists; this command prints table, wide, json, jsonl or yaml", self.refused(program, *words, "-o", "csv"))
                self.assertIn("ZBS_OUTPUT: csv is for lists", self.refused(program, *words, ZBS_OUTPUT="csv"))
        self.assertNotIn("suspended", self.good("zbs-zone", "peer", "list"), "before anything is done")

    def test_one_document_is_a_text_json_or_yaml(self):
        for program, words, text, member in (("zbs-zone", ("peer", "show", "org-b"), "trust", "peerings"), ("zbs-zone", ("audit", "verify"), "good: ", "entries"),
                                             ("zbs-registry", ("audit", "verify"), "good: ", "entries"), ("zbs-node", ("describe",), "processors  ", "description"),
                                             ("zbs-zone", ("peer", "resume", "org-b"), "trust", "peerings")):
            with self.subTest(words):
                self.assertIn(text, self.good(program, *words, "-o", "table"))
                self.assertIn(member, self.read(self.good(program, *words, "-o", "json")))
                self.assertIn(member, self.read(self.good(program, *words, ZBS_OUTPUT="jsonl")))
                self.assertRegex(self.good(program, *words, "-o", "yaml"), rf"(?m)\Aversion: 1\n(.*\n)*{member}:")

    def test_a_trace_is_on_record_in_every_zone(self):
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        until(lambda: len(self.good("zbs-zone", "peer", "list", "--zones", "--filter", "they_accept_us=accepted", "-o", "name").split()) == 2, DEADLINE_S, "not all zones accept")
        job = {"id": "01J9Z3V7Q10000000000000001", "ranks": 12, "argv": ["/bin/true"], "directory": "/tmp", "environment": {}, "walltime_s": 60}
        client = self.f.open("a", self.f.user("a", "ana"))
        self.addCleanup(client.close)
        client.connection.request("POST", "/v1/applications", json.dumps(job), {"Content-Type": "application/json", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        self.assertEqual(client.connection.getresponse().status, 202)
        for zone in "abc":
            asked = ("audit", "list", "--limit", "1000", "--filter", f"detail~trace {trace}", "--columns", "action", "-o", "name")
            until(lambda: "askCapacity" in self.f.tell(zone, *asked).split(), DEADLINE_S, f"zone {zone} does not know it")
        self.assertIn("scheduleApplication", self.f.tell("a", *asked).split())

    def test_a_refusal_is_a_problem_for_programs(self):
        for program, words in (("zbs-zone", ("peer", "show", "nobody", "--json")), ("zbs-zone", ("audit", "verify", "--head", "1:" + "0" * 64, "--json")), ("zbs-registry", ("audit", "verify", "--head", "1:" + "0" * 64, "--json"))):
            with self.subTest(words):
                done = self.run_program(program, *words)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(json.loads(done.stdout)["detail"], done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
