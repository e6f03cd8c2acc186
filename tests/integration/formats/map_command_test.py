"""`zbs map` from the outside: graphs onto hierarchies against an independent count, bad input, and the documented commands.

usage: map_command_test.py ZBS SOURCE_DIR
"""
import bz2
import gzip
import json
import lzma
import math
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ZBS, SOURCE = sys.argv[1:3]
ALGORITHMS = ["metis", "greedy", "block", "round-robin", "random", "global", "hier"]


def grid(rows, columns, weigh=lambda u, v: 1, work=lambda t: 1):
    """compute, {(u, v): bytes}"""
    edges = {}
    for t in range(rows * columns):
        if (t + 1) % columns:
            edges[t, t + 1] = weigh(t, t + 1)
        if t + columns < rows * columns:
            edges[t, t + columns] = weigh(t, t + columns)
    return [work(t) for t in range(rows * columns)], edges


def graph_text(compute, edges):
    lines = [[str(c)] for c in compute]
    for (u, v), w in sorted(edges.items()):
        lines[u] += [str(v + 1), str(w)]
        lines[v] += [str(u + 1), str(w)]
    return f"{len(compute)} {len(edges)} 011\n" + "".join(" ".join(line) + "\n" for line in lines)


def judge(compute, edges, arity, distances, on):
    """cost, occupancy, imbalance by the definitions, sharing nothing with the library."""
    def far(a, b):
        last = 0
        for size, d in zip(arity, distances):
            if a == b:
                return last
            a, b, last = a // size, b // size, d
        return last
    processors = math.prod(arity)
    load = [0] * processors
    for t, p in enumerate(on):
        load[p] += compute[t]
    cost = sum(w * far(on[u], on[v]) for (u, v), w in edges.items())
    occupancy, size = max(load), 1
    for level, factor in enumerate(arity):
        crossing = [0] * (processors // size)
        for (u, v), w in edges.items():
            a, b = on[u] // size, on[v] // size
            if a != b:
                crossing[a] += w * distances[level]
                crossing[b] += w * distances[level]
        occupancy = max(occupancy, *crossing)
        size *= factor
    return cost, occupancy, max(load) / (sum(compute) / processors) - 1


class MapCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def map(self, *arguments):
        return subprocess.run([ZBS, "map", *arguments], capture_output=True, text=True, timeout=120, cwd=self.folder)

    def json(self, *arguments):
        done = self.map(*arguments, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Hierarchies(MapCommand):
    ONTO = ("--hierarchy", "2:3:2", "--distances", "1:10:100")

    def test_figures_are_those_of_the_definitions(self):
        draw = random.Random(7)
        for case in range(5):
            compute, edges = grid(7, 9, lambda u, v: draw.randrange(0, 9), lambda t: draw.randrange(1, 4))
            self.write("g.graph", graph_text(compute, edges))
            for algorithm in ALGORITHMS:
                found = self.json("--graph", "g.graph", *self.ONTO, "--algorithm", algorithm, "--seed", str(case), "--imbalance", "0.2")
                self.assertEqual([row["task"] for row in found["mapping"]], list(range(63)))
                on = [row["processor"] for row in found["mapping"]]
                cost, occupancy, imbalance = judge(compute, edges, (2, 3, 2), (1, 10, 100), on)
                self.assertEqual(found["cost"], cost)
                self.assertEqual(found["occupancy"], occupancy)
                self.assertAlmostEqual(found["imbalance"], imbalance, 9)
                self.assertEqual(found["block_bound"], math.ceil(1.2 * sum(compute) / 12 - 1e-9))
                self.assertTrue(found["feasible"], algorithm)
                self.assertGreaterEqual(found["seconds"], 0)

    def test_a_mapping_is_judged_the_same_from_json_and_from_lines(self):
        self.write("g.graph", graph_text(*grid(6, 6)))
        found = self.json("--graph", "g.graph", *self.ONTO)
        self.write("m.json", json.dumps(found))
        self.write("m.txt", "".join(f"{row['processor']}\n" for row in found["mapping"]))
        self.write("m.crlf", "".join(f" {row['processor']} \r\n" for row in found["mapping"]) + "\r\n\n")
        for name in ("m.json", "m.txt", "m.crlf"):
            again = self.json("--graph", "g.graph", *self.ONTO, "--evaluate", name)
            for key in ("cost", "occupancy", "imbalance", "feasible", "mapping", "block_bound"):
                self.assertEqual(again[key], found[key], name)

    def test_the_version_comes_first_and_one_that_is_not_known_is_refused_with_the_remedy(self):
        self.write("g.graph", graph_text(*grid(6, 6)))
        found = self.json("--graph", "g.graph", *self.ONTO)
        self.assertEqual(next(iter(found.items())), ("version", 1))
        without = {key: value for key, value in found.items() if key != "version"}
        for name, document, message in (("old.json", without, ""), ("new.json", without | {"version": 2, "more": []}, "new.json /version: is 2, and this program reads 1; make the file again with the 'zbs map'"),
                                     ("text.json", without | {"version": "1"}, "text.json /version: ")):
            with self.subTest(name):
                self.write(name, json.dumps(document))
                done = self.map("--graph", "g.graph", *self.ONTO, "--evaluate", name, "--format", "json")
                self.assertEqual(done.returncode, 2 if message else 0, done.stderr)
                self.assertIn(message, done.stderr)

    def test_an_overfull_mapping_is_judged_infeasible(self):
        self.write("g.graph", graph_text(*grid(4, 6)))
        self.write("m.txt", "0\n" * 24)
        found = self.json("--graph", "g.graph", *self.ONTO, "--evaluate", "m.txt")
        self.assertEqual((found["cost"], found["feasible"], found["imbalance"]), (0, False, 11))
        self.assertIn("allow more --imbalance\n", self.map("--graph", "g.graph", *self.ONTO, "--evaluate", "m.txt").stderr)
        self.assertIn("allow more --tasks-per-processor\n", self.map("--graph", "g.graph", *self.ONTO, "--evaluate", "m.txt", "--tasks-per-processor", "2").stderr)

    def test_one_task_per_processor(self):
        self.write("g.graph", graph_text(*grid(3, 4)))
        found = self.json("--graph", "g.graph", *self.ONTO, "--tasks-per-processor", "1")
        self.assertEqual(sorted(row["processor"] for row in found["mapping"]), list(range(12)))
        self.assertEqual(found["block_bound"], 1)

    def test_output_and_listings(self):
        self.write("g.graph", graph_text(*grid(2, 2)))
        self.assertEqual(self.map("--graph", "g.graph", *self.ONTO, "--output", "m.txt").returncode, 0)
        with open(self.folder + "/m.txt") as f:
            self.assertEqual(len(f.read().split()), 4)
        self.assertEqual(self.map("--graph", "g.graph", *self.ONTO, "--evaluate", "m.txt", "-o", "csv").stdout.splitlines()[0], "TASK,PROCESSOR,GROUPS")
        self.assertEqual(json.loads(self.map("--graph", "g.graph", *self.ONTO, "--output", "json").stdout)["format"], "zbs-tree-mapping/1")

    def test_threads_and_repeats_change_nothing(self):
        self.write("g.graph", graph_text(*grid(20, 20)))
        for preset in ("fast", "default", "strong"):
            maps = [self.json("--graph", "g.graph", *self.ONTO, "--preset", preset, "--threads", str(n))["mapping"] for n in (1, 2, 2)]
            self.assertEqual(maps[0], maps[1])
            self.assertEqual(maps[1], maps[2])

    def test_a_model_onto_a_hierarchy_and_a_graph_onto_resources(self):
        self.write("m.json", json.dumps({"format": "zbs-model/1", "program": "p", "ranks": 3, "compute": [1, 1, 1], "edges": [[0, 1, 5, 1]]}))
        self.assertEqual(len(self.json("--model", "m.json", *self.ONTO)["mapping"]), 3)
        self.write("r.json", json.dumps({"format": "zbs-resources/1", "links": [], "zones": [{"name": "a", "machines": [{"name": "n", "processors": 4, "speed": 1}]}]}))
        self.write("g.graph", graph_text(*grid(2, 2)))
        for algorithm in ("hier", "greedy", "metis"):
            self.assertEqual(self.json("--graph", "g.graph", "--resources", "r.json", "--algorithm", algorithm)["format"], "zbs-mapping/1")


    def test_a_model_of_a_run_that_was_not_recorded_whole_is_mapped_with_a_warning(self):
        model = {"format": "zbs-model/1", "program": "p", "ranks": 2, "compute": [1, 1], "edges": [], "complete": False}
        for more, says in (({"unseen": {"MPI_X": 5}}, "lacks the messages of MPI_X (5 calls)"), ({}, "lacks what came after the run was cut short")):
            self.write("m.json", json.dumps({**model, **more}))
            done = self.map("--model", "m.json", *self.ONTO)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("m.json " + says, done.stderr)

    def test_the_default_is_no_worse_than_any_other_algorithm_on_small_graphs(self):
        edges = {(0, 1): 1000, (2, 3): 1000, (4, 5): 1000, (6, 7): 1000, (1, 2): 10, (3, 4): 10, (5, 6): 10}
        self.write("g.graph", graph_text([1] * 8, edges))
        zone = lambda name, *sizes: {"name": name, "machines": [{"name": f"{name}{i}", "processors": size, "speed": 1} for i, size in enumerate(sizes)]}
        self.write("r.json", json.dumps({"format": "zbs-resources/1", "zones": [zone("a", 2, 3), zone("b", 1), zone("c", 2, 1)],
                                         "links": [{"a": "a", "b": "b", "delay_s": 0.001, "bandwidth_Bps": 1e8}]}))
        costs = {name: self.json("--graph", "g.graph", "--resources", "r.json", "--algorithm", name)["cost"]
                 for name in ("auto", "greedy", "global", "hier", "metis", "multilevel", "block")}
        self.assertEqual(costs["auto"], min(costs.values()), costs)

    def test_a_mapping_can_be_made_again_from_its_json(self):
        self.write("g.graph", graph_text(*grid(5, 5)))
        found = self.json("--graph", "g.graph", *self.ONTO, "--algorithm", "random", "--seed", "7")
        again = [word for name in ("graph", "hierarchy", "distances", "algorithm", "seed", "imbalance", "preset", "objective", "tasks_per_processor")
                 for word in ("--" + name.replace("_", "-"), str(found["settings"][name]))]
        self.assertEqual(self.json(*again)["mapping"], found["mapping"])
        self.assertRegex(found["program"], r"^zbs \d")


class GraphFiles(MapCommand):
    ONTO = ("--hierarchy", "3", "--distances", "1", "--tasks-per-processor", "1")

    def test_other_graph_formats_are_read(self):
        path = {(0, 1): 1, (1, 2): 1}
        for name, text, warning in (
                ("hash.graph", "# graph\n3 2\n2\n1 3\n2\n", ""), ("zero.graph", "3 2\n1\n0 2\n1\n", "zero.graph counts tasks from 0"),
                ("two.graph", "3 2 010 2\n1 9 2\n1 9 1 3\n1 9 2\n", "two.graph has 2 weights per task"),
                ("m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", ""),
                ("snap.txt", "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n", ""),
                ("gaps.txt", "# Nodes: 4 Edges: 2\n# FromNodeId\tToNodeId\n2\t10\n10\t90\n", "gaps.txt has 3 nodes with ids from 2 to 90"),
                ("g.graph.gz", gzip.compress(b"3 2\n2\n1 3\n2\n"), "")):
            with self.subTest(name):
                done = self.map("--graph", self.write(name, text), *self.ONTO, "--format", "json")
                self.assertEqual(done.returncode, 0, done.stderr)
                found = json.loads(done.stdout)
                self.assertEqual(found["cost"], sum(path.values()))
                self.assertEqual(done.stderr.startswith("zbs: warning: " + warning) if warning else done.stderr == "", True, done.stderr)

    def test_a_model_may_be_compressed(self):
        model = {"format": "zbs-model/1", "program": "p", "ranks": 3, "compute": [1, 1, 1], "edges": [[0, 1, 5, 1]]}
        self.write("m.json.gz", gzip.compress(json.dumps(model).encode()))
        self.assertEqual(self.json("--model", "m.json.gz", *self.ONTO)["cost"], 5)

    def test_a_graph_of_another_compressor_is_named(self):
        for name, data in (("xz", lzma.compress(b"3 2\n2\n1 3\n2\n")), ("bzip2", bz2.compress(b"3 2\n2\n1 3\n2\n"))):
            done = self.map("--graph", self.write("g." + name, data), *self.ONTO)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"is compressed with {name}", done.stderr)

    def test_metis_prints_nothing_of_its_own(self):
        self.write("g.graph", "9 14 010\n1 4 7\n1 3\n10 2 4 9\n1 1 3 5 6 7\n1 4 6 9\n1 4 5 8\n31 1 4 8 9\n1 6 7 9\n1 3 5 7 8\n")
        self.assertEqual(len(self.json("--graph", "g.graph", "--hierarchy", "8", "--distances", "1", "--algorithm", "metis")["mapping"]), 9)


class BadInput(MapCommand):
    def refused(self, arguments, *says, code=2):
        done = self.map(*arguments, "--format", "json", "--output", "out.json")
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        self.assertEqual(done.stdout, "")
        for text in says:
            self.assertIn(text, done.stderr)
        self.assertFalse(os.path.exists(self.folder + "/out.json"), "something was written")

    def test_graphs(self):
        onto = ("--hierarchy", "2:2", "--distances", "1:10")
        for text, *says in (
                ("3 2\n2\n1 3\n\n", "g.graph:3: task 2 (line 3) names neighbour 3, but task 3 (line 4)"),
                ("2 1 1\n2 5\n1 6\n", "g.graph:3", "weighs 5 on one line and 6 on the other"),
                ("2 1 1\n2 -5\n1 -5\n", "g.graph:2", '"-5"'),
                ("2 1 1\n2 nan\n1 nan\n", "g.graph:2", '"nan"'),
                ("2 1\n1\n1\n", "g.graph:2", "its own neighbour"),
                ("5 1\n2\n1\n", "g.graph:3", "ends after 2 of 5"),
                ("", "holds no graph"),
                ("\x7fELF", "number of tasks")):
            self.write("g.graph", text)
            self.refused(("--graph", "g.graph", *onto), *says)
        self.refused(("--graph", "none.graph", *onto), "none.graph", "cannot be read", code=3)
        self.refused(("--graph", ".", *onto), "is a directory")

    def test_hierarchies(self):
        self.write("g.graph", graph_text(*grid(3, 3)))
        for hierarchy, distances, *says in (
                ("2:4", "1:10", "9 tasks", "8 processors x 1"),):
            self.refused(("--graph", "g.graph", "--hierarchy", hierarchy, "--distances", distances, "--tasks-per-processor", "1"), *says)
        for hierarchy, distances, *says in (
                ("2:x", "1:10", "--hierarchy", "level 2", "4:8:6"), ("2:0", "1:10", "level 2 has 0 parts"), ("", "1", "onto what?"),
                ("2:4", "1", "1 distances for 2 levels"), ("2:4", "1:nan", "distance 2"), ("2:4", "1:-10", "distance 2"),
                ("2:4", "", "go together"), ("10000:10000", "1:2", "more than 10000000")):
            self.refused(("--graph", "g.graph", "--hierarchy", hierarchy, "--distances", distances), *says)
        done = self.map("--graph", "g.graph", "--hierarchy", "2:4:2", "--distances", "10:10:1", "--format", "json")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("is not farther than level"), 2)

    def test_an_odd_name_is_one_of_the_resources(self):
        self.write("g.graph", "2 1\n2\n1\n")
        for zone, machine, form, said in (("a b", "m", "rsl", "the LAN id 'a b' holds white space"), ("a", "m 1", "hostfile", '"m 1" is no host name')):
            self.write("r.json", json.dumps({"format": "zbs-resources/1", "zones": [{"name": zone, "machines": [{"name": machine, "processors": 2}]}], "links": []}))
            done = self.map("--graph", "g.graph", "--resources", "r.json", "--format", form, "--", "/bin/true")
            self.assertEqual((done.returncode, "zbs: r.json: " + said in done.stderr), (2, True), done.stderr)

    def test_options(self):
        self.write("g.graph", graph_text(*grid(3, 3)))
        onto = ("--graph", "g.graph", "--hierarchy", "2:4", "--distances", "1:10")
        self.refused(("--hierarchy", "2:4", "--distances", "1:10"), "what is to be mapped?")
        self.refused((*onto, "--model", "m.json"), "not both")
        self.refused((*onto, "--resources", "m.json"), "not both")
        for value in ("nan", "-0.1", "inf"):
            self.refused((*onto, "--imbalance", value), "--imbalance")
            self.refused((*onto, "--time-limit", value), "--time-limit")
        self.refused((*onto, "--algorithm", "magic"), "known are", "greedy metis")
        self.refused(("--graph", "g.graph", "--hierarchy", "2:2:2:2", "--distances", "1:2:3:4", "--algorithm", "hier"), "has 4 levels")
        for extra in (("--preset", "slow"), ("--objective", "beauty"), ("--threads", "-1"), ("--threads", "many")):
            self.assertEqual(self.map(*onto, *extra).returncode, 2)
        done = self.map(*onto, "--format", "rsl", "--output", "out.json", "--", "./a")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--resources", done.stderr)
        done = self.map(*onto, "--output", "no/such/folder")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be written", done.stderr)

    def test_mappings_that_do_not_fit(self):
        self.write("g.graph", graph_text(*grid(2, 2)))
        for text, *says in (
                ("0\n1\n2\n", "maps 3 tasks, but the graph has 4"), ("0\n1\n2\n3\n4\n", "m:5", "more lines than the 4 tasks"),
                ("0\n1\n8\n3\n", "m:3", "processor 8 is not in 0..7"), ("0\n-1\n2\n3\n", "m:2", "-1"), ("0\n1\n2\nx\n", "m:4", '"x"'),
                ("0\n\n2\n3\n", "m:2"), ("0\n1.5\n2\n3\n", "m:2"), ("", "maps 0 tasks"), ("0\n99999999999999999999\n", "m:2"),
                ('{"format":"zbs-mapping/1","mapping":[]}', "m /format"),
                ('{"format":"zbs-tree-mapping/1","processors":8,"mapping":[]}', "maps 0 tasks"),
                ('{"format":"zbs-tree-mapping/1","processors":9,"mapping":[]}', "m /processors"),
                ('{"format":', "m ")):
            self.write("m", text)
            self.refused(("--graph", "g.graph", "--hierarchy", "2:4", "--distances", "1:10", "--evaluate", "m"), *says)

    def test_launch_formats(self):
        self.write("m.json", json.dumps({"format": "zbs-model/1", "program": "p", "ranks": 4, "compute": [1] * 4, "edges": []}))
        zone = lambda name: {"name": name, "machines": [{"name": "n" + name, "processors": 2, "speed": 1}]}
        self.write("r.json", json.dumps({"format": "zbs-resources/1", "links": [], "zones": [zone("a"), zone("b")]}))
        base = ("--model", "m.json", "--resources", "r.json", "--output", "out", "--format")
        for extra, *says in (
                (("rsl",), "which program?"), (("jsdl", "--", "./a"), "zones a b", "{zone}"), (("jsdl", "--zone", "c", "--", "./a"), "zone 'c'"),
                (("rsl", "--zone", "a", "--", "./a"), "leave --zone out"), (("rsl", "-t", "soon", "--", "./a"), "--walltime"),
                (("rsl", "-t", "90", "--", "./a"), "'90' has no unit: 90m for minutes"),
                (("rsl", "--env", "A", "--", "./a"), "--env"), (("rsl", "--contact", "x=y", "--", "./a"), "--contact"),
                (("table", "--zone", "a"), "--zone")):
            done = self.map(*base, *extra)
            self.assertEqual(done.returncode, 2, extra)
            for text in says:
                self.assertIn(text, done.stderr)
            self.assertFalse(os.path.exists(self.folder + "/out"))


    def test_options_that_a_format_has_no_place_for_are_named(self):
        self.write("m.json", json.dumps({"format": "zbs-model/1", "program": "p", "ranks": 1, "compute": [1], "edges": []}))
        self.write("r.json", json.dumps({"format": "zbs-resources/1", "links": [], "zones": [{"name": "a", "machines": [{"name": "n", "processors": 1, "speed": 1}]}]}))
        base = ("--model", "m.json", "--resources", "r.json", "-D", "/x", "-t", "5m", "--contact", "a=b", "--format")
        for form, says in (("rankfile", "note: rankfile has no place for --chdir, --walltime, --contact; give"), ("jsdl", "note: jsdl has no place for --contact;"),
                           ("table", "note: table has no place for --chdir, --walltime, --contact, the program"), ("rsl", "")):
            done = self.map(*base, form, "--", "./a")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual("no place" in done.stderr, says != "")

    def test_hosts_of_one_zone_are_its_machines(self):
        self.write("m.json", json.dumps({"format": "zbs-model/1", "program": "p", "ranks": 2, "compute": [1, 1], "edges": []}))
        zone = lambda name, processors: {"name": name, "machines": [{"name": "n", "processors": processors, "speed": 1}]}
        for zones, hosts in (([zone("a", 2)], ["n:2"]), ([zone("a", 1), zone("b", 1)], ["a.n:1", "b.n:1"])):
            self.write("r.json", json.dumps({"format": "zbs-resources/1", "links": [], "zones": zones}))
            done = self.map("--model", "m.json", "--resources", "r.json", "--format", "hostfile")
            self.assertEqual(sorted(done.stdout.split()), hosts)
            self.assertEqual("ZONE.MACHINE" in done.stderr, len(zones) > 1)


class ProgramsOptions(MapCommand):
    def test_what_stands_behind_the_dashes_is_the_programs(self):
        self.write("m.json", json.dumps({"format": "zbs-model/1", "program": "p", "ranks": 1, "compute": [1], "edges": []}))
        self.write("r.json", json.dumps({"format": "zbs-resources/1", "links": [], "zones": [{"name": "a", "machines": [{"name": "n", "processors": 1, "speed": 1}]}]}))
        for last in (("--env", "A=1"), ("--contact", "a=b"), ("--zone", "a")):
            form = "jsdl" if last[0] == "--zone" else "psij"
            done = self.map("--model", "m.json", "--resources", "r.json", "--format", form, *last, "--", "./a", "-n", "--seed", "x", "--format=y")
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in ("-n", "--seed", "--format=y"):
                self.assertIn(word, done.stdout)
        for last in (("--env", "A=1"), ("--zones", "a,b"), ("--zones", "a", "--zones", "b")):
            done = subprocess.run([ZBS, "run", "--url", "http://127.0.0.1:1", "--identity", "spiffe://a/user/b", "-D", "/no/folder", *last, "--", "/bin/echo", "-n", "x"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)  # past the options, before any network


class Documentation(MapCommand):
    def test_documented_commands_run(self):
        self.write("model.json", json.dumps({"format": "zbs-model/1", "program": "p", "ranks": 4, "compute": [1] * 4, "edges": [[0, 1, 5, 1]]}))
        zone = lambda name: {"name": name, "machines": [{"name": "n" + name, "processors": 4, "speed": 1}]}
        self.write("zones.json", json.dumps({"format": "zbs-resources/1", "links": [], "zones": [zone("a"), zone("b")]}))
        self.write("mesh.graph", graph_text(*grid(30, 30)))
        documented = re.findall(r"Example: (zbs map .*)", subprocess.run([ZBS, "map", "--help"], capture_output=True, text=True).stdout)
        self.assertGreaterEqual(len(documented), 2)
        os.symlink(SOURCE + "/tests", os.path.join(self.folder, "tests"))
        for command in documented:
            line = shlex.quote(ZBS) + command.removeprefix("zbs")
            done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, cwd=self.folder)
            self.assertEqual(done.returncode, 0, command + "\n" + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
