"""`zbs simulate` from the outside: schedules and metrics against an independent count, bad input, published schedules.

usage: simulate_command_test.py ZBS SOURCE_DIR
"""
import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ZBS, SOURCE = sys.argv[1:3]
TRACES = os.path.join(SOURCE, "..", "shared", "data", "swf")
RECORDED = os.path.join(SOURCE, "tests", "unit", "formats", "recorded")  # by a Slurm
HEADER = "; Version: 2.2\n; MaxProcs: 8\n"
KEYS = ["policy", "trace", "processors", "jobs", "makespan_s", "utilization", "wait_s", "response_s", "slowdown",
        "bounded_slowdown", "seconds", "jobs_per_second"]


def job(number, submit=0, runtime=10, size=1, estimate=-1, allocated=-1, status=1, cpu="-1", memory=-1):
    return f"{number} {submit} -1 {runtime} {allocated} {cpu} -1 {size} {estimate} {memory} {status} 3 4 -1 5 -1 -1 -1\n"


# 8 processors. FCFS: 1 at 0-100, 2 waits for 1 until 100, 3 waits behind 2, and 4 behind 3. EASY: 3 ends before 100, so it goes ahead;
# 4 does not fit beside 1 and 3.
SMALL = HEADER + job(1, 0, 100, 5) + job(2, 1, 50, 8) + job(3, 2, 90, 2, 95) + job(4, 3, 20, 2)


class Simulate(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def rows(self, name):
        return list(csv.DictReader(io.StringIO(self.read(name))))

    def run_zbs(self, *arguments, stdin=None):
        return subprocess.run([ZBS, "simulate", *arguments], capture_output=True, text=True, timeout=120, cwd=self.folder, input=stdin)

    def good(self, *arguments, **more):
        done = self.run_zbs(*arguments, **more)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done

    def json(self, *arguments):
        answer = json.loads(self.good(*arguments, "--json").stdout)
        self.assertEqual((list(answer)[0], answer.pop("version")), ("version", 1))
        return answer

    def untimed(self, *arguments):
        done = self.good(*arguments, "--json", "--details")
        answer = json.loads(done.stdout)
        for measured in ("seconds", "jobs_per_second", "read_seconds", "parse_seconds"):
            answer.pop(measured)
        return answer, done.stderr

    def trace(self, name):
        path = os.path.join(TRACES, name)
        if not os.path.exists(path):
            self.skipTest(f"{name} is not in ../shared/data/swf beside the repository")
        return path


class Schedules(Simulate):
    def test_a_workload_that_is_not_in_memory_has_the_same_metrics(self):
        holes = HEADER + "".join(
            job(n, n // 3, 1 + n * 7 % 90, 1 + n % 11, n % 5 * 20, status=n % 6, cpu="x" if n % 50 == 0 else "1.5") for n in range(1, 3000))
        lines = holes.splitlines(keepends=True)
        swapped = lines[:900] + lines[901:1500] + [lines[900]] + lines[1500:]
        logs = {"holes.swf": holes, "crlf.swf": holes.replace("\n", "\r\n"), "swapped.swf": "".join(swapped), "late.swf": "".join(lines[2:] + lines[:2]),
                "cut.swf": holes + "1 2 3\n", "packed.swf.gz": gzip.compress(holes.encode()), "numbers.swf": HEADER + job(5, 0) + job(4, 0) + job(5, 1)}
        for name, text in logs.items():
            self.write(name, text)
        for source in [["--trace", name, "--lenient", *more] for name in logs for more in ([], ["--shift", "--renumber", "--estimates", "overrun"])] + \
                [["--generate", f"{model}:jobs=2000,processors=64"] for model in ("lublin", "uniform", "feitelson96", "scojo")]:
            for policy in ("easy", "conservative", "easy:order=priority"):
                arguments = [*source, "--policy", policy, "--tau", "60"]
                with self.subTest(arguments=arguments):
                    # What writes a file has all jobs in memory.
                    self.assertEqual(self.untimed(*arguments), self.untimed(*arguments, "--waits", "waits.txt"))

    def test_a_file_on_standard_output_is_alone_there(self):
        self.write("log.swf", SMALL)
        for form in ("table", "json", "csv"):
            done = self.good("--trace", "log.swf", "--policy", "fcfs", "--schedule", "-", "-o", form)
            self.assertEqual([line.count(",") for line in done.stdout.splitlines()], [4] * 5)

    def test_of_classes_without_jobs_nothing_is_known(self):
        self.write("log.swf", SMALL)
        classes = self.json("--trace", "log.swf", "--policy", "fcfs", "--details")["by_runtime"]
        self.assertEqual([found["slowdown"]["mean"] is None for found in classes], [found["jobs"] == 0 for found in classes])
        self.assertIn(0, [found["jobs"] for found in classes])

    def test_small_schedules_are_those_made_by_hand(self):
        self.write("log.swf", SMALL)
        for policy, starts in (("fcfs", (0, 100, 150, 150)), ("easy", (0, 100, 2, 150))):
            self.good("--trace", "log.swf", "--policy", policy, "--schedule", "s.csv", "--waits", "w.txt")
            ends = [s + r for s, r in zip(starts, (100, 50, 90, 20))]
            self.assertEqual(self.read("s.csv"), "id,submit,start,end,processors\n" + "".join(
                f"{i + 1},{i},{starts[i]},{ends[i]},{(5, 8, 2, 2)[i]}\n" for i in range(4)), policy)
            self.assertEqual(self.read("w.txt"), "".join(f"{i + 1} {starts[i] - i}\n" for i in range(4)))

    def test_a_part_of_the_jobs_can_be_simulated(self):
        self.write("log.swf", HEADER + job(1, 0, 100, 5) + job(2, 1, 50, 8) + job(3, 2, 90, 2, 95).replace(" 1 3 4 ", " 1 7 4 ") + job(4, 3, 20, 2))
        for where, left in (("processors < 8", "134"), ("user = 7 or job = 1", "13"), ("not (run_time >= 90) and status = 1", "24"), ("estimate = 95 and queue = 5", "3")):
            done = self.good("--trace", "log.swf", "--policy", "fcfs", "--where", where, "--waits", "w.txt", "--export-swf", "left.swf")
            self.assertEqual("".join(line.split()[0] for line in self.read("w.txt").splitlines()), left, where)
            self.assertIn(f"--where keeps {len(left)} of 4 jobs", done.stderr)
            self.assertEqual([line.split()[0] for line in self.read("left.swf").splitlines() if line[0] != ";"], list(left))
        for where in ("processors > 8", "partition = 1", "colour = 1", "user ="):
            done = self.run_zbs("--trace", "log.swf", "--policy", "fcfs", "--where", where)
            self.assertEqual((done.returncode, done.stderr[:13]), (2, "zbs: --where:"), where)

    def test_the_load_is_the_one_asked_for(self):
        self.write("log.swf", HEADER + job(1, 10, 8, 4) + job(2, 14, 4, 8) + job(3, 26, 8, 2))  # 80 of 8 x 16: 0.625
        self.good("--trace", "log.swf", "--load", "1.25", "--export-swf", "out.swf")
        self.assertEqual([line.split()[1] for line in self.read("out.swf").splitlines() if line[0] != ";"], ["10", "12", "18"])
        settings = self.json("--trace", "log.swf", "--load", "1.25", "--policy", "fcfs", "--details")["settings"]
        self.assertEqual(settings["load"], 1.25)
        self.write("burst.swf", HEADER + job(1) + job(2))
        for arguments in (["burst.swf", "--load", "1"], ["log.swf", "--load", "0"], ["log.swf", "--load", "nan"]):
            self.assertNotEqual(self.run_zbs("--policy", "fcfs", "--trace", *arguments).returncode, 0, arguments)

    def test_estimates_can_be_made_worse(self):
        # Job 3 passes job 2 where it ends by its estimate before job 1 does.
        self.write("log.swf", HEADER + job(1, 0, 100, 5, 100) + job(2, 1, 50, 8) + job(3, 60, 40, 2, 45))
        for factor, start in (("1", 150), ("2", 60), ("0.1", 60)):
            self.good("--trace", "log.swf", "--policy", "easy", "--estimate-factor", factor, "--schedule", "s.csv", "--export-csv", "jobs.csv")
            walltimes = [float(row["walltime"]) for row in self.rows("jobs.csv")]
            self.assertEqual(walltimes, [max(100, 100 * float(factor)), max(50, 50 * float(factor)), max(40, 45 * float(factor))])
            self.assertEqual(int(self.rows("s.csv")[2]["start"]), start, factor)

    def test_jobs_may_overrun_their_estimates(self):
        # Job 1 is expected to end at 50 and ends at 80: job 2 waits for it, and job 3, which would be back by 50, goes ahead.
        self.write("log.swf", HEADER + job(1, 0, 80, 5, 50) + job(2, 1, 10, 8, 10) + job(3, 2, 60, 2, 40))
        for how, schedule in (("overrun", [(0, 80), (80, 90), (2, 62)]), ("kill", [(0, 50), (50, 60), (2, 42)]), ("raise", [(0, 80), (80, 90), (2, 62)])):
            for policy in ("easy", "conservative", "slack", "selective"):
                self.good("--trace", "log.swf", "--policy", policy, "--estimates", how, "--schedule", "s.csv")
                self.assertEqual([(int(row["start"]), int(row["end"])) for row in self.rows("s.csv")], schedule, (how, policy))
        for arguments in (("--policy", "gang"), ("--policy", "easy", "--rules", "reference")):
            done = self.run_zbs("--trace", "log.swf", "--estimates", "overrun", *arguments)
            self.assertEqual((done.returncode, "runs longer than its walltime" in done.stderr), (2, True), done.stderr)

    def test_the_recorded_schedule_is_a_row_beside_the_simulated_ones(self):
        waits = [0, 120, 5, 0]
        lines = (HEADER + job(1, 0, 100, 5) + job(2, 1, 50, 8) + job(3, 2, 90, 2, 95) + job(4, 3, 20, 2)).splitlines()
        text = "\n".join(lines[:2] + [line.replace(" -1 ", f" {wait} ", 1) for line, wait in zip(lines[2:], waits)]) + "\n"
        self.write("log.swf", text)
        both = self.json("--trace", "log.swf", "--compare", "recorded,fcfs")["schedules"]
        self.assertEqual([(one["policy"], one["wait_s"]["mean"], one["wait_s"]["max"]) for one in both], [("recorded", 31.25, 120), ("fcfs", 98.5, 148)])
        self.assertEqual(both[0]["makespan_s"], 171)
        self.assertAlmostEqual(both[0]["utilization"], (500 + 400 + 180 + 40) / (8 * 171))
        self.good("--trace", "log.swf", "--policy", "recorded", "--waits", "w.txt")
        self.assertEqual(self.read("w.txt").split()[1::2], list(map(str, waits)))
        self.good("--trace", "log.swf", "--policy", "recorded", "--export-swf", "x.swf")
        self.assertNotIn("simulated", self.read("x.swf"))
        self.assertEqual([line.split()[2] for line in self.read("x.swf").splitlines() if line[0] != ";"], list(map(str, waits)))
        self.assertEqual(both[0]["jobs_per_second"], 0)
        self.write("full.swf", text.replace(" 120 ", " 0 "))
        self.assertIn("up to 17 processors in use, the machine 8", self.good("--trace", "full.swf", "--policy", "recorded").stderr)
        self.write("unknown.swf", SMALL)
        for arguments, said in ((["--trace", "unknown.swf"], "no wait of job 1 (line 3)"), (["--generate", "lublin:jobs=9,processors=8"], "--generate"),
                                (["--trace", "log.swf", "--load", "1"], "--load"), (["--trace", "log.swf", "--gantt", "g.svg"], "--gantt")):
            done = self.run_zbs(*arguments, "--policy", "recorded")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(said, done.stderr)

    def test_promised_starts_stand_beside_the_real_ones(self):
        # Job 1 ends at 40, not at 100 as promised; job 3 starts at once and needs no promise.
        self.write("log.swf", HEADER + job(1, 0, 40, 5, 100) + job(2, 1, 50, 8, 60) + job(3, 2, 30, 2) + job(4, 3, 20, 4))
        # Of easy only the head has a promise; 4 becomes it when 2 starts, at 40.
        for policy, promised in (("conservative", ["", "100", "", "160"]), ("easy", ["", "100", "", "100"])):
            self.good("--trace", "log.swf", "--policy", policy, "--export-csv", "j.csv")
            self.assertEqual([(int(row["start"]), row["promised"]) for row in self.rows("j.csv")], list(zip((0, 40, 2, 90), promised)), policy)
        done = self.good("--trace", "log.swf", "--policy", "easy", "--allocator", "first-fit", "--export-csv", "j.csv")
        self.assertIn("note: --export-csv: promised starts count processors", done.stderr)
        self.good("--trace", "log.swf", "--policy", "conservative", "--allocator", "contiguous", "--export-csv", "j.csv")
        self.assertEqual([(row["promised"], row["places"]) for row in self.rows("j.csv")], [("", "0-4"), ("100", "0-7"), ("", "5-6"), ("160", "0-3")])
        self.good("--trace", "log.swf", "--policy", "fcfs", "--export-csv", "j.csv")
        self.assertNotIn("promised", self.rows("j.csv")[0])

    def test_metrics_can_be_those_of_a_window(self):
        self.write("log.swf", SMALL)
        for window, jobs, wait in (("1s:3s", 2, (99 + 148) / 2), ("1s:", 3, (99 + 148 + 147) / 3), (":1s", 1, 0)):
            found = self.json("--trace", "log.swf", "--policy", "fcfs", "--window", window, "--details")
            self.assertEqual((found["jobs"], found["settings"]["window"]), (jobs, window))
            self.assertAlmostEqual(found["wait_s"]["mean"], wait)
            self.assertEqual(sum(one["jobs"] for one in found["by_size"]), jobs)
        for window in ("1s", ":", "3s:1s", "1h:", "x:2s", "1s:2s:3s"):
            done = self.run_zbs("--trace", "log.swf", "--policy", "fcfs", "--window", window)
            self.assertEqual(done.returncode, 2, window)
            self.assertIn("zbs: --window:", done.stderr, window)

    def test_events_follow_the_schedule(self):
        self.write("log.swf", HEADER + job(1, 0, 10, 8) + job(2, 0, 5, 3) + job(3, 10, 5, 5))
        self.good("--trace", "log.swf", "--policy", "fcfs", "--events", "e.csv")
        self.assertEqual(self.read("e.csv"), "time,kind,job,processors,free\n0,submit,1,8,8\n0,submit,2,3,8\n0,start,1,8,0\n10,end,1,8,8\n"
                         "10,submit,3,5,8\n10,start,2,3,5\n10,start,3,5,0\n15,end,2,3,3\n15,end,3,5,8\n")

    def test_jobs_take_turns(self):
        self.write("log.swf", HEADER + job(1, 0, 25, 8) + job(2, 0, 15, 8))
        # Slices of 10 s: job 1 at 0, 20 and 40, job 2 at 10 and 30.
        self.good("--trace", "log.swf", "--policy", "gang", "--slice", "10s", "--events", "e.csv", "--gantt", "g.svg")
        self.assertEqual(self.read("e.csv"), "time,kind,job,processors,free,places\n0,submit,1,8,,\n0,submit,2,8,,\n0,start,1,8,,0:0-7\n"
                         "10,start,2,8,,1:0-7\n35,end,2,8,,\n40,end,1,8,,\n")
        xml.etree.ElementTree.fromstring(self.read("g.svg"))
        self.assertIn("2 jobs on 8 processors, 2 rows of the slice matrix", self.read("g.svg"))
        # Together they need more memory than a processor has: one after the other.
        self.write("log.swf", HEADER + job(1, 0, 25, 8, memory=600) + job(2, 0, 15, 8, memory=600))
        found = self.json("--trace", "log.swf", "--policy", "gang", "--slice", "10s", "--memory", "1MiB")
        self.assertEqual(found["response_s"]["max"], 40)
        self.assertEqual(found["wait_s"]["max"], 25)

    def test_jobs_have_shares(self):
        # Alone until 10, then 50 % each, slowed by 1.2: 24 s for the 10 s that job 1 has left.
        self.write("log.swf", HEADER + job(1, 0, 20, 8) + job(2, 10, 20, 8))
        self.good("--trace", "log.swf", "--policy", "scojo", "--option", "level=2", "--events", "e.csv", "--gantt", "g.svg")
        self.assertEqual(self.read("e.csv"), "time,kind,job,processors,free\n0,submit,1,8,\n0,start,1,8,\n10,submit,2,8,\n10,start,2,8,\n"
                         "34,end,1,8,\n44,end,2,8,\n")

    def test_coscheduling_is_what_happens_and_not_what_is_expected(self):
        # As above, but side by side the jobs are 1.5 times as long.
        self.write("log.swf", HEADER + job(1, 0, 20, 8) + job(2, 10, 20, 8))
        scojo = ("--trace", "log.swf", "--policy", "scojo", "--option", "level=2", "--schedule", "s.csv")
        for truth, ends in (((), [34, 44]), (("--coscheduling", "1,1.5"), [40, 50]), (("--coscheduling", "1"), [30, 40])):
            self.good(*scojo, *truth)
            self.assertEqual([float(row["end"]) for row in self.rows("s.csv")], ends, truth)
        # Jobs that help each other are done sooner; no processor is used more than all the time.
        found = self.json(*scojo, "--coscheduling", "1,0.5")
        self.assertEqual(([float(row["end"]) for row in self.rows("s.csv")], found["utilization"]), ([20, 30], 1))
        self.assertIn("no job says which program it is", self.good(*scojo, "--coscheduling", "application").stderr)
        self.assertEqual([float(row["end"]) for row in self.rows("s.csv")], [34, 44])

    def test_sizes_are_those_that_jobs_had(self):
        # Two rows, level 2: a busy machine, whose moldable and malleable jobs have other sizes than they ask for.
        made = ("--generate", "scojo:jobs=400,workload=2", "--policy", "adaptive-scojo:strategy=pri-b-wa-fa:level=2")
        found = self.json(*made, "--details", "--schedule", "s.csv", "--events", "e.csv", "--export-csv", "j.csv", "--gantt", "g.svg")
        asked = {row["id"]: row for row in self.rows("j.csv")}
        started = {row["id"]: int(row["processors"]) for row in self.rows("s.csv")}
        other = {asked[i]["flexibility"] for i in started if started[i] != int(asked[i]["processors"])}
        self.assertEqual(other, {"moldable", "malleable"})
        sizes, since, used, resizes, most = {}, {}, 0, 0, 0
        for event in self.rows("e.csv"):
            number, size, at = event["job"], int(event["processors"]), float(event["time"])
            if event["kind"] == "submit":
                self.assertEqual(size, int(asked[number]["processors"]))
                continue
            if event["kind"] == "start":
                self.assertEqual(size, started[number])
            if event["kind"] == "resize":
                self.assertEqual(asked[number]["flexibility"], "malleable")
                self.assertNotEqual(size, sizes[number])
                resizes += 1
            if event["kind"] == "end":
                self.assertEqual(size, sizes.pop(number))
            else:
                self.assertTrue(int(asked[number]["processors"]) // 2 <= size <= 2 * int(asked[number]["processors"]))
                sizes[number] = size
            most = max(most, sum(sizes.values()))
        self.assertEqual(sizes, {})
        self.assertGreater(resizes, 10)
        self.assertGreaterEqual(found["turns"]["resizes"], resizes)
        self.assertGreater(most, 64)
        self.assertLessEqual(most, 2 * 64)
        self.assertIn("400 jobs on 64 processors", self.read("g.svg"))

    def test_utilization_is_of_the_processors_that_jobs_had(self):
        for made in (("scojo:workload=2,jobs=2000", "adaptive-scojo:strategy=pri-b-wa-fa:level=5"), ("scojo:jobs=2000", "adaptive-scojo")):
            found = self.json("--generate", made[0], "--policy", made[1], "--details")
            turns = found["turns"]
            self.assertGreater(found["utilization"], 0.5)
            self.assertLessEqual(found["utilization"], 1)
            self.assertAlmostEqual(turns["effective_utilization"], found["utilization"] - turns["switching"] - turns["resizing"], 9)
            self.assertGreater(turns["fragmentation"], 0)
            self.assertLessEqual(found["utilization"] + turns["fragmentation"], 1 + 1e-9)
            by_size = sum(c["processor_seconds"] for c in found["by_size"])
            self.assertAlmostEqual(by_size / (64 * found["makespan_s"]), found["utilization"], 9)
        table = self.good("--generate", "scojo:jobs=200", "--policy", "adaptive-scojo").stdout
        self.assertRegex(table, r"turns +0\.\d+ effective utilization .* 0\.\d+ fragmentation, \d+ resizes")
        # Rigid jobs used what they asked for, as long as they ran; nobody else has turns.
        self.write("log.swf", HEADER + job(1, 0, 25, 8) + job(2, 0, 15, 8))
        self.assertEqual(self.json("--trace", "log.swf", "--policy", "gang")["utilization"], 1)
        self.assertNotIn("turns", self.json("--trace", "log.swf", "--policy", "easy", "--details"))

    def test_flexibility_is_told_lost_and_given(self):
        adaptive = ("--policy", "adaptive-scojo", "--schedule")
        self.good("--generate", "scojo:jobs=300", *adaptive, "made.csv")
        done = self.good("--generate", "scojo:jobs=300", "--export-swf", "x.swf", "--export-csv", "j.csv")
        flexible = sum(row["flexibility"] != "rigid" for row in self.rows("j.csv"))
        self.assertGreater(flexible, 200)
        self.assertIn(f"--export-swf: the format cannot say which jobs are moldable or malleable, as {flexible} of 300 are", done.stderr)
        self.assertIn(f"\n; Note: {flexible} of 300 jobs are moldable or malleable", self.read("x.swf"))
        # The model's groups repeat it.
        self.good("--trace", "x.swf", "--flexibility", "group", *adaptive, "again.csv")
        self.assertEqual(self.read("again.csv"), self.read("made.csv"))
        for rule, words in (("rigid", {"rigid"}), ("moldable", {"moldable"}), ("malleable", {"malleable"}), ("mix", {"rigid", "moldable", "malleable"})):
            self.good("--trace", "x.swf", "--flexibility", rule, *adaptive, rule + ".csv", "--export-csv", "j.csv")
            self.assertEqual({row["flexibility"] for row in self.rows("j.csv")}, words)
        self.good("--trace", "x.swf", *adaptive, "plain.csv")
        self.assertEqual(self.read("plain.csv"), self.read("rigid.csv"))
        self.assertEqual(len({self.read(rule + ".csv") for rule in ("rigid", "moldable", "malleable", "mix")}), 4)
        # A mix is drawn by seed, and a job's part is its own whatever else is in the log.
        drawn = {}
        for seed in ("1", "2"):
            self.good("--trace", "x.swf", "--flexibility", "mix", "--seed", seed, "--export-csv", "j.csv")
            drawn[seed] = [row["flexibility"] for row in self.rows("j.csv")]
        self.assertNotEqual(drawn["1"], drawn["2"])
        self.write("tail.swf", "".join(line for line in self.read("x.swf").splitlines(True) if line[0] == ";" or int(line.split()[0]) > 100))
        self.good("--trace", "tail.swf", "--flexibility", "mix", "--seed", "2", "--export-csv", "j.csv")
        self.assertEqual([row["flexibility"] for row in self.rows("j.csv")], drawn["2"][100:])
        # Who cannot use it says so; rigid jobs lose nothing.
        self.assertIn("--flexibility changed nothing under easy", self.good("--trace", "x.swf", "--flexibility", "mix", "--policy", "easy").stderr)
        done = self.good("--trace", "x.swf", "--export-swf", "y.swf")
        self.assertNotIn("warning", done.stderr)

    def test_preemptions_are_events(self):
        self.write("log.swf", HEADER + job(1, 0, 150, 8) + job(2, 1, 150, 8))
        arguments = ("--trace", "log.swf", "--policy", "lazy-gang", "--option", "patience=1s,10s,100s", "--option", "debug=0")
        self.good(*arguments, "--events", "e.csv", "--gantt", "g.svg")
        self.assertEqual(self.read("e.csv"), "time,kind,job,processors,free\n0,submit,1,8,8\n0,start,1,8,0\n1,submit,2,8,0\n101,preempt,1,8,8\n"
                         "101,start,2,8,0\n201,preempt,2,8,8\n201,resume,1,8,0\n250,end,1,8,8\n250,resume,2,8,0\n300,end,2,8,8\n")
        self.assertIn("2 jobs on 8 processors", self.read("g.svg"))
        self.assertEqual(self.json(*arguments, "--details")["preemptions"], 2)

    def test_json_tells_the_metrics_of_the_schedule(self):
        for rules in ("batched", "reference"):
            found = self.json("--generate", "lublin:jobs=800,processors=64,overestimate=3", "--policy", "easy", "--rules", rules,
                              "--schedule", "s.csv", "--export-csv", "j.csv", "--tau", "60")
            self.assertEqual(list(found), KEYS)
            self.assertEqual((found["policy"], found["processors"], found["jobs"]), ("easy", 64, 800))
            self.assertEqual(found["trace"], "lublin:jobs=800,processors=64,overestimate=3")
            rows = list(csv.DictReader(io.StringIO(self.read("s.csv"))))
            jobs = {row["id"]: row for row in csv.DictReader(io.StringIO(self.read("j.csv")))}
            wait, response, slowdown, bounded, area = [], [], [], [], 0
            for row in rows:
                submit, start, end, size = (int(row[k]) for k in ("submit", "start", "end", "processors"))
                runtime = int(jobs[row["id"]]["runtime"])
                self.assertEqual(end - start, runtime)
                self.assertEqual(jobs[row["id"]]["wait"], str(start - submit))
                wait.append(start - submit)
                response.append(end - submit)
                slowdown.append((end - submit) / runtime)
                bounded.append(max(1, (end - submit) / max(runtime, 60)))
                area += size * runtime
            for key, values in (("wait_s", wait), ("response_s", response), ("slowdown", slowdown), ("bounded_slowdown", bounded)):
                values.sort()
                n = len(values)
                self.assertEqual(list(found[key]), ["mean", "median", "p95", "max"])
                self.assertAlmostEqual(found[key]["mean"] / (sum(values) / n), 1, 9)
                self.assertEqual([found[key][k] for k in ("median", "p95", "max")], [(values[n // 2] + values[(n - 1) // 2]) / 2, values[n * 95 // 100], values[-1]], key)
            makespan = max(int(r["end"]) for r in rows) - min(int(r["submit"]) for r in rows)
            self.assertEqual(found["makespan_s"], makespan)
            self.assertAlmostEqual(found["utilization"], area / 64 / makespan, 12)
            self.assertGreater(found["seconds"], 0)
            self.assertAlmostEqual(found["jobs_per_second"] * found["seconds"], 800, 3)

    def test_runs_are_byte_equal(self):
        written = ("--gantt", "--events", "--schedule", "--waits", "--export-csv")
        for rules, policy in (("batched", "conservative"), ("reference", "conservative"), ("batched", "gang"), ("batched", "lazy-gang"), ("batched", "los")):
            texts = []
            files = written + (() if "gang" in policy else ("--export-swf",))
            for turn in "ab":
                arguments = [a for f in files for a in (f, turn + f)]
                out = self.json("--generate", "feitelson96:jobs=2500", "--seed", "7", "--policy", policy, "--rules", rules, *arguments)
                del out["seconds"], out["jobs_per_second"]
                texts.append([out] + [self.read(turn + f) for f in files])
            self.assertEqual(*texts)
            xml.etree.ElementTree.fromstring(self.read("a--gantt"))
        self.assertNotEqual(self.json("--generate", "uniform:jobs=50", "--policy", "fcfs")["wait_s"],
                            self.json("--generate", "uniform:jobs=50", "--seed", "2", "--policy", "fcfs")["wait_s"])

    def test_rules_differ_where_events_share_an_instant(self):
        # 2 processors are free behind 1. One by one, 3 takes them before 4 is seen; together, the shorter 4 goes first.
        self.write("log.swf", HEADER + job(1, 0, 100, 6) + job(2, 1, 50, 8) + job(3, 1, 50, 2) + job(4, 1, 20, 2))
        for rules, waits in (("reference", "1 0\n2 99\n3 0\n4 50\n"), ("batched", "1 0\n2 99\n3 20\n4 0\n")):
            found = self.json("--trace", "log.swf", "--policy", "sjbf", "--rules", rules, "--details", "--waits", "w.txt")
            self.assertEqual(found["rules"], rules)
            self.assertEqual(self.read("w.txt"), waits, rules)

    def test_exported_workloads_are_the_same(self):
        self.write("log.swf", SMALL)
        self.good("--trace", "log.swf", "--policy", "easy", "--export-swf", "out.swf", "--schedule", "a.csv")
        self.assertIn("\n2 1 99 50 -1 -1 -1 8 -1 -1 1 3 4 -1 5 -1 -1 -1\n", self.read("out.swf"))
        self.good("--trace", "out.swf", "--policy", "easy", "--schedule", "b.csv")
        self.assertEqual(self.read("a.csv"), self.read("b.csv"))
        # A generated one, too; without a policy it is written as it is.
        self.good("--generate", "jann:jobs=300,overestimate=4", "--export-swf", "gen.swf")
        self.good("--trace", "gen.swf", "--policy", "easy", "--schedule", "a.csv")
        self.good("--generate", "jann:jobs=300,overestimate=4", "--policy", "easy", "--schedule", "b.csv")
        self.assertEqual(self.read("a.csv"), self.read("b.csv"))

    def test_compare_runs_each_on_the_same_jobs(self):
        policies = ["fcfs", "easy:order=estimate", "conservative"]
        found = self.json("--generate", "lublin:jobs=500", "--compare", ",".join(policies), "--waits", "w-{policy}.txt")["schedules"]
        self.assertEqual([f["policy"] for f in found], policies)
        for one in found:
            self.assertEqual(list(one), KEYS)
            alone = self.json("--generate", "lublin:jobs=500", "--policy", one["policy"], "--waits", "alone.txt")
            self.assertEqual(one["wait_s"], alone["wait_s"])
            self.assertEqual(self.read(f"w-{one['policy']}.txt"), self.read("alone.txt"))
        table = self.good("--generate", "lublin:jobs=500", "--compare", ",".join(policies)).stdout
        for policy in policies:
            self.assertIn("\n" + policy + " ", table)
        lines = self.good("--generate", "lublin:jobs=500", "--compare", ",".join(policies), "-o", "jsonl").stdout.splitlines()
        self.assertEqual([json.loads(line)["policy"] for line in lines], policies)

    def test_options_of_the_policy_count(self):
        self.assertEqual(self.json("--generate", "lublin:jobs=400,overestimate=5", "--policy", "easy", "--option", "order=estimate")["wait_s"],
                         self.json("--generate", "lublin:jobs=400,overestimate=5", "--policy", "sjbf")["wait_s"])

    def test_allocators(self):
        made = ("--generate", "lublin:jobs=600,processors=64", "--policy", "easy")
        plain = self.json(*made, "--schedule", "plain.csv")
        first = self.json(*made, "--schedule", "first.csv", "--allocator", "first-fit", "--details")
        def counts(name):
            return [{k: v for k, v in row.items() if k != "places"} for row in self.rows(name)]
        self.assertEqual(counts("plain.csv"), counts("first.csv"))
        self.assertEqual((first["allocator"], first["refused_starts"]), ("first-fit", 0))
        self.assertEqual(first["wait_s"], plain["wait_s"])
        self.assertNotIn("allocator", plain)
        for allocator in [i["allocator"] for i in self.json("--list-allocators")["allocators"]] + ["contiguous:choice=best", "mesh-frame:width=16:rotate=false"]:
            found = self.json(*made, "--allocator", allocator, "--details", "--schedule", "s.csv")
            self.assertEqual(found["jobs"], 600)
            self.assertEqual(counts("s.csv") == counts("plain.csv"), found["refused_starts"] == 0, allocator)
        # 1 and 3 leave two holes of two processors, which is not a range of four.
        self.write("log.swf", HEADER + job(1, 0, 10, 2) + job(2, 0, 30, 4) + job(3, 0, 10, 2) + job(4, 1, 5, 4))
        for allocator, wait in (("first-fit", 9), ("contiguous", 29)):
            self.good("--trace", "log.swf", "--policy", "fcfs", "--allocator", allocator, "--waits", "w.txt")
            self.assertEqual(self.read("w.txt"), f"1 0\n2 0\n3 0\n4 {wait}\n", allocator)
        self.assertIn("allocator    contiguous, 1 start refused", self.good("--trace", "log.swf", "--policy", "fcfs", "--allocator", "contiguous").stdout)

    def processors(self, places):
        """Of "0-3;8", as a set."""
        found = set()
        for part in places.split(";"):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
        return found

    def test_places_are_those_of_the_allocator(self):
        made = ("--generate", "lublin:jobs=300,processors=64", "--policy", "easy")
        for allocator in ("contiguous", "afl", "mesh-frame:width=16:rotate=false"):
            self.good(*made, "--allocator", allocator, "--schedule", "s.csv", "--events", "e.csv", "--export-csv", "j.csv", "--gantt", "g.svg")
            places = {row["id"]: row["places"] for row in self.rows("s.csv")}
            self.assertEqual({row["id"]: row["places"] for row in self.rows("j.csv")}, places)
            held = {}
            for event in self.rows("e.csv"):
                if event["kind"] == "start":
                    self.assertEqual(event["places"], places[event["job"]])
                    mine = self.processors(event["places"])
                    self.assertEqual(len(mine), int(event["processors"]))
                    self.assertTrue(mine <= set(range(64)))
                    for others in held.values():
                        self.assertEqual(mine & others, set())
                    held[event["job"]] = mine
                    if allocator == "contiguous":
                        self.assertNotIn(";", event["places"])
                elif event["kind"] == "end":
                    del held[event["job"]]
        # Any processors will do: nobody says which.
        self.good(*made, "--schedule", "s.csv")
        self.assertNotIn("places", self.rows("s.csv")[0])
        # The picture has them, too: job 3 between the other two, although processors below it are free.
        self.write("log.swf", HEADER + job(1, 0, 10, 2) + job(2, 0, 30, 4) + job(3, 0, 30, 2) + job(4, 12, 5, 3))
        self.good("--trace", "log.swf", "--policy", "fcfs", "--allocator", "contiguous", "--schedule", "s.csv", "--gantt", "g.svg")
        self.assertEqual([row["places"] for row in self.rows("s.csv")], ["0-1", "2-5", "6-7", "0-2"])
        boxes = [(float(r.get("y")), float(r.get("height"))) for r in xml.etree.ElementTree.fromstring(self.read("g.svg")).iter("{http://www.w3.org/2000/svg}rect")
                 if float(r.get("height")) < 420 and float(r.get("y")) >= 70]
        self.assertEqual(boxes, [(385, 105), (175, 210), (70, 105), (332.5, 157.5)])

    def test_jobs_behind_one_without_a_place_may_pass(self):
        log = "; MaxProcs: 6\n" + job(1, 0, 10, 2) + job(2, 0, 30, 2) + job(3, 0, 10, 2) + job(4, 5, 10, 4) + job(5, 6, 5, 2) + job(6, 7, 20, 1)
        self.write("log.swf", log)
        for more, waits in (((), (0, 0, 0, 25, 24, 28)), (("--without-place", "wait"), (0, 0, 0, 25, 24, 28)), (("--without-place", "pass"), (0, 0, 0, 25, 4, 3))):
            self.good("--trace", "log.swf", "--policy", "fcfs", "--allocator", "contiguous", *more, "--waits", "w.txt")
            self.assertEqual(self.read("w.txt"), "".join(f"{i + 1} {wait}\n" for i, wait in enumerate(waits)), more)
        done = self.run_zbs("--trace", "log.swf", "--policy", "fcfs", "--without-place", "pass")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--without-place: ", done.stderr)

    def test_selective_with_a_threshold_of_one_promises_every_job(self):
        self.write("log.swf", "; MaxProcs: 4\n" + job(1, 0, 100, 2, 100) + job(2, 0, 50, 4, 50) + job(3, 0, 100, 2, 101))
        for policy, third in (("selective:threshold=1", 150), ("selective:threshold=1.01", 0)):
            self.good("--trace", "log.swf", "--policy", policy, "--waits", "w.txt")
            self.assertEqual(self.read("w.txt").splitlines()[2], f"3 {third}", policy)

    def test_waits_end_with_the_first_service(self):
        self.write("log.swf", "; MaxProcs: 1\n" + "".join(job(i, 0, 7200, 1) for i in (1, 2, 3)))
        found = self.json("--trace", "log.swf", "--policy", "gang", "--slice", "1h", "--waits", "w.txt", "--schedule", "s.csv")
        self.assertEqual((found["wait_s"]["mean"], found["wait_s"]["max"]), (3600, 7200))
        self.assertEqual(self.read("w.txt"), "1 0\n2 3600\n3 7200\n")
        self.assertEqual([(row["start"], row["end"]) for row in self.rows("s.csv")], [("0", "14400"), ("3600", "18000"), ("7200", "21600")])
        # Under ranks a job waits below another one, too.
        self.assertIn("note: elmer: in simulations", self.good("--trace", "log.swf", "--policy", "elmer", "--waits", "w.txt").stderr)
        self.assertNotIn("elmer", self.good("--trace", "log.swf", "--policy", "elmer:threshold=1", "--waits", "w1.txt").stderr)
        self.assertEqual(self.read("w.txt"), "1 0\n2 7200\n3 14400\n")

    def test_schedules_of_jobs_that_share_are_not_exported_as_if_each_were_alone(self):
        self.write("log.swf", SMALL)
        for policy, word in (("gang", "share"), ("adaptive-scojo", "share"), ("scojo", "share"), ("elmer", "share"), ("lazy-gang", "preempted")):
            done = self.run_zbs("--trace", "log.swf", "--policy", policy, "--export-swf", "x.swf")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--export-swf: cannot hold the schedule of policy {policy}, whose jobs", done.stderr)
            self.assertIn(word, done.stderr)
            self.assertFalse(os.path.exists(self.path("x.swf")))

    def test_pictures_of_a_slice_matrix_have_its_rows(self):
        self.write("log.swf", "; MaxProcs: 4\n" + "".join(job(i, i, 300 + i, 1 + i % 3) for i in range(11)))
        self.good("--trace", "log.swf", "--policy", "gang", "--gantt", "g.svg", "--events", "e.csv", "--schedule", "s.csv")
        picture = self.read("g.svg")
        self.assertNotIn("in use", picture)
        rows = int(re.search(r"11 jobs on 4 processors, (\d+) rows of the slice matrix", picture)[1])
        self.assertIn(f">row {rows - 1}<", picture)
        held = {}
        for event in self.rows("e.csv"):
            if event["kind"] == "end":
                del held[event["job"]]
            elif event["kind"] in ("start", "move"):
                slots = {(row, p) for part in event["places"].split("|") for row, _, ranges in [part.partition(":")] for p in self.processors(ranges)}
                self.assertTrue(all(int(row) < rows and p < 4 for row, p in slots), event)
                held[event["job"]] = slots
        self.assertEqual(held, {})

    def test_tables_and_lists(self):
        table = self.good("--generate", "lublin:jobs=400", "--policy", "easy").stdout
        for text in ("easy, batched rules, 128 processors", "bounded slowdown", "2-3 processors", "1 h - 4 h", "jobs/s"):
            self.assertIn(text, table)
        self.assertEqual(self.good("--generate", "lublin:jobs=9", "--policy", "easy", "-o", "csv").stdout.split(",")[0], "POLICY")
        for option, key in (("--list-policies", "policy"), ("--list-generators", "generator"), ("--list-allocators", "allocator")):
            items = self.json(option)[option.removeprefix("--list-")]
            for item in items:
                self.assertIn(item[key], self.good(option).stdout)
                for choice in item["options"]:
                    self.assertTrue(choice["name"] and choice["meaning"])

    def test_list_shows_every_policy_allocator_and_packing_rule(self):
        items = self.json("--list")["rules"]
        names = {kind: {item["name"] for item in items if item["kind"] == kind} for kind in ("policy", "allocator", "packing")}
        for option, key in (("--list-policies", "policy"), ("--list-allocators", "allocator")):
            self.assertEqual(names[key], {item[key] for item in self.json(option)[option.removeprefix("--list-")]})
        self.assertEqual(names["packing"], {"first-fit", "best-fit", "ffd", "memory-fit", "buddy"})
        with open(os.path.join(SOURCE, "algorithms/REFERENCES.md")) as references:
            keys = set(re.findall(r"^\| (\w+) \|", references.read(), re.M))
        for item in items:
            self.assertTrue(item["summary"])
            for source in item["source"].split(";"):
                self.assertTrue(source == "-" or source.split(",")[0].strip() in keys, item)
        table = self.good("--list").stdout
        self.assertEqual(len(table.splitlines()), len(items) + 1)

    def test_logs_come_plain_compressed_and_from_standard_input(self):
        self.write("log.swf", SMALL)
        self.write("log.swf.gz", gzip.compress(SMALL.encode()))
        self.write("nameless", gzip.compress(SMALL.encode()))
        expected = self.json("--trace", "log.swf", "--policy", "easy")["wait_s"]
        for name in ("log.swf.gz", "nameless"):
            self.assertEqual(self.json("--trace", name, "--policy", "easy")["wait_s"], expected)
        self.assertEqual(json.loads(self.good("--trace", "-", "--policy", "easy", "--json", stdin=SMALL).stdout)["wait_s"], expected)

    def test_parameter_files(self):
        self.write("p.txt", "zbs-hyper-erlang/1\nsizes 2 gap mean 100 cv 1 runtime mean 10 cv 0.5\n")
        self.good("--generate", "jann:jobs=50,processors=4", "--params", "p.txt", "--policy", "fcfs", "--schedule", "s.csv")
        self.assertEqual({row["processors"] for row in csv.DictReader(io.StringIO(self.read("s.csv")))}, {"2"})

    def test_documented_commands(self):
        self.write("log.swf", SMALL)
        self.write("log.swf.gz", gzip.compress(SMALL.encode()))
        for name, copy in (("sacct.txt", "year.txt"), ("slurm.conf", "slurm.conf")):
            shutil.copy(os.path.join(RECORDED, name), self.path(copy))
        documented = re.findall(r"Example: (zbs simulate .*)", self.good("--help").stdout)
        self.assertGreaterEqual(len(documented), 2)
        for command in documented:
            done = subprocess.run(shlex.quote(ZBS) + command.removeprefix("zbs"), shell=True, capture_output=True, text=True,
                                  timeout=60, cwd=self.folder)
            self.assertEqual(done.returncode, 0, command + "\n" + done.stderr)


class RealLogs(Simulate):
    """Logs as archives and systems write them, and what is assumed of their jobs."""
    def run_log(self, text, *more, policy="fcfs"):
        self.write("log.swf", text)
        done = self.good("--trace", "log.swf", "--policy", policy, "--waits", "w.txt", "--json", "--details", *more)
        return json.loads(done.stdout), done.stderr

    def waits(self):
        return {int(number): float(wait) for number, wait in (line.split() for line in self.read("w.txt").splitlines())}

    def test_a_machine_size_that_is_no_number_is_not_passed_over(self):
        for size in ("4,096", "Unknown", "8.0"):
            self.write("log.swf", f"; MaxNodes: 4\n; MaxProcs: {size}\n" + job(1, 0, 10, 4))
            done = self.run_zbs("--trace", "log.swf", "--policy", "easy")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"MaxProcs is '{size}'", done.stderr)
            self.good("--trace", "log.swf", "--policy", "easy", "--processors", "4")

    def test_a_machine_size_that_is_not_clear_is_noted(self):
        for header, said in (("; MaxNodes: 4\n", "its MaxNodes, 4, is taken"), ("; MaxProcs: 4\n; MaxProcs: 8\n", "2 lines MaxProcs: the first, 4, is taken")):
            self.write("log.swf", header + job(1, 0, 10, 4))
            self.assertIn(said, self.good("--trace", "log.swf", "--policy", "easy").stderr)
            self.assertNotIn("the header", self.good("--trace", "log.swf", "--policy", "easy", "--processors", "4").stderr)

    def test_walltimes_without_limit(self):
        unlimited = 2 ** 31 - 1
        found, _ = self.run_log("; MaxProcs: 4\n" + "".join(job(i, 100 * i, 10, 1, unlimited) for i in range(1, 301)), policy="easy")
        self.assertEqual((found["jobs"], found["wait_s"]["max"]), (300, 0))
        self.write("log.swf", "; MaxProcs: 4\n" + "".join(job(i, 0, 10, 1, unlimited) for i in range(1, 301)))
        done = self.run_zbs("--trace", "log.swf", "--policy", "easy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the walltimes of the 269 jobs that run or wait when it is submitted", done.stderr)

    def test_partial_executions_are_left_out_and_counted(self):
        found, notes = self.run_log(HEADER + job(1, 0, 100, 8) + job(1, 0, 60, 8, status=2) + job(1, -1, 40, 8, status=3) + job(2, 10, 50, 8))
        self.assertEqual((found["jobs"], found["dropped"]["partial executions"], self.waits()), (2, 2, {1: 0, 2: 90}))
        self.assertIn("2 lines of partial executions (first on line 4) were left out", notes)
        self.assertNotIn("dropped", notes)

    def test_more_columns_and_words_are_counted(self):
        wide = job(2).strip() + " {3,3} long 1:ppn=4\n"
        words = "3 0 x 10 -1 1e9 6kB 1 -1 1099511627776000 1 ana staff a.out long batch - none\n"
        for more in ((), ("--lenient",)):
            found, notes = self.run_log(HEADER + job(1) + wide + words, *more)
            self.assertEqual((found["jobs"], found["wide_lines"], found["label_lines"], found["skipped_lines"]), (3, 1, 1, 0))
            self.assertIn("1 line with more than 18 fields (first on line 4)", notes)
            self.assertIn("1 line with words or long numbers in fields that no schedule depends on (first on line 5)", notes)

    def test_byte_order_marks_and_carriage_returns(self):
        for text in ("\ufeff; MaxProcs : 4\r\n; Note: x\r\n\r\n" + job(1).replace("\n", "\r\n"), "\ufeff" + job(1) + "; MaxProcs: 4\n"):
            self.assertEqual(self.run_log(text)[0]["jobs"], 1)

    def test_numbers_that_start_anew(self):
        log = HEADER + job(1, 0) + job(2, 5) + job(1, 1000) + job(2, 1005)
        self.write("log.swf", log)
        self.assertIn("--renumber", self.run_zbs("--trace", "log.swf", "--policy", "fcfs").stderr)
        found, _ = self.run_log(log, "--renumber", "--export-swf", "x.swf")
        self.assertEqual((found["jobs"], sorted(self.waits())), (4, [1, 2, 3, 4]))
        self.good("--trace", "x.swf", "--policy", "fcfs", "--waits", "again.txt")
        self.assertEqual(self.read("again.txt"), self.read("w.txt"))
        for more, text in ((("--drop", "duplicate"), "--drop duplicate: drops duplicate jobs, but --renumber"),
                           (("--refuse", "duplicate"), "--refuse duplicate: refuses duplicate jobs, but --renumber")):
            done = self.run_zbs("--trace", "log.swf", "--policy", "fcfs", "--renumber", *more)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)

    def test_a_run_time_of_zero_is_a_choice(self):
        log = HEADER + job(1, runtime=0) + job(2, runtime=0, status=5) + job(3)
        for more, jobs, dropped in (((), 1, 2), (("--zero-runtime", "drop"), 1, 2), (("--zero-runtime", "second"), 2, 1)):
            found, notes = self.run_log(log, *more)
            self.assertEqual((found["jobs"], found["dropped"]["without run time"]), (jobs, dropped))
            self.assertEqual(found["assumptions"]["zero_runtime"], jobs - 1)
            self.assertEqual("1 job has run time 0: 1 s is taken (first on line 3)" in notes, jobs == 2)

    def test_every_assumption_has_a_note_and_a_count(self):
        def line(number, size="1", allocated="1", estimate=20, partition=1, preceding=-1):
            return f"{number} 0 -1 10 {allocated} -1 -1 {size} {estimate} -1 1 -1 -1 -1 -1 {partition} {preceding} -1\n"
        log = HEADER + line(1) + line(2, estimate=-1) + line(3, estimate=0) + line(4, size="-1") + line(5, size="2.5") + line(6, partition=2) + line(7, preceding=1)
        found, notes = self.run_log(log, "--option", "order=priority", policy="easy")
        self.assertEqual(found["assumptions"], {"no_priority": 7, "no_memory": 0, "no_estimate": 2, "other_size": 1, "fraction": 1, "zero_runtime": 0,
                                                "preceding_job": 1, "other_partition": 1})
        for text in ("2 jobs have no estimate: the run time is taken, as if it were known beforehand (first on line 4)",
                     "1 job has no number of processors in the field that was to be taken", "1 job has a number of processors with decimals",
                     "1 job has another job to follow (fields 17 and 18), which is not simulated", "1 job has another partition than the first job",
                     "easy:order=priority goes by priority, but no job has one"):
            self.assertIn(text, notes)
        found, notes = self.run_log(HEADER + job(1, memory=600) + job(2), "--memory", "1MiB", policy="gang")
        self.assertEqual((found["assumptions"]["no_memory"], found["assumptions"]["no_priority"]), (1, 0))
        self.assertIn("--memory: of 1 job the memory is unknown", notes)
        # A class of walltimes is no priority of a job.
        self.assertEqual(self.run_log(HEADER + job(1), "--option", "order=priority", policy="scojo")[0]["assumptions"]["no_priority"], 0)

    def test_jobs_that_slurm_accounted_for(self):
        log = ("--from-sacct", RECORDED + "/sacct.txt")
        machine = ("--slurm-conf", RECORDED + "/slurm.conf")
        found = self.json(*log, *machine, "--policy", "easy", "--details", "--waits", "w.txt", "--export-swf", "x.swf")
        self.assertEqual((found["processors"], found["jobs"], found["dropped"]["without run time"]), (10, 12, 5))
        self.assertEqual((found["settings"]["sacct"], found["settings"]["slurm_conf"]), (log[1], machine[1]))
        self.assertIn("; Queue: 2 long\n", self.read("x.swf"))
        self.good("--trace", "x.swf", "--policy", "easy", "--waits", "again.txt")
        self.assertEqual(self.read("again.txt"), self.read("w.txt"))
        done = self.good(*log, "--processors", "16", "--compare", "fcfs,conservative")
        self.assertIn("zbs: note: 2 jobs of the file became eligible after their submission", done.stderr)
        self.write("default.txt", "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n")
        for arguments, text in ((log, "name the number with --slurm-conf or --processors"), (("--trace", "x.swf", *log), "not from several"),
                                (("--trace", "x.swf", *machine), "--slurm-conf: goes with --from-sacct"),
                                ((*log, *machine, "--refuse", "no-runtime"), "sacct.txt:3: job 2 has no run time above zero: correct it"),
                                ((*log, "--slurm-conf", "x.swf"), "x.swf: the file has no line NodeName"),
                                (("--from-sacct", "default.txt"), "default.txt:1: the header has no column Submit: write the file with sacct")):
            done = self.run_zbs(*arguments, "--policy", "easy")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)

    def test_hints_fit_the_options_given(self):
        self.write("log.swf", "1 2\n" + job(1))
        done = self.run_zbs("--trace", "log.swf", "--policy", "easy", "--lenient")
        self.assertIn("name the number with --processors (1 lines were skipped", done.stderr)
        self.assertNotIn("or skip such lines with --lenient", done.stderr)

    def test_results_can_be_made_again(self):
        found, _ = self.run_log(HEADER + job(1, 7), "--estimates", "raise", "--size", "allocated", "--shift", "--drop", "failed", "--slice", "1m", policy="gang")
        self.assertRegex(found["program"], r"^zbs \d")
        self.assertEqual(found["settings"], {"trace": "log.swf", "size": "allocated", "estimates": "raise", "zero_runtime": "drop", "drop": ["failed"], "refuse": [],
                                             "lenient": False, "renumber": False, "shift": True, "seed": 1, "rules": "batched", "tau_s": 10, "slice_s": 60, "memory_bytes": 0})
        made = self.json("--generate", "lublin:jobs=9", "--seed", "3", "--policy", "scojo", "--details")["settings"]
        self.assertEqual(made, {"generate": "lublin:jobs=9", "seed": 3, "rules": "batched", "tau_s": 10, "coscheduling": "1,1.2,1.3"})

    def test_csv_has_all_digits(self):
        self.write("log.swf", "; MaxProcs: 2\n" + "".join(job(i, i / 10, 0.3, 1, 0.4) for i in range(1, 9)))
        row = next(csv.DictReader(io.StringIO(self.good("--trace", "log.swf", "--policy", "easy", "-o", "csv").stdout)))
        self.assertEqual((row["MAKESPAN_S"], row["WAIT_MEAN_S"], row["WAIT_P95_S"]), ("1.3", "0.15", "0.3"))

    def test_headers_fit_what_is_exported(self):
        header = "; UnixStartTime: 1000000000\n; StartTime: then\n; EndTime: later\n; MaxJobs: 2\n; MaxRecords: 2\n"
        self.run_log(header + HEADER + job(1, 5000) + job(2, 5010, 0), "--shift", "--export-swf", "x.swf")
        lines = self.read("x.swf").splitlines()
        for line in ("; UnixStartTime: 1000005000", "; MaxJobs: 1", "; MaxRecords: 1"):
            self.assertIn(line, lines)
        self.assertNotIn("Time: then", self.read("x.swf"))
        self.assertNotIn("Time: later", self.read("x.swf"))


class BadInput(Simulate):
    def refused(self, arguments, *says, code=2):
        before = sorted(os.listdir(self.folder))
        done = self.run_zbs(*arguments)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        self.assertEqual(done.stdout, "")
        for text in says:
            self.assertIn(text, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before, "something was written")

    def counted(self, log, *says, jobs, more=()):
        """What --lenient makes of it."""
        name = self.write("log.swf", log)
        done = self.good("--trace", name, "--policy", "easy", "--json", *more)
        self.assertEqual(json.loads(done.stdout)["jobs"], jobs)
        for text in says:
            self.assertIn(text, done.stderr)

    def test_lines_that_are_no_jobs(self):
        short = " ".join(job(2).split()[:17]) + "\n"
        for line, *says in ((short, "17 fields instead of 18", "--lenient"), ("oops\n", "1 field instead of 18"),
                            (job(2, "x"), "field 2 is 'x'"), (job(2, 10 ** 15), "field 2", "12 digits")):
            log = self.write("log.swf", HEADER + job(1) + line + job(3))
            self.refused(("--trace", log, "--policy", "easy", "--schedule", "s.csv"), "log.swf:4: ", *says)
            self.counted(HEADER + job(1) + line + job(3), "1 lines were skipped", "log.swf:4: ", jobs=2, more=("--lenient",))

    def test_jobs_that_cannot_run_are_counted_or_refused(self):
        for line, kind, note, refusal in (
                (job(2, size=9), "oversized", "1 larger than the machine (first on line 4)", "job 2 needs 9 processors, but the machine has 8"),
                (job(2, runtime=0), "no-runtime", "1 without run time (first on line 4)", "job 2 has no run time above zero"),
                (job(2, runtime=-7), "no-runtime", "1 without run time (first on line 4)", "job 2 has no run time above zero"),
                (job(2, size=-1), "no-size", "1 without size (first on line 4)", "job 2 has no size"),
                (job(2, submit=-1), "no-submit", "1 without submit time (first on line 4)", "job 2 has no submit time")):
            log = HEADER + job(1) + line + job(3)
            self.counted(log, "1 of 3 jobs were dropped", note, jobs=2)
            for refuse in (kind, "all", "unsorted," + kind):
                self.refused(("--trace", "log.swf", "--policy", "easy", "--refuse", refuse), "log.swf:4: ", refusal)

    def test_allocators_that_cannot_be_had(self):
        made = ("--generate", "uniform:jobs=9,processors=64")
        for arguments, *says in (
                ((*made, "--policy", "easy", "--allocator", "aflo"), "--allocator: there is no allocator 'aflo'; did you mean 'afl'?"),
                ((*made, "--policy", "easy", "--allocator", "afl:shap=line"), "--allocator: allocator afl has no option 'shap'; did you mean 'shape'?"),
                ((*made, "--policy", "easy", "--allocator", "afl:shape=ring"), "--allocator: option shape of allocator afl is 'ring'"),
                ((*made, "--policy", "easy", "--allocator", "mesh-frame:width=7"), "7, which does not divide the machine's 64"),
                ((*made, "--policy", "gang", "--allocator", "afl"), "--allocator: ", "take turns"),
                ((*made, "--compare", "easy,gang", "--allocator", "first-fit"), "--allocator: ", "take turns"),
                ((*made, "--export-swf", "x.swf", "--allocator", "afl"), "--allocator: needs a schedule"),
                (("--generate", "uniform:jobs=9,processors=100", "--policy", "easy", "--allocator", "afl"), "hypercubes of 2^n processors up to 16384, not 100")):
            self.refused(arguments, *says)

    def test_an_allocator_that_serves_nobody_is_named(self):
        self.refused(("--generate", "lublin:jobs=80,processors=64", "--policy", "fcfs", "--allocator", "afl:coalescing=pairwise"),
                     "14 jobs never started", "the allocator has no place", code=7)

    def test_jobs_out_of_order(self):
        log = HEADER + job(1, 5) + job(2, 3)
        self.counted(log, "1 job was not in the order of submission (first on line 4); the log was sorted", jobs=2)
        self.refused(("--trace", "log.swf", "--policy", "easy", "--refuse", "unsorted"), "log.swf:4: ", "before job 1 of line 3")

    def test_job_numbers_that_come_twice(self):
        log = HEADER + job(1) + job(2) + job(1)
        self.write("log.swf", log)
        self.refused(("--trace", "log.swf", "--policy", "easy"), "log.swf:5: job 1 is on line 3, too", "--lenient")
        for more in (("--lenient",), ("--drop", "duplicate")):
            self.counted(log, "1 with the number of another (first on line 5)", jobs=2, more=more)

    def test_impossible_numbers(self):
        for line in (job(-3), job("1.5"), job(2, runtime=10 ** 12 - 1)):
            log = HEADER + job(1) + line
            self.write("log.swf", log)
            self.refused(("--trace", "log.swf", "--policy", "easy"), "log.swf:4: ", "--lenient")
            self.counted(log, "1 with impossible numbers (first on line 4)", jobs=1, more=("--lenient",))

    def test_logs_without_jobs(self):
        for text, *says in (("", "has no jobs"), (HEADER, "has no jobs"), (HEADER + job(1, runtime=0), "no job of the log is left", "1 without run time")):
            self.write("log.swf", text)
            self.refused(("--trace", "log.swf", "--policy", "easy"), "log.swf: ", *says)
        self.write("log.swf", "oops\n")
        self.refused(("--trace", "log.swf", "--policy", "easy", "--lenient"), "has no jobs", "1 lines were skipped, the first at log.swf:1")
        self.refused(("--generate", "uniform:jobs=0", "--policy", "easy"), "0 jobs")

    def test_logs_without_a_machine(self):
        self.write("log.swf", job(1))
        self.refused(("--trace", "log.swf", "--policy", "easy"), "log.swf: ", "MaxProcs", "--processors")
        self.good("--trace", "log.swf", "--policy", "easy", "--processors", "4")

    def test_damaged_archives(self):
        text = HEADER + "".join(job(i, i, 10 + i * i % 97) for i in range(1, 3000))
        whole = gzip.compress(text.encode())
        self.write("cut.gz", whole[:len(whole) // 2])
        self.refused(("--trace", "cut.gz", "--policy", "easy"), "cut off", "--lenient")
        lines = int(re.search(r"cut.gz:(\d+): ", self.run_zbs("--trace", "cut.gz", "--policy", "easy").stderr)[1])
        done = self.good("--trace", "cut.gz", "--policy", "easy", "--lenient", "--json")
        self.assertEqual(json.loads(done.stdout)["jobs"], lines - 1 - 2)
        self.assertIn("the lines before it are used", done.stderr)
        self.write("none.gz", whole[:9])
        self.refused(("--trace", "none.gz", "--policy", "easy"), "none.gz: ", "cut off")
        self.write("wrong.gz", whole[:-8] + b"12345678")
        self.refused(("--trace", "wrong.gz", "--policy", "easy"), "damaged")
        self.write("bomb.gz", gzip.compress(b"0" * (100 << 20)))
        self.refused(("--trace", "bomb.gz", "--policy", "easy"), "more than 200 times")
        self.refused(("--trace", "bomb.gz", "--compare", "easy,fcfs"), "more than 200 times", "run one policy without them")

    def test_files_that_cannot_be_read_or_written(self):
        self.write("log.swf", SMALL)
        self.refused(("--trace", "none.swf", "--policy", "easy"), "none.swf: cannot be read", code=3)
        self.refused(("--trace", ".", "--policy", "easy"), "is a directory")
        self.refused(("--trace", "log.swf", "--policy", "easy", "--schedule", "none/s.csv"), "none/s.csv: cannot be written", code=1)
        os.mkdir(self.path("folder"))
        self.refused(("--trace", "log.swf", "--policy", "easy", "--waits", "folder"), "folder: cannot be written", code=1)

    def test_names(self):
        self.write("log.swf", SMALL)
        log = ("--trace", "log.swf")
        for arguments, *says in (
                ((*log, "--policy", "eazy"), "no policy 'eazy'; did you mean 'easy'?"),
                ((*log, "--policy", "easy", "--option", "ordr=estimate"), "no option 'ordr'; did you mean 'order'?"),
                ((*log, "--policy", "easy", "--option", "order=estimat"), "did you mean 'estimate'?"),
                ((*log, "--policy", "easy:order=arrival", "--option", "order=estimate"), "twice"),
                ((*log, "--policy", "easy", "--option", "order"), "'order' is no option; write NAME=VALUE"),
                ((*log, "--policy", "slack", "--option", "slack=-1"), "option slack of policy slack is '-1'"),
                ((*log, "--compare", "fcfs,eazy"), "--compare: ", "did you mean 'easy'?"),
                ((*log, "--compare", "fcfs,fcfs"), "'fcfs' twice"),
                ((*log, "--compare", "fcfs,"), "no policy ''"),
                (("--generate", "lubln", "--policy", "easy"), "did you mean 'lublin'?"),
                (("--generate", "lublin:jbs=3", "--policy", "easy"), "did you mean 'jobs'?"),
                (("--generate", "lublin:jobs", "--policy", "easy"), "'jobs' is no option"),
                ((*log, "--policy", "easy", "--refuse", "oversize"), "did you mean 'oversized'?"),
                ((*log, "--policy", "easy", "--drop", "canceled"), "did you mean 'cancelled'?")):
            self.refused(arguments, *says)

    def test_options_that_contradict(self):
        self.write("log.swf", SMALL)
        self.write("p.txt", "zbs-hyper-erlang/1\n")
        self.write("empty", "")
        self.write("easy.swf", SMALL)
        self.write("memory.swf", HEADER + job(7, memory=600))
        os.link(f"{self.folder}/log.swf", f"{self.folder}/hard.swf")
        os.symlink(".", f"{self.folder}/here")
        log, made = ("--trace", "log.swf"), ("--generate", "uniform")
        for arguments, *says in (
                (("--policy", "easy"), "--trace FILE, --from-sacct FILE or --generate NAME"),
                ((*log, *made, "--policy", "easy"), "not from several"),
                (log, "which policy?"),
                ((*log, "--policy", "easy", "--compare", "fcfs"), "not both"),
                ((*log, "--compare", "easy,fcfs", "--option", "order=estimate"), "--option: ", "easy:order=estimate"),
                ((*log, "--option", "order=estimate"), "--option: "),
                ((*log, "--schedule", "s.csv"), "--schedule: needs a schedule"),
                ((*log, "--compare", "easy,fcfs", "--schedule", "s.csv"), "--schedule: ", "{policy}"),
                ((*log, "--policy", "easy", "--schedule", "s", "--waits", "s"), "--waits: would write the same file as --schedule"),
                ((*log, "--policy", "easy", "--schedule", "./s", "--waits", "s"), "--waits: would write the same file as --schedule"),
                ((*log, "--policy", "easy", "--export-swf", "log.swf"), "--export-swf: would overwrite the file of --trace"),
                ((*log, "--policy", "easy", "--export-swf", "./log.swf"), "--export-swf: would overwrite the file of --trace"),
                ((*log, "--policy", "easy", "--export-swf", "hard.swf"), "--export-swf: would overwrite the file of --trace"),
                ((*log, "--policy", "easy", "--schedule", "here/s", "--waits", "s"), "--waits: would write the same file as --schedule"),
                (("--generate", "jann", "--params", "p.txt", "--export-swf", "./p.txt"), "--export-swf: would overwrite the file of --params"),
                ((*log, "--policy", "easy", "--slice", "10s"), "--slice: ", "(gang)"),
                ((*log, "--policy", "adaptive-scojo", "--slice", "1s"), "--slice: is for policy gang; adaptive-scojo", "its option slice"),
                ((*log, "--policy", "adaptive-scojo", "--memory", "1GiB"), "--memory: is for policy gang; adaptive-scojo"),
                ((*log, "--compare", "gang,adaptive-scojo", "--slice", "1s"), "--slice: is for policy gang; adaptive-scojo"),
                ((*log, "--policy", "adaptive-scojo", "--allocator", "first-fit"), "--allocator: ", "policy adaptive-scojo lets them take turns"),
                ((*log, "--policy", "easy", "--coscheduling", "1,1.2"), "--coscheduling: ", "(scojo)"),
                ((*log, "--policy", "scojo", "--coscheduling", "1,much"), "--coscheduling: ", "'much'", "application"),
                ((*log, "--policy", "scojo", "--coscheduling", "1,0"), "--coscheduling: ", "0.1 to 100"),
                ((*log, "--policy", "easy", "--flexibility", "mixd"), "--flexibility: ", "did you mean 'mix'?"),
                ((*log, "--policy", "easy", "--flexibility", "group"), "--flexibility group: job 1 is of group 4"),
                ((*log, "--policy", "scojo", "--allocator", "first-fit"), "share"),
                ((*log, "--policy", "scojo:level=17"), "1 to 16"),
                ((*log, "--policy", "elmer", "--allocator", "first-fit"), "share"),
                ((*log, "--policy", "elmer:degree=0"), "degree", "1 to 48"),
                ((*log, "--policy", "elmer:threshold=1.5"), "threshold", "0 to 1"),
                ((*log, "--policy", "elmer:rule=v1:threshold=0.5"), "threshold", "not heeded by rule=v1"),
                ((*log, "--policy", "easy", "--seed", "-1"), "--seed", "from 0"),
                ((*log, "--policy", "easy", "--schedule", "{policy}.txt", "--waits", "easy.txt"), "same file as --schedule"),
                ((*log, "--policy", "log", "--schedule", "{policy}.swf"), "no policy 'log'"),
                (("--trace", "easy.swf", "--policy", "easy", "--schedule", "{policy}.swf"), "would overwrite the file of --trace"),
                ((*log, "--compare", "easy,fcfs", "--schedule", "{policy}", "--waits", "{policy}"), "same file"),
                ((*log, "--policy", "easy", "--tau", "4e-7"), "--tau: "),
                ((*log, "--policy", "lazy-gang:patience=1ms+1s+1s"), "1 s or more"),
                ((*log, "--policy", "los:lookahead=100000", "--processors", "100000000"), "1 GiB"),
                (("--trace", "memory.swf", "--policy", "gang", "--memory", "1KiB"), "job 7", "614400 bytes"),
                ((*log, "--policy", "easy", "--memory", "1GiB"), "--memory: "),
                ((*log, "--policy", "gang", "--slice", "0"), "--slice: ", "longer than nothing"),
                ((*log, "--policy", "gang", "--slice", "soon"), "--slice: ", "no duration"),
                (("--generate", "uniform:processors=100", "--policy", "gang:packing=buddy"), "power of two"),
                ((*log, "--policy", "easy", "--tau", "0"), "--tau: "),
                ((*log, "--policy", "easy", "--tau", "nan"), "--tau"),
                ((*log, "--policy", "easy", "--processors", "0"), "--processors"),
                ((*log, "--policy", "easy", "--rules", "both"), "--rules"),
                ((*log, "--policy", "easy", "--params", "p.txt"), "--params: "),
                ((*log, "--policy", "easy", "--lenient", "--refuse", "duplicate"), "--lenient"),
                ((*log, "--policy", "easy", "--drop", "duplicate", "--refuse", "duplicate"), "--drop duplicate"),
                ((*made, "--policy", "easy", "--lenient"), "--lenient: "),
                ((*made, "--policy", "easy", "--refuse", "all"), "--refuse: "),
                ((*made, "--policy", "easy", "--drop", "failed"), "--drop: "),
                ((*made, "--policy", "easy", "--size", "allocated"), "--size: "),
                ((*made, "--policy", "easy", "--estimates", "exact"), "--estimates: "),
                ((*made, "--policy", "easy", "--shift"), "--shift: "),
                ((*made, "--policy", "easy", "--params", "p.txt"), "only generator jann"),
                (("--generate", "jann", "--policy", "easy", "--params", "p.txt"), "p.txt:1: no size class"),
                (("--generate", "jann", "--policy", "easy", "--params", "empty"), "empty: the parameter file is empty"),
                (("--generate", "uniform:processors=4", "--policy", "easy", "--processors", "8"), "--processors: is given here and")):
            self.refused(arguments, *says)

    def test_names_from_files_do_not_drive_the_terminal(self):
        self.write("\x1b[2Jlog", "x\x1b[2J\n")
        self.assertNotIn("\x1b", self.run_zbs("--trace", "\x1b[2Jlog", "--policy", "easy").stderr)

    def test_faults_are_problem_objects_in_json(self):
        done = self.run_zbs("--trace", "none.swf", "--policy", "easy", "--json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(json.loads(done.stdout)["code"], "not_found")


class PublishedSchedules(Simulate):
    """Mean wait, p95, max, mean bounded slowdown, utilization, makespan of KTH-SP2 [the notes that come with the traces, section 4]."""
    KTH = {
        "fcfs": (353776.4091, 805926, 946685, 6814.9733, 0.6852, 29379608),
        "easy": (6836.8721, 37619, 262194, 92.5765, 0.6856, 29363626),
        "conservative": (7310.5512, 38994, 249058, 88.9973, 0.6856, 29363626),
        "sjbf": (5904.0766, 35012, 284815, 69.4054, 0.6856, 29363626),
    }

    def test_kth_sp2_under_the_reference_rules(self):
        log = self.trace("KTH-SP2-1996-2.swf.gz")
        found = self.json("--trace", log, "--compare", ",".join(self.KTH), "--rules", "reference", "--waits", "{policy}.txt")["schedules"]
        for one in found:
            wait, p95, longest, bounded, utilization, makespan = self.KTH[one["policy"]]
            self.assertEqual(one["jobs"], 28481)
            self.assertEqual(round(one["wait_s"]["mean"], 4), wait)
            self.assertEqual((one["wait_s"]["p95"], one["wait_s"]["max"], one["makespan_s"]), (p95, longest, makespan))
            self.assertEqual(round(one["bounded_slowdown"]["mean"], 4), bounded)
            self.assertEqual(round(one["utilization"], 4), utilization)
            oracle = self.trace(f"oracle/KTH-SP2-{'cons' if one['policy'] == 'conservative' else one['policy']}.wait.gz")
            with gzip.open(oracle, "rt") as f:
                expected = [line for line in f if line[0] not in "#;"]
            self.assertEqual(self.read(one["policy"] + ".txt"), "".join(expected), one["policy"])

    def test_kth_sp2_under_the_batched_rules(self):
        log = self.trace("KTH-SP2-1996-2.swf.gz")
        for one, wait, bounded in zip(self.json("--trace", log, "--compare", "easy,sjbf")["schedules"], (6834.5873, 5903.6864), (92.6877, 69.3936)):
            self.assertEqual((round(one["wait_s"]["mean"], 4), round(one["bounded_slowdown"]["mean"], 4)), (wait, bounded))

    def test_kth_sp2_with_exact_estimates(self):
        log = self.trace("KTH-SP2-1996-2.swf.gz")
        for one, bounded in zip(self.json("--trace", log, "--compare", "easy,sjbf", "--rules", "reference", "--estimates", "exact")["schedules"], (71.7224, 49.8477)):
            self.assertEqual(round(one["bounded_slowdown"]["mean"], 4), bounded)

    def test_a_log_in_the_order_of_completion_is_sorted(self):
        log = self.trace("oracle/predictsim-EASY-SDSC-SP2.swf.gz")
        done = self.good("--trace", log, "--policy", "easy", "--rules", "reference", "--json")
        self.assertIn("15537 jobs were not in the order of submission", done.stderr)
        self.assertEqual(round(json.loads(done.stdout)["wait_s"]["mean"], 4), 20497.7610)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
