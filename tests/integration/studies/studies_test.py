"""`zbs-studies claims` from the outside: the quick report, its forms, and bad input.

usage: studies_test.py ZBS_STUDIES SOURCE_DIR
"""
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

STUDIES, SOURCE = sys.argv[1:3]
SOURCES = {"Prabhakar2003", "ShmueliFeitelson2005", "DaSilva2000", "Huang2004", "Turner1995"}


def claims_of(*arguments, folder=None):
    return subprocess.run([STUDIES, "claims", *arguments], cwd=folder, capture_output=True, text=True, timeout=220)


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.rows, self.foreign = set(), 0, []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.rows += tag == "tr" and "id" in attributes
        if tag == "a":
            self.links.add(attributes["href"])
        if tag in ("script", "img", "link", "iframe"):
            self.foreign.append(tag)


class ReportClaims(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.json = claims_of("--quick", "--json", "--details", "--directory", "all", folder=cls.folder.name)

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def claims(self):
        self.assertEqual(self.json.returncode, 0, self.json.stderr)
        return json.loads(self.json.stdout)["claims"]

    def test_every_source_is_judged_and_every_claim_is_whole(self):
        claims = self.claims()
        self.assertEqual({claim["source"].split(",")[0].split(" ")[0] for claim in claims}, SOURCES)
        self.assertEqual(len({claim["id"] for claim in claims}), len(claims), "an id is given twice")
        for claim in claims:
            for key in ("id", "source", "claim", "published", "ours", "spread", "test"):
                self.assertTrue(claim[key].strip(), claim)
            self.assertTrue(claim["remark"], claim["id"])

    def test_quick_runs_are_marked_and_give_no_verdict(self):
        self.assertIs(json.loads(self.json.stdout)["quick"], True)
        for claim in self.claims():
            self.assertIs(claim["quick"], True)
            self.assertEqual(claim["verdict"], "not testable", claim["id"])
        with open(self.path("all", "Turner1995", "claims.md")) as page:
            self.assertIn("A quick run", page.read())

    def test_a_whole_run_judges_and_shows_the_checks_of_reasons(self):
        done = claims_of("--seeds", "2", "--length", "0.05", "--source", "Turner1995", "--json", "--details")
        self.assertEqual(done.returncode, 1, "elmer-21f fails")
        document = json.loads(done.stdout)
        self.assertNotIn("quick", document)
        claims = {claim["id"]: claim for claim in document["claims"]}
        self.assertEqual(claims["elmer-21f"]["verdict"], "fails")
        self.assertEqual(claims["elmer-21b"]["verdict"], "input")
        self.assertEqual(claims["elmer-23a"]["verdict"], "gap")
        for claim in claims.values():
            self.assertNotIn("quick", claim)
            self.assertEqual("reason_test" in claim and claim["reason_test"]["passes"], claim["verdict"] in ("gap", "contested"))

    def test_no_number_is_nan(self):
        pattern = re.compile(r"(?<![A-Za-z])-?(nan|inf)(?![A-Za-z])")
        self.assertIsNone(pattern.search(self.json.stdout))
        for folder, _, names in os.walk(self.path("all")):
            for name in names:
                with open(os.path.join(folder, name)) as text:
                    self.assertIsNone(pattern.search(text.read()), name)

    def test_every_claim_names_a_test_that_exists(self):
        for claim in self.claims():
            for test in [claim["test"], *([claim["see"]] if "see" in claim else [])]:
                path, name = test.split("#")
                with open(os.path.join(SOURCE, path)) as text:
                    suite, case = name.split(".")
                    self.assertRegex(re.sub(r"\s+", " ", text.read()), rf"TEST(_F|_P)?\( ?{suite}, {case} ?\)", claim["id"])

    def test_progress_tells_every_study(self):
        studies = json.loads(claims_of("--list", "--json").stdout)["studies"]
        self.assertEqual({study["source"] for study in studies}, SOURCES)
        for number in range(1, len(studies) + 1):
            self.assertIn(f"[{number}/{len(studies)}]", self.json.stderr)

    def test_directory_holds_a_page_and_files_for_each_source(self):
        for source in SOURCES:
            with open(self.path("all", source, "claims.md")) as page:
                text = page.read()
            self.assertIn("| id | source |", text)
            for name in re.findall(r"^- \[(.*?)\]", text, re.M):
                self.assertTrue(os.path.getsize(self.path("all", source, name)) > 0, name)

    def test_page_shows_all_and_needs_nothing_from_elsewhere(self):
        done = claims_of("--quick", "--source", "ShmueliFeitelson2005,Turner1995", "--html", "page.html", "--root", "https://example.org/zbs",
                   folder=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page.html")) as page:
            text = page.read()
        links = Links()
        links.feed(text)
        shown = [claim for claim in self.claims() if claim["source"].startswith(("Shmueli", "Turner"))]
        self.assertEqual(links.rows, len(shown))
        for claim in shown:
            self.assertIn(f'id="{claim["id"]}"', text)
            self.assertIn("https://example.org/zbs/" + claim["test"].split("#")[0], links.links)
        self.assertEqual(links.foreign, [])
        self.assertIn("<svg", text)

    def test_one_study_can_be_chosen(self):
        done = claims_of("--quick", "--study", "SCOJO: worked example", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({claim["id"].split("-")[0] for claim in json.loads(done.stdout)["claims"]}, {"scojo"})
        self.assertIn("[1/1]", done.stderr)

    def test_equal_runs_give_equal_reports(self):
        keys = ["id", "source", "claim", "published", "ours", "spread", "verdict", "test", "quick"]
        again = [claims_of("--quick", "--source", "Huang2004", "--json", "--threads", threads).stdout for threads in ("1", "2")]
        self.assertEqual(again[0], again[1])
        self.assertEqual(list(json.loads(again[0])), ["version", "quick", "claims"])
        for claim in json.loads(again[0])["claims"]:
            self.assertEqual(list(claim), keys)

    def test_other_forms_tell_the_same(self):
        whole = json.loads(claims_of("--quick", "--source", "ShmueliFeitelson2005", "--json").stdout)["claims"]
        lines = claims_of("--quick", "--source", "ShmueliFeitelson2005", "-o", "jsonl").stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines], whole)
        done = claims_of("--quick", "--source", "ShmueliFeitelson2005", "--json", "--html", "beside.html", folder=self.folder.name)
        self.assertEqual(json.loads(done.stdout)["claims"], whole)
        self.assertTrue(os.path.getsize(self.path("beside.html")) > 0)

    def test_bad_input_names_place_and_remedy(self):
        for arguments, words in ((("--source", "Turner1996"), ("--source", "Turner1995")), (("--seeds", "1"), ("--seeds", "2")),
                                 (("--study", "SCOJO: worked examples"), ("--study", "SCOJO: worked example'")),
                                 (("--quick", "--seeds", "5"), ("--quick", "--seeds")), (("--length", "0"), ("--length",)),
                                 (("--quick", "--source", "ShmueliFeitelson2005", "--html", "/nowhere/page.html"), ("/nowhere",))):
            done = claims_of(*arguments, folder=self.folder.name)
            self.assertNotEqual(done.returncode, 0, arguments)
            for word in words:
                self.assertIn(word, done.stderr, arguments)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
