"""Files that go with real jobs and come back: staging_test.py BIN [unittest names]

Program and input are sent, the results of all zones come home and are fetched; kill -9 of home or of another zone in the middle of sending costs no more than the piece on its
way; links are not followed, nothing is replaced, bounds and checksums hold.
"""
import base64
import glob
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "federation"))
import federation  # noqa: E402
from federation import Federation, processes, until  # noqa: E402

MIB = 1024 * 1024
LARGE = 24 * MIB  # takes so long that a zone is killed while it comes
SOLVER = """#!/bin/sh
[ -s in.dat ] || { echo "no input in $PWD" >&2; exit 3; }
cp in.dat "copy.$PMI_RANK"
echo "$ZBS_ZONE" > zone.txt
ln -s /etc/passwd "link.$PMI_RANK"
"""


class Staging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Federation().__enter__()
        cls.addClassCleanup(cls.f.__exit__)

    def setUp(self):
        self.here = pathlib.Path(tempfile.mkdtemp(prefix="zbs-staging-"))
        self.addCleanup(shutil.rmtree, self.here, True)
        (self.here / "solver").write_text(SOLVER)
        (self.here / "solver").chmod(0o755)

    def input(self, size):
        data = os.urandom(size)
        (self.here / "in.dat").write_bytes(data)
        return data

    def zbs(self, *arguments, **options):
        return self.f.zbs(*map(str, arguments), cwd=self.here, **options)

    def submit(self, *options, ranks=12):
        done = self.zbs("submit", "-n", ranks, "--no-record", "--stage-in", "solver", "--stage-in", "in.dat", *options, "--", "./solver", timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    NAMES = ["a=b.out", "50%.out", "a%2Fb.out", "two  blanks.out", " first.out", "\u00fcml\u00e4ut \u65e5\u672c.out", "\U0001f600.out", "it's \"q\".out", "$HOME `x`;|&<>.out",
             "*?[x].out", "#~!{}^.out", "x,y:z@w+v.out", "a..b.out", "l" * 190 + ".out", "in/a folder/\u00fc.out", "back\\slash.out", "-dash.out", "in/-f/x.out"]
    # Names that zones once used themselves, and hidden ones.
    OTHERS = ["out.7", "err.0", "end.3", "profile.json", "profile.json.x", "stdout", "stderr", ".hid", ".h/x", "..x", "in/.kept/x", "in/.k", "in/..k", "in/a/.d/.k"]
    UNASKED = [".not", "not"]

    def python(self, *options, program, ranks=1):
        """Runs `program`, a Python text, in the folder of the ranks of zone a or b; options come first."""
        return self.zbs("run", "-q", "-n", ranks, "--no-record", *options, "--", sys.executable, "-c", program, timeout=120)

    def kill(self, zone):
        found = [pid for pid, (argv, _) in processes().items() if argv[0].endswith("zbs-zone") and "run" in argv and any(word.endswith(f"/{zone}.toml") for word in argv)
                 and any(self.f.folder in word for word in argv)]
        self.assertEqual(len(found), 1, found)
        os.kill(found[0], signal.SIGKILL)

    def parts_of(self, zone):
        return glob.glob(f"{self.f.folder}/state/{zone}/files/user+*/.*.part")

    def killed_while_sending(self, victim):
        data = self.input(LARGE)
        application = self.submit("--stage-out", "zone.txt")
        until(lambda: any(os.path.getsize(path) > 5 * MIB for path in self.parts_of("b") if os.path.exists(path)), 60, "nothing is sent")
        self.kill(victim)
        ended = self.f.wait_state(application, ("completed", "failed", "rejected", "cancelled"), 120)
        self.assertEqual(ended["state"], "completed", ended.get("reason"))
        [kept] = [path for path in glob.glob(f"{self.f.folder}/state/b/files/user+*/{hashlib.sha256(data).hexdigest()}")]
        self.assertEqual(os.path.getsize(kept), len(data))
        return json.loads(self.f.zbs("explain", application, "-o", "json").stdout)["events"]

    def sent_to(self, events, zone):
        return [int(event["answer"].split(";")[1].split()[0]) for event in events if event["what"] == "stage" and event["zone"] == zone and event["ok"]]


class Files(Staging):
    def test_program_and_input_go_out_and_results_come_back(self):
        data = self.input(2 * MIB + 7)
        into = self.here / "results"
        into.mkdir()
        done = self.zbs("run", "-n", 12, "--stage-in", "solver", "--stage-in", "in.dat", "--stage-out", "copy.*", "--stage-out", "zone.txt", "--stage-out", "link.*",
                        "--results", into, "--", "./solver", timeout=120)
        self.assertEqual(done.returncode, 9, done.stderr)  # the links
        for rank in range(12):
            self.assertEqual((into / f"copy.{rank}").read_bytes(), data)
        zones = sorted(path.read_text().strip() for path in into.glob("zone.txt*"))
        self.assertEqual(zones, ["a", "b", "c"], done.stderr)
        self.assertFalse(list(into.glob("link.*")), "a link to somebody else's file")
        self.assertIn("link.0: is a link", done.stderr)
        self.assertEqual([path for path in os.listdir(into) if path.startswith(".")], [])

    def test_nothing_of_the_folder_it_was_submitted_from_is_needed(self):
        data = self.input(100_000)
        application = self.submit("--stage-out", "copy.*")
        shutil.rmtree(self.here)
        self.here.mkdir()
        ended = self.f.wait_state(application, ("completed", "failed", "rejected", "cancelled"), 60)
        self.assertEqual(ended["state"], "completed", ended.get("reason"))
        fetched = self.zbs("fetch", application)
        self.assertEqual(fetched.returncode, 0, fetched.stderr)
        self.assertEqual((self.here / "copy.11").read_bytes(), data)
        again = self.zbs("fetch", application)
        self.assertEqual((again.returncode, again.stdout.count("was here")), (0, 12), again.stderr)
        (self.here / "copy.0").write_text("mine")
        refused = self.zbs("fetch", application)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("copy.0", refused.stderr)
        self.assertEqual((self.here / "copy.0").read_text(), "mine")

    def test_ranks_of_one_zone_share_one_folder_however_they_are_mixed(self):
        data = self.input(1000)
        application = self.submit("--mapper", "round-robin", "--stage-out", "copy.*", "--stage-out", "zone.txt")
        self.assertEqual(self.f.wait_state(application, ("completed", "failed"), 60)["state"], "completed")
        steps = glob.glob(f"{self.f.folder}/state/*/steps/run-*/job/zone.txt")
        into = self.here / "results"
        into.mkdir()
        self.assertEqual(self.zbs("fetch", application, "-d", into).returncode, 0)
        self.assertEqual({path.name: path.read_bytes() for path in into.glob("copy.*")}, {f"copy.{rank}": data for rank in range(12)})
        self.assertEqual(len(list(into.glob("zone.txt*"))), 3, steps)

    def test_an_mpi_program_that_is_nowhere_else_runs_and_is_learnt(self):
        ring = pathlib.Path(federation.BIN) / "apps/ring"
        if not ring.exists():
            self.skipTest("the programs of tests/apps are not built")
        shutil.copy(ring, self.here / "moving")
        done = self.zbs("run", "-n", 6, "--stage-in", "moving", "--", "./moving")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(" of 6 "), 6)
        self.assertNotIn(str(self.here), done.stdout)
        self.assertIn("moving", self.zbs("profile", "list").stdout)

    def test_a_missing_program_of_the_job_is_told(self):
        self.input(10)
        done = self.zbs("run", "-n", 2, "--stage-in", "solver", "--", "./solver", timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no input in", done.stderr)

    def test_a_folder_for_results_that_is_not_there_is_told_before_anything_is_sent(self):
        before = self.zbs("list", "-o", "name").stdout
        done = self.zbs("run", "--stage-in", "solver", "--stage-out", "copy.*", "--results", self.here / "nowhere", "--", "./solver")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"{self.here}/nowhere: what comes back cannot be put there", done.stderr)
        self.assertEqual(self.zbs("list", "-o", "name").stdout, before)

    def test_bounds_and_checksums(self):
        with open(self.here / "in.dat", "wb") as big:
            big.truncate(257 * MIB)
        done = self.zbs("submit", "-n", 2, "--stage-in", "in.dat", "--", "./solver", timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("256 MiB", done.stderr)
        for name, word in (("in.dat=../b", "'..'"), ("in.dat=a/-rf", "begin with '-'"), ("in.dat=a\\b", "without"), ("in.dat=a\nb", "control characters"), ("in.dat=.zbs-out.0", "uses itself"), ("nothing", "cannot read")):
            done = self.zbs("submit", "-n", 2, "--stage-in", name, "--", "./solver")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(word, done.stderr)
        body = json.dumps({"size": 3, "offset": 0, "bytes": base64.b64encode(b"abc").decode()}).encode()
        call = urllib.request.Request(self.f.url + "/v1/files/" + "0" * 64, body, {"Content-Type": "application/json"}, method="PUT")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(call, context=self.f.tls(self.f.identity("you")), timeout=10)
        self.assertEqual(refused.exception.code, 409)
        self.assertIn("checksum", json.loads(refused.exception.read())["detail"])

    def test_hidden_results_come_back_and_no_file_of_the_zone(self):
        write = "import os\nos.makedirs('o/.d')\nfor n in ('.hid', 'seen', 'o/.hid', 'o/.d/x', 'o/..x'): open(n, 'w').write(n)"
        for pattern, names in (("**", {".hid", "seen", "o/.hid", "o/.d/x", "o/..x"}), ("*", {".hid", "seen"}), ("o/**", {"o/.hid", "o/.d/x", "o/..x"}), ("o/.d/*", {"o/.d/x"})):
            for zone in ("a", "b"):
                into = self.here / f"{zone} {len(os.listdir(self.here))}"
                into.mkdir()
                done = self.python("--zones", zone, "--stage-out", pattern, "--results", into, program=write)
                found = {str(path.relative_to(into)) for path in into.rglob("*") if path.is_file()}
                self.assertEqual(found, names, done.stderr)

    def test_files_and_folders_of_any_name_go_there_and_come_back(self):
        files = {"data/plain": "1", "data/a b/\u00fc.dat": "2", "data/.conf": "3", "data/deep/er/est/x=y": "4", "my input \u65e5.txt": "5", "it's": "6"}
        for name, text in files.items():
            (self.here / name).parent.mkdir(parents=True, exist_ok=True)
            (self.here / name).write_text(text)
        (self.here / "data/linked").symlink_to("plain")
        (self.here / "data/empty").mkdir()
        (self.here / "data/run me").write_text("#!/bin/sh\nmkdir -p out && cp -r data 'my input \u65e5.txt' \"it's\" renamed out\n")
        (self.here / "data/run me").chmod(0o755)
        for zone in ("a", "b"):
            into = self.here / f"into {zone}"
            into.mkdir()
            done = self.zbs("run", "-q", "-n", 1, "--zones", zone, "--no-record", "--stage-in", "data/", "--stage-in", "my input \u65e5.txt", "--stage-in", "it's",
                            "--stage-in", "data/deep=renamed", "--stage-out", "out/**", "--results", into, "--", "data/run me", timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, "zbs: folder data/empty is empty, and is not sent\n"))
            found = {str(path.relative_to(into / "out")): path.read_text() for path in into.rglob("*") if path.is_file()}
            found.pop("data/run me")
            self.assertEqual(found, {**files, "data/linked": "1", "renamed/er/est/x=y": "4"})
        # A folder that came with the job is none that it left.
        done = self.python("--zones", "b", "--stage-in", "data/", "--stage-out", "*", "--results", self.here, program="open('new', 'w')")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.here / "new").exists())
        shutil.rmtree(self.here / "into a")
        (self.here / "into a").mkdir()
        (self.here / "into a/out").symlink_to(self.here / "data")  # a fetch goes through no link
        application = json.loads(self.zbs("list", "-o", "json", "--limit", "3").stdout)["applications"][-1]["id"]
        fetched = self.zbs("fetch", application, "-d", self.here / "into a")
        self.assertNotEqual(fetched.returncode, 0)
        self.assertIn("is a link", fetched.stderr)
        self.assertFalse((self.here / "data/renamed").exists())

    def test_a_folder_that_cannot_be_sent_whole_is_refused_by_name(self):
        (self.here / "solver.d/empty").mkdir(parents=True)
        refused = [("has no file to send", lambda folder: None)]
        refused.append(("link to a folder", lambda folder: (folder / "empty").symlink_to("/etc")))
        refused.append(("no regular file", lambda folder: os.mkfifo(folder / "empty")))
        refused.append(("must be UTF-8", lambda folder: open(os.fsencode(folder) + b"/caf\xe9", "w").close()))
        for index, (word, make) in enumerate(refused):
            if index > 0:
                shutil.rmtree(self.here / "solver.d")
                (self.here / "solver.d").mkdir()
                make(self.here / "solver.d")
            done = self.zbs("submit", "-n", 1, "--stage-in", "solver.d", "--", "./solver")
            self.assertNotEqual(done.returncode, 0, word)
            self.assertIn(word, done.stderr)


class Fetches(Staging):
    def test_a_cut_fetch_goes_on_and_a_damaged_one_begins_anew(self):
        data = self.input(3 * MIB)
        application = self.submit("--stage-out", "copy.0")
        self.f.wait_state(application, ("completed",), 60)
        part = self.here / f".copy.0.zbs-{hashlib.sha256(data).hexdigest()[:16]}"
        for begun in (data[:MIB + 5], b"x" * MIB):
            part.write_bytes(begun)
            fetched = self.zbs("fetch", application)
            self.assertEqual(fetched.returncode, 0, fetched.stderr)
            self.assertEqual((self.here / "copy.0").read_bytes(), data)
            self.assertFalse(part.exists())
            (self.here / "copy.0").unlink()

    def test_an_interrupted_fetch_names_the_command_that_goes_on(self):
        into = self.here / "results"
        into.mkdir()
        run = self.f.start("run", "-q", "-n", "1", "--no-record", "--zones", "a", "--stage-out", "big", "--results", str(into), "--", "/bin/sh", "-c", "head -c 40000000 /dev/urandom > big")
        self.addCleanup(run.communicate)
        while run.poll() is None and not any(path.name.startswith(".big.zbs-") and path.stat().st_size for path in into.iterdir()):
            time.sleep(0.005)
        run.send_signal(signal.SIGSTOP)
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGCONT)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT, errors)
        again = re.search(r"not all results of \S+ were fetched; 'zbs (fetch .*)' fetches the rest", errors)
        self.assertTrue(again, errors)
        self.assertEqual(os.listdir(into)[0][:9], ".big.zbs-")
        done = self.zbs(*shlex.split(again.group(1)), timeout=120)
        self.assertEqual((done.returncode, os.listdir(into), os.path.getsize(into / "big")), (0, ["big"], 40_000_000), done.stderr)

    def test_commands_that_fetch_the_same_at_once_do_not_mix_it(self):
        into = self.here / "results"
        into.mkdir()
        done = self.zbs("run", "-q", "-n", 1, "--no-record", "--zones", "a", "--stage-out", "big*", "--results", self.here, "--", "/bin/sh", "-c", "for i in 1 2; do seq $i 3000000 > big$i; done")
        self.assertEqual(done.returncode, 0, done.stderr)
        application = self.zbs("list", "-o", "name", "--limit", "1").stdout.strip()
        fetching = [self.f.start("fetch", application, "-d", str(into)) for _ in range(4)]
        for command in fetching:
            _, errors = command.communicate(timeout=120)
            self.assertEqual(command.returncode, 0, errors)
        self.assertEqual(sorted(os.listdir(into)), ["big1", "big2"])
        for name in ("big1", "big2"):
            self.assertEqual((into / name).read_bytes(), (self.here / name).read_bytes(), name)

    def test_a_cancelled_program_has_its_results_come_back(self):
        for zone in ("a", "b"):
            into = self.here / zone
            into.mkdir()
            save = "trap 'echo saved > save; exit 0' TERM; echo begun; sleep 60 & wait"
            done = self.zbs("submit", "-n", 1, "--no-record", "--zones", zone, "--grace", "10s", "--stage-out", "save", "--", "/bin/sh", "-c", save)
            self.assertEqual(done.returncode, 0, done.stderr)
            application = done.stdout.strip()
            until(lambda: "begun" in self.zbs("logs", application).stdout, 60, "its program has not begun")
            self.assertEqual(self.zbs("cancel", application).returncode, 0)
            self.assertEqual(self.f.wait_state(application, ("completed", "failed", "rejected", "cancelled"), 60)["state"], "cancelled")
            fetched = self.zbs("fetch", application, "-d", into)
            self.assertEqual(fetched.returncode, 0, fetched.stderr)
            self.assertEqual((into / "save").read_text(), "saved\n")


class Results(Staging):
    def test_results_of_any_printable_name_come_back_from_home_and_from_elsewhere(self):
        write = "import os\nfor n in %r:\n os.makedirs(os.path.dirname(n) or '.', exist_ok=True)\n open(n, 'w').write(n)" % (self.NAMES + self.OTHERS + self.UNASKED)
        patterns = ("*.out", "out.*", "err.0", "end.*", "profile.*", "std*", ".hid", ".h/*", "..*", "in/")
        for zone in ("a", "b"):
            into = self.here / zone
            into.mkdir()
            done = self.python("--zones", zone, *(f"--stage-out={pattern}" for pattern in patterns), "--results", into, program=write)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found = {str(path.relative_to(into)): path.read_text() for path in into.rglob("*") if path.is_file()}
            self.assertEqual(found, {name: name for name in self.NAMES + self.OTHERS})

    def test_each_result_that_does_not_come_is_named_and_changes_the_code(self):
        into = self.here / "results"
        into.mkdir()
        write = ("import os\nfor n in (b'good.out', b'caf\\xe9.out', b'new\\nline.out', b'q' * 201 + b'.out'): open(n, 'w').write('x')\n"
                 "os.mkdir('folder.out'); os.symlink('/etc/passwd', 'link.out'); os.symlink('good.out', 'own.out'); os.mkfifo('pipe.out'); os.mkdir('out'); os.symlink('/etc', 'out/away')")
        done = self.python("--zones", "b", "--stage-out", "*.out", "--stage-out", "out/**", "--stage-out", "absent.dat", "--stage-out", "none.*", "--results", into, program=write)
        application = self.zbs("list", "-o", "name", "--limit", "1").stdout.strip()
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertEqual(os.listdir(into), ["good.out"])
        shown, view = self.zbs("show", application).stdout, json.loads(self.zbs("show", application, "-o", "json").stdout)
        waited = self.zbs("wait", application)
        fetched = self.zbs("fetch", application, "-d", into)
        self.assertEqual((waited.returncode, fetched.returncode), (9, 9))
        self.assertEqual((view["state"], view["exit_code"], view["results_left_out"]), ("completed", 0, 10))
        self.assertEqual(json.loads(self.zbs("list", "-o", "json", "--filter", "exit=9").stdout)["applications"][0]["results_left_out"], 10)
        for name in ("xe9.out", "line.out", "qqq.out", "folder.out", "link.out", "own.out", "pipe.out", "out/away", "absent.dat", "none.*"):
            for where, text in (("run", done.stderr), ("wait", waited.stderr), ("fetch", fetched.stderr), ("show", shown), ("REST", "\n".join(view["result_notes"]))):
                self.assertIn(name, text, where)

    def test_results_behind_a_link_or_in_a_closed_folder_are_named(self):
        make = "import os\nos.mkdir('real'); open('real/x', 'w'); os.symlink('real', 'latest'); os.symlink('real/x', 'file'); os.mkdir('shut'); open('shut/x', 'w'); "
        for zone in ("a", "b"):
            for pattern, code, word in (("latest/*", 9, "latest: is a link"), ("latest", 9, "latest: is a link"), ("latest/x", 9, "latest: is a link"), ("real/x", 0, ""), ("*/x.dat", 9, "latest: is a link")):
                done = self.python("--zones", zone, "--stage-out", pattern, "--results", self.here, program=make)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertNotIn("file: is a link", done.stderr)
                shutil.rmtree(self.here / "real", True)
            if os.geteuid() == 0:
                continue  # a zone of root opens all folders
            for pattern, close, word in (("*", ".", "cannot be opened"), ("shut/*.dat", "shut", "shut: is a folder that cannot be opened")):
                done = self.python("--zones", zone, "--stage-out", pattern, "--results", self.here, program=make + f"os.chmod({close!r}, 0)")
                self.assertEqual(done.returncode, 9, done.stderr)
                self.assertIn(word, done.stderr)

    def test_a_result_that_is_asked_for_by_its_exact_name_counts_once(self):
        make = "import os\nos.mkdir('fold'); os.symlink('/etc/hosts', 'link')"
        done = self.python("--zones", "b", "--stage-out", "fold", "--stage-out", "link", "--stage-out", "absent", "--results", self.here, program=make)
        self.assertEqual(done.returncode, 9, done.stderr)
        application = self.zbs("list", "-o", "name", "--limit", "1").stdout.strip()
        self.assertEqual(json.loads(self.zbs("show", application, "-o", "json").stdout)["results_left_out"], 3, done.stderr)

    def test_a_result_that_may_be_executed_comes_back_so(self):
        make = "import os\nfor n, m in (('run', 0o755), ('own', 0o700), ('plain', 0o644), ('others', 0o611)): open(n, 'w').write(n); os.chmod(n, m)"
        self.addCleanup(os.umask, os.umask(0o027))
        for zone in ("a", "b"):
            into = self.here / zone
            into.mkdir()
            done = self.python("--zones", zone, "--stage-out", "*", "--results", into, program=make)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({path.name: path.stat().st_mode & 0o777 for path in into.iterdir()}, {"run": 0o750, "own": 0o750, "plain": 0o640, "others": 0o640})

    def test_what_nothing_came_back_for_is_named_and_a_program_that_fails_keeps_its_code(self):
        for pattern in ("absent", "none.*", "out/**"):
            for program, code in (("raise SystemExit(5)", 5), ("", 9)):
                done = self.python("--zones", "b", "--stage-out", pattern, "--results", self.here, program=program)
                waited = self.zbs("wait", self.zbs("list", "-o", "name", "--limit", "1").stdout.strip())
                self.assertEqual((done.returncode, waited.returncode), (code, code), done.stderr)
                for text in (done.stderr, waited.stderr):
                    self.assertIn(f"zbs: nothing came back for {pattern}\n", text)


class Kills(Staging):
    def test_kill_of_the_taking_zone(self):
        events = self.killed_while_sending("b")
        self.assertLess(sum(self.sent_to(events, "b")), LARGE + 4 * MIB)

    def test_kill_of_the_sending_zone(self):
        events = self.killed_while_sending("a")
        self.assertLess(self.sent_to(events, "b")[-1], LARGE - 4 * MIB)  # what was there was not sent again


if __name__ == "__main__":
    federation.BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
