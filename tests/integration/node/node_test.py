"""Node agents with real processes: steps, what they survive, how they end, who may call, and slices.

usage: node_test.py PROGRAM_DIR SOURCE_DIR [unittest arguments]
"""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import unittest

from agents import Agents, Starter, marked, own, run, until

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()


def overlap_s(a, b):
    """Seconds in which both had a processor; both in order of time."""
    total, i, j = 0, 0, 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total / 1e9


def make_control_group():
    """A control group (v2) of this test's own; nothing where it may make none."""
    for mount in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        group = pathlib.Path(mount) / f"zbs-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / "cgroup.freeze").exists():
            return group
        group.rmdir()
    return None


class NodeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-node-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.group = make_control_group()
        if cls.group:
            cls.addClassCleanup(cls.remove_group)
        cls.world = Agents(cls.folder, PROGRAMS)
        cls.addClassCleanup(cls.world.stop)
        cls.world.add("n1")
        cls.world.add("n2")
        if cls.group:
            cls.world.add("frozen", f'control_group = "{cls.group}"')

    @classmethod
    def remove_group(cls):
        for inner in sorted(cls.group.glob("*/")):
            inner.rmdir()
        cls.group.rmdir()

    def agents_of_the_zone(self, who="operator"):
        identity = own(self.world.cas["alpha"] / "operator") if who == "operator" else self.world.issue("alpha", "user", "ana")
        reply = self.world.ask_zone("GET", "/v1/nodes", identity)
        self.assertEqual(reply.status, 200, reply.body)
        return {agent["description"]["name"]: agent for agent in reply.json["agents"]}

    def set_slices(self, name, rows, **changes):
        number = self.world.call(name, "GET", "/v1/node", status=200).json["slices"] + 1
        column = {"number": number, "epoch_us": time.time_ns() // 1000, "slice_us": 50_000, "rows": rows, "fill": "none", "fillers": [], **changes}
        return self.world.call(name, "PUT", "/v1/slices", column, 200)

    def test_agents_register_with_their_zone(self):
        agents = until(lambda: (found := self.agents_of_the_zone()).keys() == self.world.agents.keys() and found, "all agents at the zone")
        for name, agent in agents.items():
            self.assertTrue(agent["live"])
            self.assertEqual(agent["url"], f"https://127.0.0.1:{self.world.agents[name].port}")
            self.assertEqual(agent["description"]["processors"], len(os.sched_getaffinity(0)))
            self.assertGreaterEqual(agent["description"]["processors"], agent["description"]["cores"])
            self.assertLessEqual(agent["load"]["cpu_available"], agent["description"]["processors"])
            self.assertGreater(agent["load"]["memory_available_bytes"], 1 << 20)
        self.assertNotIn("url", self.agents_of_the_zone("user")["n1"])

    def test_a_step_runs_and_its_output_is_read(self):
        self.world.begin("n1", "hello", "echo out; echo err >&2; cat given; exit 3", files=[{"name": "given", "text": "a file\n"}])
        ended = self.world.wait("n1", "hello")
        self.assertEqual((ended["exit_code"], "usage" in ended), (3, False))
        self.assertEqual(self.world.read("n1", "hello", ".zbs-stdout"), "out\na file\n")
        files = self.world.call("n1", "GET", "/v1/steps/hello/files?prefix=.zbs-std", status=200).json["files"]
        self.assertEqual(files, [{"name": ".zbs-stderr", "bytes": 4}, {"name": ".zbs-stdout", "bytes": 11}])
        piece = self.world.call("n1", "GET", "/v1/steps/hello/files/.zbs-stdout?offset=4&limit=3", status=200)
        self.assertEqual((piece.body, piece.headers["Zbs-Next-Offset"]), (b"a f", "7"))
        self.assertEqual(self.world.begin("n1", "hello", "echo again")["state"], "exited", "a repeat starts nothing")
        self.assertEqual(self.world.call("n1", "DELETE", "/v1/steps/hello", status=200).json["complete"], True)
        self.assertEqual(self.world.state("n1", "hello")["state"], "unknown")

    def test_what_cannot_start_says_why(self):
        reply = self.world.begin("n1", "nothing", ["/nonexistent/program"], status=503)
        self.assertIn("/nonexistent/program", reply["detail"])

    def test_bad_input_is_refused(self):
        for method, target, body in (("PUT", "/v1/steps/a_b", {}), ("PUT", "/v1/steps/a", {"argv": []}), ("GET", "/v1/steps?wait_s=31", None), ("GET", "/v1/steps?operations=a,..", None),
                                     ("GET", "/v1/steps?op=a", None), ("PUT", "/v1/slices", {"number": 1}), ("DELETE", "/v1/steps/a?at_most=0", None), ("POST", "/v1/steps/a/stop", {"grace_s": -1})):
            self.world.call("n1", method, target, body, 400)
        self.world.call("n1", "GET", "/v1/steps/none/files/.zbs-stdout", status=404)
        self.world.call("n1", "GET", "/v1/steps/none/files/..%2Fexit", status=400)

    def test_who_waits_is_told_when_a_step_ends(self):
        self.world.begin("n2", "short", "sleep 1")
        version = self.world.call("n2", "GET", "/v1/steps?operations=short", status=200).json["version"]
        begin = time.monotonic()
        page = self.world.call("n2", "GET", f"/v1/steps?operations=short&since={version}&wait_s=15", status=200).json
        self.assertEqual(page["steps"][0]["state"], "exited")
        self.assertLess(time.monotonic() - begin, 10)

    def test_steps_outlive_a_killed_agent_and_are_found_again(self):
        self.world.begin("n2", "lasting", "echo begun; sleep 3; echo ended; exit 7")
        self.world.begin("n2", "frozen", "while :; do date +%s%N > now; sleep 0.05; done")
        self.set_slices("n2", [["lasting"]])  # the other one stands still
        version = self.world.call("n2", "GET", "/v1/steps", status=200).json["version"]
        before = marked("lasting")
        self.world.agents["n2"].end(signal.SIGKILL)
        self.assertEqual(marked("lasting"), before, "it goes on")
        self.world.start("n2")
        page = self.world.call("n2", "GET", "/v1/steps?operations=lasting,frozen", status=200).json
        self.assertEqual([step["state"] for step in page["steps"]], ["running", "running"])
        self.assertGreater(page["version"], version)
        self.assertEqual(marked("lasting"), before, "nothing was started twice")
        now = self.world.read("n2", "frozen", "now")
        until(lambda: self.world.read("n2", "frozen", "now") not in ("", now), "the suspended step goes on")
        self.assertEqual(self.world.wait("n2", "lasting")["exit_code"], 7)
        self.assertEqual(self.world.read("n2", "lasting", ".zbs-stdout"), "begun\nended\n")
        self.world.end_step("n2", "frozen")

    def test_agents_and_steps_outlive_the_zone(self):
        self.world.begin("n1", "through", "sleep 60")
        self.assertEqual(self.world.zone.end(), 0)
        self.assertEqual(self.world.state("n1", "through")["state"], "running")
        self.world.start_zone()
        until(lambda: {"n1", "n2"} <= self.agents_of_the_zone().keys(), "both agents at the new zone", 30)
        self.assertEqual(self.world.state("n1", "through")["state"], "running")
        self.world.end_step("n1", "through")

    def test_a_tree_that_resists_and_forks_away_is_gone_in_two_seconds(self):
        stubborn = "trap '' TERM; (setsid sh -c \"trap '' TERM; while :; do sleep 0.1; done\" &); echo ready; while :; do (sleep 0.01); done"
        for suspended in (False, True):
            with self.subTest(suspended=suspended):
                operation = f"stubborn-{suspended}"
                self.world.begin("n1", operation, stubborn)
                until(lambda: self.world.read("n1", operation, ".zbs-stdout"), "the tree")
                if suspended:
                    self.set_slices("n1", [[]])
                    until(lambda: self.world.state("n1", operation)["usage"]["activity"] == "suspended", "the tree stands still")
                begin = time.monotonic()
                self.world.call("n1", "POST", f"/v1/steps/{operation}/stop", {"grace_s": 1}, 200)
                until(lambda: not marked(operation), "the tree is gone", 2)
                self.assertLess(time.monotonic() - begin, 2)
                self.assertEqual(self.world.wait("n1", operation)["reason"], "stopped")
                self.set_slices("n1", [])

    def test_only_its_zone_may_call(self):
        refused = {"anonymous": (None, 401), "own user": (self.world.issue("alpha", "user", "ana"), 403), "operator": (own(self.world.cas["alpha"] / "operator"), 403),
                   "another zone of the organisation": (self.world.issue("alpha", "zone", "alpha-two"), 403),
                   # Another organisation is not known here at all: nobody of it has a name.
                   "a zone of the same name of another organisation": (self.world.issue("gamma", "zone", "alpha-one"), 401),
                   "another agent": (own(self.folder / "n2-identity"), 403)}
        for who, (identity, status) in refused.items():
            for method, target, body in (("GET", "/v1/node", None), ("PUT", "/v1/steps/bad", {"argv": ["/bin/true"]}), ("PUT", "/v1/slices", {}), ("POST", "/v1/probe", {"node": "n2", "url": "https://127.0.0.1:1"})):
                with self.subTest(f"{method} {target} by {who}"):
                    self.world.call("n1", method, target, body, status, identity)
            with self.subTest(f"bytes to be measured for {who}"):
                self.world.call("n1", "GET", "/v1/probe?bytes=1", None, 200 if who == "another agent" else status, identity)
        self.world.call("n1", "GET", "/v1/probe?bytes=1", None, 403)  # its zone measures by its agents only
        self.assertEqual(self.world.state("n1", "bad")["state"], "unknown")
        self.world.call("n1", "GET", "/livez", identity=None, status=200)

    def test_an_agent_probes_another_one_and_nobody_else(self):
        url = f"https://127.0.0.1:{self.world.agents['n2'].port}"
        report = self.world.call("n1", "POST", "/v1/probe", {"node": "n2", "url": url}, 200).json
        self.assertEqual((report["node"], report["bytes"]), ("n2", 256 * 1024))
        self.assertGreater(report["round_trip_us"], 0)
        self.assertGreater(report["transfer_us"], 0)
        # Whoever answers there has to have the certificate of that node: neither another agent nor the zone will do.
        for there in (url, f"https://127.0.0.1:{self.world.zone.port}", "https://127.0.0.1:1"):
            self.assertEqual(self.world.call("n1", "POST", "/v1/probe", {"node": "n3", "url": there}).status, 503, there)
        self.assertEqual(self.world.call("n1", "POST", "/v1/probe", {"node": "n2", "url": "http://127.0.0.1:1"}).status, 400)

    def test_an_agent_registers_itself_only(self):
        good = {"url": "https://127.0.0.1:1", "description": self.world.call("n1", "GET", "/v1/node", status=200).json["description"],
                "load": self.world.call("n1", "GET", "/v1/node", status=200).json["load"]}
        n2 = own(self.folder / "n2-identity")
        self.assertEqual(self.world.ask_zone("PUT", "/v1/nodes/n1", n2, good).status, 404)
        self.assertEqual(self.world.ask_zone("PUT", "/v1/nodes/n2", n2, good).status, 400, "the description is another node's")
        self.assertEqual(self.world.ask_zone("PUT", "/v1/nodes/n1", self.world.issue("alpha", "user", "ana"), good).status, 403)
        self.assertEqual(self.world.ask_zone("PUT", "/v1/nodes/n1", self.world.issue("gamma", "node", "n1"), good).status, 401)

    def test_keys_of_somebody_else_are_refused_at_the_start(self):
        text = (self.folder / "n1.toml").read_text().replace("n1-identity", "n2-identity").replace(f"{self.folder}/n1", f"{self.folder}/n3")
        (self.folder / "n3.toml").write_text(text.replace("n3-identity", "n2-identity"))
        with self.assertRaisesRegex(AssertionError, "certificate is of spiffe://alpha/node/n2"):
            run(PROGRAMS / "zbs-node", "run", "--config", self.folder / "n3.toml")

    def test_shares_become_nice_levels(self):
        self.world.begin("n1", "nice", "sleep 60")
        node = self.world.call("n1", "GET", "/v1/node", status=200).json
        table = {"number": node["shares"] + 1, "shares": [{"operation": "nice", "nice": 9}]}
        self.world.call("n1", "PUT", "/v1/shares", table, 200)
        self.assertEqual({os.getpriority(os.PRIO_PROCESS, pid) for pid in marked("nice")}, {9})
        self.world.call("n1", "PUT", "/v1/shares", {**table, "shares": []}, 409)
        self.world.end_step("n1", "nice")

    def test_two_rows_of_50_ms_never_run_together_and_share_alike(self):
        for agent in ("n1", "frozen"):
            if agent in self.world.agents:
                with self.subTest("control group" if agent == "frozen" else "signals"):
                    self.run_two_rows(agent, 4)

    def run_two_rows(self, agent, seconds):
        self.world.begin_busy(agent, "row-a", seconds)
        self.world.begin_busy(agent, "row-b", seconds)
        self.set_slices(agent, [["row-a"], ["row-b"]])
        switched = time.monotonic_ns() + 300_000_000  # the column is taken, not yet in force, when the call returns
        for operation in ("row-a", "row-b"):
            self.world.wait(agent, operation, 3 * seconds)
        times = {operation: [tuple(map(int, line.split())) for line in self.world.read(agent, operation, "times").splitlines()] for operation in ("row-a", "row-b")}
        end = min(runs[-1][1] for runs in times.values()) - 100_000_000
        inside = {operation: [(max(a, switched), min(b, end)) for a, b in runs if b > switched and a < end] for operation, runs in times.items()}
        shares = {operation: sum(b - a for a, b in runs) / (end - switched) for operation, runs in inside.items()}
        both = overlap_s(inside["row-a"], inside["row-b"])
        at_first = overlap_s(*({operation: [(a, min(b, switched)) for a, b in runs if a < switched] for operation, runs in times.items()}.values()))
        switches = self.world.call(agent, "GET", "/v1/node", status=200).json["switches"]
        print(f"\n{agent}: shares {shares}, together {both * 1e6:.0f} us (and before {at_first:.3f} s) of {(end - switched) / 1e9:.2f} s; switches {json.dumps(switches)}")
        self.set_slices(agent, [])
        self.assertGreater(end - switched, 2e9)
        # On a busy host a row may need longer to stand still than a switch waits (100 ms); such a switch counts as failed.
        self.assertLessEqual(both, 0.1 * switches["failed"])
        # Of what both got: other work on the machine takes a part of every slice, and not the same part of each.
        got = sum(shares.values())
        self.assertGreater(got, 0.05)
        for operation, share in shares.items():
            self.assertAlmostEqual(share / got, 0.5, delta=0.1 + 0.25 * max(0, 1 - got), msg=operation)
        self.assertLess(switches["failed"], switches["cost"]["count"] / 10)
        self.assertGreater(switches["cost"]["count"], 20)

    def test_an_idle_slot_is_filled(self):
        self.world.begin("n1", "waits", "sleep 60")
        self.world.begin("n1", "fills", "while :; do date +%s%N >> now; sleep 0.01; done")
        self.set_slices("n1", [["waits"]], slice_us=1_000_000)
        until(lambda: self.world.state("n1", "fills")["usage"]["activity"] == "suspended", "what is in no row stands still")
        before = self.world.read("n1", "fills", "now")
        fills = self.world.call("n1", "GET", "/v1/node", status=200).json["switches"]["fills"]
        self.set_slices("n1", [["waits"]], slice_us=1_000_000, fill="lts", fillers=["fills"])
        until(lambda: len(self.world.read("n1", "fills", "now")) > len(before), "the filler runs")
        self.assertGreater(self.world.call("n1", "GET", "/v1/node", status=200).json["switches"]["fills"], fills)
        self.set_slices("n1", [])
        for operation in ("waits", "fills"):
            self.world.end_step("n1", operation)

    def test_two_agents_know_their_own_steps_only(self):
        self.world.begin("n1", "same-name", "echo of n1")
        self.world.begin("n2", "same-name", "echo of n2; exit 1")
        self.assertEqual([self.world.wait(name, "same-name")["exit_code"] for name in ("n1", "n2")], [0, 1])
        self.assertEqual(self.world.read("n2", "same-name", ".zbs-stdout"), "of n2\n")

    def test_inputs_come_in_pieces_survive_a_kill_and_lie_in_the_folder_of_a_step(self):
        data = b"#!/bin/sh\necho from the zone\n"
        target = f"/v1/files/{hashlib.sha256(data).hexdigest()}"
        put = lambda begin, end, status, body=data: self.world.call("n2", "PUT", target, {"size": len(data), "offset": begin, "bytes": base64.b64encode(body[begin:end]).decode()}, status).json
        spec = {"inputs": [{"name": "tool", "digest": target.rsplit("/", 1)[1], "size": len(data), "executable": True}]}
        self.assertEqual(self.world.call("n2", "GET", target, status=200).json["have"], 0)
        self.world.begin("n2", "with-input", ["./tool"], 409, **spec)
        self.assertFalse(put(0, 10, 200)["complete"])
        put(12, 20, 409)
        self.world.agents["n2"].end(signal.SIGKILL)
        self.world.start("n2")
        self.assertEqual(self.world.call("n2", "GET", target, status=200).json["have"], 10)
        put(10, len(data), 409, data.upper())  # of another content: thrown away
        self.assertEqual(self.world.call("n2", "GET", target, status=200).json["have"], 0)
        self.assertTrue(put(0, len(data), 200)["complete"])
        self.world.begin("n2", "with-input", ["./tool"], **spec)
        self.assertEqual(self.world.wait("n2", "with-input")["exit_code"], 0)
        self.assertEqual(self.world.read("n2", "with-input", ".zbs-stdout"), "from the zone\n")

    def test_zz_documented_routes_answered_well(self):
        promised = {(operation["operationId"], int(status)) for _, _, operation in self.world.contract.operations() for status in operation["responses"] if status < "300"}
        self.world.call("n1", "GET", "/readyz", status=200)
        self.world.call("n1", "GET", "/healthz", identity=None, status=200)
        self.world.call("n1", "GET", "/openapi.json", status=200)
        self.assertEqual(promised - self.world.contract.seen, set())


# Begins what follows "--" in a control group of its own, as nobody's child, as systemd does.
MANAGER = """#!/bin/sh
for word; do case $word in --unit=*) unit=${{word#--unit=}};; esac; done
[ -d {units} ] && mkdir {units}/$unit && echo $$ > {units}/$unit/cgroup.procs
while [ "$1" != -- ]; do shift; done; shift
exec setsid -f "$@" > {folder}/journal 2>&1
"""


class StarterTest(unittest.TestCase):
    """The same where a service manager begins the steps, each in a control group beside that of the starter, as the packages' services do; and what there is more of."""
    set_slices, run_two_rows = NodeTest.set_slices, NodeTest.run_two_rows

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-node-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.group = make_control_group()
        cls.units, own = cls.folder, None
        if cls.group:
            cls.addClassCleanup(cls.remove_groups)
            cls.units, own = cls.group / "zbs-steps.slice", cls.group / "zbs-steps.service"
            for group in (cls.units, own):
                group.mkdir()
        manager = cls.folder / "systemd-run"
        manager.write_text(MANAGER.format(units=cls.units if cls.group else "/nonexistent", folder=cls.folder))
        manager.chmod(0o700)
        cls.starter = Starter(PROGRAMS / "zbs-step", cls.folder, manager, own)
        cls.addClassCleanup(lambda: cls.starter.end())
        cls.world = Agents(cls.folder, PROGRAMS)
        cls.addClassCleanup(cls.world.stop)
        cls.world.add("n1", f'step_starter = "{cls.starter.socket}"')
        cls.world.add("n2", f'step_starter = "{cls.starter.socket}"\ncontrol_group = "none"')

    @classmethod
    def remove_groups(cls):
        for folder, _, _ in os.walk(cls.group, topdown=False):
            os.rmdir(folder)

    def parents(self, operation):
        found = set()
        for pid in marked(operation):
            while pid > 1:
                pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
                found.add(pid)
        return found

    def test_its_group_is_divided(self):
        if not self.group:
            self.skipTest("no control group may be made here")
        self.assertIn("steps are frozen by control groups", (self.folder / "n1.log").read_text())
        self.assertIn("steps are suspended by signals", (self.folder / "n2.log").read_text())
        self.assertEqual((self.group / "zbs-steps.service/starter/cgroup.procs").read_text().split()[0], str(self.starter.process.pid))

    def test_steps_are_nobodys_children_and_what_they_may_is_tried_where_they_are(self):
        self.world.begin("n1", "child", "sleep 60")
        for other in (self.starter, self.world.agents["n1"]):
            self.assertNotIn(other.process.pid, self.parents("child"))
        self.assertIn("protection", (self.folder / "n1.log").read_text())
        self.world.end_step("n1", "child")

    def test_steps_are_frozen_below_the_starter_though_their_supervisor_is_elsewhere(self):
        if not self.group:
            self.skipTest("no control group may be made here")
        self.assertIn("steps are frozen by control groups", (self.folder / "n1.log").read_text())
        self.world.begin("n1", "unit", "sleep 60")
        (unit,) = self.units.glob("zbs-step-unit-*.service")
        self.world.begin("n1", "other", "sleep 60")
        self.set_slices("n1", [["other"]], slice_us=1_000_000)
        frozen = self.group / "zbs-steps.service/step-unit"
        until(lambda: frozen.exists() and (frozen / "cgroup.freeze").read_text() == "1\n", "who is in no row stands still")
        self.assertTrue((frozen / "cgroup.procs").read_text().split())
        (supervisor,) = (unit / "cgroup.procs").read_text().split()
        self.assertEqual(pathlib.Path(f"/proc/{supervisor}/comm").read_text(), "zbs-step\n")
        self.set_slices("n1", [])
        for operation in ("unit", "other"):
            self.world.end_step("n1", operation)
        until(lambda: not (unit / "cgroup.procs").read_text(), "nothing of it is left in its unit")

    def test_killed_it_takes_no_step_along_and_the_next_begins_once_it_is_back(self):
        self.world.begin("n1", "beside", "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended")
        until(lambda: self.world.read("n1", "beside", ".zbs-stdout") == "begun\n", "the step runs")
        self.starter.end(signal.SIGKILL)
        self.assertTrue(marked("beside"))
        begin = time.monotonic()
        reply = self.world.begin("n1", "too-early", "echo late", status=503)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertIn(str(self.starter.socket), reply["detail"])
        self.assertIn("systemctl status zbs-steps", reply["detail"])
        self.world.agents["n1"].end(signal.SIGKILL)
        with self.assertRaisesRegex(AssertionError, "systemctl status zbs-steps"):
            self.world.start("n1")  # what jobs would be kept from cannot be known
        self.starter.start()
        self.world.start("n1")
        self.assertEqual(self.world.state("n1", "beside")["state"], "running")
        self.world.begin("n1", "too-early", "echo now")
        self.assertEqual(self.world.wait("n1", "too-early")["exit_code"], 0)
        (self.folder / "n1/steps/beside/job/go").touch()
        self.assertEqual(self.world.wait("n1", "beside")["exit_code"], 0)
        self.assertEqual(self.world.read("n1", "beside", ".zbs-stdout"), "begun\nended\n")

    def test_the_option_goes_before_the_setting(self):
        with self.assertRaisesRegex(AssertionError, "/nowhere/socket"):
            self.world.agents["n2"].end()
            try:
                run(PROGRAMS / "zbs-node", "run", "--config", self.folder / "n2.toml", "--step-starter", "/nowhere/socket")
            finally:
                self.world.start("n2")

    def test_two_rows_never_run_together_and_share_alike(self):
        self.run_two_rows("n1", 4)


for case in ("test_a_step_runs_and_its_output_is_read", "test_what_cannot_start_says_why", "test_steps_outlive_a_killed_agent_and_are_found_again",
             "test_a_tree_that_resists_and_forks_away_is_gone_in_two_seconds", "test_shares_become_nice_levels", "test_an_idle_slot_is_filled", "test_two_agents_know_their_own_steps_only",
             "test_inputs_come_in_pieces_survive_a_kill_and_lie_in_the_folder_of_a_step"):
    setattr(StarterTest, case, getattr(NodeTest, case))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
