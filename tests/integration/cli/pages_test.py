"""Man pages and completions that the programs write of themselves: read by groff, and completed in real shells.

usage: pages_test.py BIN SOURCE_FOLDER

ZBS_WRITE_GOLDEN=1 writes docs/commands.md anew.
"""
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

PROGRAMS = pathlib.Path(sys.argv[1])
COMMANDS = pathlib.Path(sys.argv[2]) / "docs/commands.md"
NAMES = {"zbs": 1, "zbs-zone": 8, "zbs-registry": 8, "zbs-node": 8}


ONE, TWO = "01JJJJJJJJJJJJJJJJJJJJJJJJ", "01JJJJJJJJJJJJJJJJJJJJJJJK"
STATES = ["accepted", "planned", "held", "committed", "launching", "running", "completed", "failed", "cancelled", "rejected"]


class Zone(http.server.ThreadingHTTPServer):
    """A home zone with an application that runs and one that has ended, and a neighbour who would like to run something in the shell."""
    ANSWERS = {"/v1/applications": {"applications": [{"id": ONE, "state": "running"}, {"id": TWO, "state": "completed"}]}, "/v1/profiles": {"profiles": [{"id": TWO}]},
               "/v1/peerings": {"peers": [{"zone": "y", "organisation": "org-b"}, {"zone": "$(touch evaluated)", "organisation": "`touch evaluated`"}, {"zone": "--token", "organisation": "-o"}]}, "/v1/nodes": {"zone": "x", "nodes": []}}

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        answer = Zone.ANSWERS[path]
        if "state=" in query:
            wanted = urllib.parse.parse_qs(query)["state"][0].split(",")
            answer = {"applications": [row for row in answer["applications"] if row["state"] in wanted]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return done.stdout


@functools.cache
def commands_of(program, path=()):
    """Every command that --help lists, as tuples of words."""
    text = output_of(PROGRAMS / program, *path, "--help")
    found = [path]
    listed = re.search(r"^Subcommands:\n((?:  .*\n|\n)+)", text, re.M)
    for line in (listed.group(1) if listed else "").splitlines():
        if word := re.match(r"  (\S+)", line):
            found += commands_of(program, (*path, word.group(1)))
    return found


class WithPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for program in NAMES:
            output_of(PROGRAMS / program, "pages", cls.folder / program)

    def complete_in_bash(self, *words, program="zbs", **environment):
        """`words` as bash splits them: = and : stand alone. Nothing may come to the terminal."""
        script = f"""source '{self.folder}/{program}/completions/bash/{program}'
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"; _{program.replace("-", "_")}; printf '%s\\n' "${{COMPREPLY[@]}}" """
        env = {name: value for name, value in os.environ.items() if not name.startswith("ZBS_")}
        env |= {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(self.folder)} | environment
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], capture_output=True, text=True, timeout=60, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return [line for line in done.stdout.splitlines() if line]


class Pages(WithPages):
    def test_every_command_of_help_has_its_page(self):
        for program, section in NAMES.items():
            commands = commands_of(program)
            pages = {"-".join((program, *path)) + f".{section}" for path in commands}
            self.assertEqual({path.name for path in (self.folder / program / "man").iterdir()}, pages)
            self.assertGreater(len(pages), 3)
            self.assertNotIn(f"{program}-pages.{section}", pages)

    def test_docs_have_the_help_of_every_command(self):
        page = ["# Commands", "", "The help of every command, as the programs print it. A test compares this page with them."]
        for program in NAMES:
            for path in commands_of(program):
                text = output_of(PROGRAMS / program, *path, "--help").replace(f"{PROGRAMS}/", "")
                lines = [line.rstrip() for line in text.strip().splitlines() if not line.startswith(f"Options of all commands, as '{program} --help'")]
                page += ["", f"## {' '.join((program, *path))}", "", "```text", *lines, "```"]
        text = re.sub(r"\n{2,}```$", "\n```", "\n".join(page) + "\n", flags=re.M)
        if os.environ.get("ZBS_WRITE_GOLDEN"):
            COMMANDS.write_text(text)
        self.assertEqual(COMMANDS.read_text(), text, "ZBS_WRITE_GOLDEN=1 writes the page anew")

    def test_help_of_every_command_says_where_the_options_of_all_are(self):
        format = {("map",): "-o", ("profile",): "--output", ("profile", "plot"): "--output", ("profile", "export"): "--output", ("run",): "--output", ("submit",): "--output"}  # where the other name is that of a file
        format |= {("profile", name): "" for name in ("list", "show", "import")}  # which have their own
        shown = {"zbs": "--credentials --proxy --url --identity --token -o,--output --json", "zbs-zone": "--config", "zbs-node": "--config"}
        for program, options in shown.items():
            for path in commands_of(program)[1:]:
                last = output_of(PROGRAMS / program, *path, "--help").rstrip().splitlines()[-1]
                own = " ".join(options.replace("-o,--output", format.get(path, "-o,--output")).split())
                self.assertEqual(last, f"Options of all commands, as '{program} --help' describes them: {own}", path)
        self.assertNotIn("Options of all commands", output_of(PROGRAMS / "zbs", "--help"))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_reads_every_page_without_a_warning(self):
        for page in sorted(self.folder.glob("*/man/*")):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(page)], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
        text = output_of("groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", self.folder / "zbs/man/zbs-run.1")
        for words in ("--ntasks", "EXAMPLES", "zbs run -n 6 -- ./solver input.dat", "OPTIONS OF ALL COMMANDS"):
            self.assertIn(words, text)

    def test_every_page_has_the_exit_codes_of_the_tutorial(self):
        tutorial = (pathlib.Path(__file__).parents[3] / "docs/tutorial.md").read_text()
        promised = dict(re.findall(r"^\| (\d) \| (.*) \|$", tutorial, re.M))
        self.assertEqual(len(promised), 10)
        for page in sorted(self.folder.glob("*/man/*")):
            section = page.read_text().split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
            found = dict(re.findall(r"\.TP\n\\fB(\d+)\\fR\n(.*)\n", section))
            if page.name.endswith(".1"):
                self.assertEqual(found, promised, page.name)
                self.assertIn("program's own code", section)
            else:
                self.assertEqual({k: v for k, v in found.items() if k != "74"}, promised, page.name)
                self.assertIn("give 1 where it is not", " ".join(section.split()))

    def test_bash_completes_commands_options_and_their_words(self):
        top = self.complete_in_bash("zbs", "")
        self.assertTrue({"run", "list", "zone", "completion"} <= set(top), top)
        self.assertEqual(self.complete_in_bash("zbs", "can"), ["cancel"])
        self.assertEqual(self.complete_in_bash("zbs", "--proxy", "x", "zone", "sh"), ["show"])
        self.assertIn("--ntasks", self.complete_in_bash("zbs", "run", "--"))
        self.assertIn("--credentials", self.complete_in_bash("zbs", "run", "--"))
        self.assertEqual(self.complete_in_bash("zbs", "completion", "b"), ["bash"])
        self.assertEqual(self.complete_in_bash("zbs", "run", "--launcher", "open"), ["openmpi"])
        self.assertEqual(self.complete_in_bash("zbs", "run", "--", "zo"), [], "the user's own program and its words")

    def test_bash_completes_columns_of_the_command_states_and_names(self):
        self.assertEqual(self.complete_in_bash("zbs", "list", "-o", "js"), ["json", "jsonl"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--output", "=", "ta"), ["table"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--output", "="), ["table", "wide", "json", "jsonl", "csv", "name"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--columns", "ra"), ["ranks"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--columns", "id,ra"), ["id,ranks"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--sort", "-sub"), ["-submitted"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--filter", "sta"), ["state=", "started="] + [f"state={state}" for state in STATES])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--filter", "state", "=", "ru"), ["running"])
        self.assertEqual(self.complete_in_bash("zbs", "list", "--filter", "state", "="), STATES)
        self.assertEqual(self.complete_in_bash("zbs", "list", "--state", "running,comp"), ["running,completed"])
        self.assertEqual(self.complete_in_bash("zbs", "zone", "show", "--columns", "sp"), ["speed"], "of this list, not of another")
        self.assertEqual(self.complete_in_bash("zbs", "simulate", "--policy", "adap"), ["adaptive-scojo"])
        self.assertEqual(self.complete_in_bash("zbs", "simulate", "--compare", "fcfs,eas"), ["fcfs,easy"])
        self.assertEqual(self.complete_in_bash("zbs", "map", "--algorithm", "multi"), ["multilevel"])
        self.assertEqual(self.complete_in_bash("zbs", "run", "--mapper", "hi"), ["hier"])
        for program, words, word in (("zbs-zone", ("audit", "list", "--sort", "nu"), "number"), ("zbs-zone", ("drain", "-o", "js"), "json"), ("zbs-registry", ("zone", "list", "--filter", "stan"), "standing="),
                                     ("zbs-zone", ("peer", "list", "--columns", "organisation,tru"), "organisation,trust"), ("zbs-zone", ("doctor", "--columns", "ver"), "verdict")):
            self.assertEqual(self.complete_in_bash(program, *words, program=program)[0], word, words)

    def test_bash_completes_what_the_home_zone_knows(self):
        with Zone() as zone:
            home = {"ZBS_URL": zone.url, "ZBS_TOKEN": "x", "ZBS_IDENTITY": "spiffe://org-a/user/ana"}
            for command in ("show", "explain", "logs", "fetch"):
                self.assertEqual(self.complete_in_bash("zbs", command, "", **home), ["last", "name=", ONE, TWO], command)
            self.assertEqual(self.complete_in_bash("zbs", "show", ONE[:-1] + "J", **home), [ONE])
            for command in ("cancel", "wait"):
                self.assertEqual(self.complete_in_bash("zbs", command, "", **home), ["last", "all", "name=", ONE], "only what has not ended")
            self.assertEqual(self.complete_in_bash("zbs", "run", "--zones", "x,", **home), ["x,y", "x,x"])
            self.assertEqual(self.complete_in_bash("zbs", "peer", "show", "", **home), ["org-b"], "and no word that the shell would evaluate, or the program take for an option")
            self.assertEqual(self.complete_in_bash("zbs", "profile", "show", "01", **home), [TWO])
            where = ("--url", zone.url, "--token", "x", "--identity=spiffe://org-a/user/ana")
            self.assertEqual(self.complete_in_bash("zbs", *where, "show", "0"), [ONE, TWO], "as the options in front say")
            self.assertFalse((self.folder / "evaluated").exists())

    def test_a_zone_that_is_away_offers_nothing_and_is_not_waited_for(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            for home in ({"ZBS_URL": url, "ZBS_TOKEN": "x", "ZBS_IDENTITY": "spiffe://org-a/user/ana"}, {"ZBS_URL": "http://127.0.0.1:1", "ZBS_TOKEN": "x", "ZBS_IDENTITY": "spiffe://org-a/user/ana"},
                         {"ZBS_URL": url, "ZBS_IDENTITY": "nobody"}, {}, {"ZBS_CREDENTIALS": "/nowhere"}):
                self.assertEqual(self.complete_in_bash("zbs", "show", "0", **home), [], home)
            done = subprocess.run([PROGRAMS / "zbs", "--url", url, "--token", "x", "--identity", "spiffe://org-a/user/ana", "complete", "applications"], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_pages_that_cannot_be_written_are_told(self):
        done = subprocess.run([PROGRAMS / "zbs", "pages", "/proc/none"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/none", done.stderr)
        done = subprocess.run([PROGRAMS / "zbs", "completion", "tcsh"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)

    def test_every_program_names_what_it_does_not_know_and_its_version(self):
        for program, words, message in (("zbs-zone", ("usr", "add", "x"), "there is no command 'usr' of zbs-zone; did you mean 'user'?"),
                                     ("zbs-zone", ("user", "ad", "x"), "there is no command 'ad' of 'user'; did you mean 'add'?"),
                                     ("zbs-registry", ("inti",), "there is no command 'inti' of zbs-registry; did you mean 'init'?"),
                                     ("zbs-node", ("--confg", "x"), "there is no option '--confg' of zbs-node; did you mean '--config'?")):
            done = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(f"{program}: {message}\n", done.stderr)
        for program in NAMES:
            self.assertEqual(output_of(PROGRAMS / program, "--version"), f"{program} 0.1.0\n")

    def test_every_program_tells_of_a_full_disk(self):
        for program in NAMES:
            done = subprocess.run(["sh", "-c", 'exec "$0" --help > /dev/full', PROGRAMS / program], stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (1, f"{program}: cannot write standard output: No space left on device\n"))


class FaultsOfCommandLines(WithPages):
    def test_no_fault_of_a_command_line_is_told_in_the_words_of_the_parser(self):
        words = re.compile(r"required (TEXT|INT|FLOAT|UINT)|[Ss]ubcommand|is required|[Nn]ot in (range|\{)|Could not convert|not expected|At [Mm]ost|At least|excludes|requires ")
        seen = 0
        for program, section in NAMES.items():
            for path in commands_of(program):
                page = (self.folder / program / "man" / ("-".join((program, *path)) + f".{section}")).read_text()
                own = page.partition(".SH OPTIONS OF ALL COMMANDS")[0].replace("\\-", "-")
                cases = [[], ["one", "two", "three", "--"]] if "COMMANDS" in own and path else []
                for name, kind in re.findall(r"^\.TP\n(?:\\fB-\w\\fR, )?\\fB(--[\w-]+)\\fR.*\\fI([A-Z]+)\\fR", own, re.M):
                    cases += [[name]] + ([[name, "x y"]] if kind != "TEXT" else [])
                for case in cases:
                    done = subprocess.run([PROGRAMS / program, *path, *case], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL, env=dict(os.environ, HOME="/nonexistent"))
                    with self.subTest(program=program, path=path, case=case):
                        self.assertEqual(done.returncode, 2, done.stderr)
                        self.assertIsNone(words.search(done.stderr), done.stderr)
                        self.assertTrue(done.stderr.startswith(f"{program}: "), done.stderr)
                        self.assertIn(f"\nSee '{' '.join((program, *path))} --help'.\n", done.stderr)
                        if len(case) == 1:
                            self.assertIn(f"{case[0]}: its value is missing", done.stderr)
                        seen += 1
        self.assertGreater(seen, 150)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
