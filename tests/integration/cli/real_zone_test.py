"""What `zbs` prints for programs of real zones and a real MPI job has the keys and types of tests/golden/cli, and those files have nothing else: they are made from answers of a stand-in
(document_test.py), which could hold anything.

usage: real_zone_test.py BIN SOURCE_DIR
"""
import datetime
import json
import pathlib
import shlex
import sys
import tempfile
import unittest

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trust"), str(HERE.parent / "federation")]

import federation  # noqa: E402
from federation import until  # noqa: E402
from live import DEADLINE_S, Live, fresh_id  # noqa: E402
from shapes import shape  # noqa: E402

federation.BIN = str(BIN)
GOLDEN = SOURCE / "tests/golden/cli"
RING = BIN / "apps/ring"

# Not asked of a zone: what they print comes from files.
OFFLINE = {"map", "map_hierarchy", "queue_replay", "queue_replay_difference", "replay", "simulate", "simulate_allocators", "simulate_compare", "simulate_details",
           "simulate_generators", "simulate_list", "simulate_policies"}
# Keys of golden files that these zones do not report, or not each time.
SOMETIMES = {**{one: "reported by agents, of which these zones have none: tests/integration/node" for one in ("/nodes[]/availability", "/nodes[]/cores", "/nodes[]/memory_bytes", "/zone/agents[]")},
             "/machine_links[]": "machines are measured by agents, and there are none here: tests/integration/wan/machine_links_test.py",
             "/learned": "of a plan for a number of ranks that has not run yet", "/delay/error": "after several measurements", "/bandwidth/error": "after several measurements"}

AHEAD = tuple("7ZZZZZZZZZ" + fresh_id("spiffe://org-a/user/ana")[10:] for _ in range(2))  # ids of a clock that is thousands of years ahead


def paths(value, at=""):
    """Of a shape: every place with its type. The keys of `counts` are states, not fields."""
    if isinstance(value, dict):
        named = ((("*" if at.endswith("/counts") else key), inner) for key, inner in value.items())
        return {(at, "object")}.union(*(paths(inner, f"{at}/{key}") for key, inner in named))
    if isinstance(value, list):
        return {(at, "array")}.union(*(paths(inner, at + "[]") for inner in value))
    return {(at, value)}


class RealZone(unittest.TestCase):
    def setUp(self):
        self.f = Live()
        self.f.__enter__()
        self.addCleanup(self.f.__exit__)
        self.work = tempfile.mkdtemp(dir=self.f.folder)
        self.found = {}

    def ask(self, *words, code=0, **environment):
        end = words.index("--") if "--" in words else len(words)
        form = () if "--format" in words else ("--output", "json")
        done = self.f.zbs(*words[:end], *form, *words[end:], cwd=self.work, env=environment)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return json.loads(done.stdout)

    def keep(self, name, *words, **options):
        answer = self.ask(*words, **options)
        self.assertEqual(next(iter(answer.items())), ("version", 1), words)
        self.found.setdefault(name, set()).update(paths(shape(answer)))
        return answer

    def prepare(self):
        """A queue in the home zone, a user who is in a group, and zones that know each other and have measured their links."""
        self.f.restart("a", lambda text: 'queue = "easy"\n' + text)
        self.f.environment["ZBS_CREDENTIALS"] = self.f.log_in("a", "ana", "--group", "physics")
        until(lambda: sum(zone["usable"] for zone in self.ask("zone", "list")["zones"]) == 3, DEADLINE_S, "the zones do not accept each other")
        until(lambda: len(self.ask("zone", "list", "--where", "usable = yes and mpich >= 4")["zones"]) == 3, DEADLINE_S, lambda: f"offers are missing: {self.ask('zone', 'list')}")
        self.assertEqual([zone["zone"] for zone in self.ask("zone", "list", "--where", "policy = easy and mpi >= 4 and launcher = mpich")["zones"]], ["a"])
        until(lambda: all("bandwidth" in link for link in self.ask("zone", "links")["links"]), DEADLINE_S, "the links are not measured")

    def run_jobs(self):
        """One that learns, one planned by that, with results and errors of prediction; then one that fills the zones, and two that wait."""
        submitted = self.keep("submit", "submit", "-n", "6", "--job-name", "first", "--stage-out", "result*", "--", "sh", "-c", f"[ $PMI_RANK -gt 0 ] || echo 7 > result; exec {shlex.quote(str(RING))}")
        self.keep("wait", "wait", submitted["id"])
        self.keep("fetch", "fetch", submitted["id"], "-d", self.work)
        for _ in range(2):
            done = self.f.zbs("run", "-q", "-n", "6", "--job-name", "again", "--", str(RING), cwd=self.work)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.ended = self.ask("list", "--limit", "1")["applications"][0]["id"]
            until(lambda: "profile" in self.f.show(self.ended), DEADLINE_S, "it left no profile")
        self.keep("run_dry_run", "run", "-n", "6", "--dry-run", "--", str(RING))
        self.keep("wait", "wait", self.ended)
        self.fill, self.waits, self.also = (self.ask("submit", *words, "--job-name", "long", "--", "sleep", "600")["id"] for words in (("-n", "12", "--id", AHEAD[0]), ("-n", "2", "--id", AHEAD[1]), ("-n", "2")))
        until(lambda: all(part.get("queue", {}).get("start_in_s") for part in self.f.show(self.also)["parts"] or [{}]), DEADLINE_S, lambda: f"it does not wait: {self.f.show(self.also)}")
        self.keep("run_dry_run", "run", "-n", "2", "--dry-run", "--", str(RING))
        for one in (submitted["id"], self.ended, self.waits, self.also):
            self.keep("show", "show", one)
            self.keep("explain", "explain", one)
        self.keep("show_assignment", "show", self.ended, "--format", "json")

    def look(self):
        operator = {"ZBS_CREDENTIALS": str(self.f.state / "a/identity/operator")}
        for name, *words in (("list", "list"), ("list_truncated", "list", "--limit", "1"), ("list_columns", "list", "--columns", "id,ranks,exit,state"), ("zone_list", "zone", "list"),
                             ("zone_links", "zone", "links"), ("zone_machine_links", "zone", "machine-links"), ("zone_show", "zone", "show"), ("peer_list", "peer", "list"), ("whoami", "whoami"),
                             ("top", "top"), ("doctor", "doctor"), ("profile_list", "profile", "list")):
            self.keep(name, *words)
        self.keep("peer_show", "peer", "show", "org-b", **operator)
        self.keep("peer_set", "peer", "set", "org-b", "--processors", "8", **operator)
        self.keep("profile_show_stored", "profile", "show", self.f.show(self.ended)["profile"])
        self.keep("profile_show", "profile", "show", str(SOURCE / "schemas/examples/valid/model.ring.json"))
        self.keep("profile_import", "profile", "import", str(SOURCE / "schemas/examples/valid/model.ring.json"), "--", "/bin/true")

    def go_by_the_zones_clock(self):
        """Three are open; the clock of the machine that submitted the first two was far ahead."""
        ids = lambda *words: [row["id"] for row in self.ask(*words)["applications"]]  # noqa: E731
        newest = [self.also, self.waits, self.fill]
        self.assertEqual(ids("list")[:3], newest)
        since = datetime.datetime.fromtimestamp(self.f.show(self.waits)["submitted_us"] / 1e6, datetime.timezone.utc).isoformat()
        self.assertEqual(ids("list", "--since", since), newest[:2])
        self.assertEqual(self.ask("show", "last")["id"], self.also)
        self.assertEqual(self.ask("show", "name=again")["id"], self.ended)
        self.assertEqual(ids("top", "--limit", "3"), [self.fill, self.also, self.waits], "what runs, then what waits")
        self.assertEqual(ids("top", "--limit", "2", "--sort", "submitted_us", "--state", ",".join(("running", "launching", "held", "committed", "planned", "accepted"))), [self.fill, self.waits])

    def end(self):
        self.keep("delegate_revoke", "delegate", "--revoke", self.waits)
        self.keep("cancel", "cancel", self.also)
        for one in (self.fill, self.ended):
            self.keep("cancel", "cancel", one)
        until(lambda: self.f.show(self.fill)["state"] == "cancelled", DEADLINE_S, "it is not cancelled")
        self.keep("cancel_several", "cancel", self.waits, self.fill)

    def comes_elsewhere(self, place, kind):
        """Whether some real document has the same in the same kind of object: what waits has a promise in `show`, and `cancel` would print it as well."""
        end = "/".join(place.split("/")[-2:])
        return any(other.endswith("/" + end) and kind == known for places in self.found.values() for other, known in places)

    def test_documents_have_the_keys_of_the_golden_files_and_those_no_others(self):
        self.prepare()
        self.run_jobs()
        self.look()
        self.go_by_the_zones_clock()
        self.end()
        golden = {path.stem: paths(json.loads(path.read_text())) for path in GOLDEN.glob("*.json") if not path.name.startswith(("zbs_zone", "zbs_registry", "zbs_node"))}
        self.assertEqual(set(golden), OFFLINE | set(self.found))
        for name, places in sorted(self.found.items()):
            with self.subTest(name):
                self.assertEqual(sorted(places - golden[name]), [], "a real zone reports more: add it to the stand-in of document_test.py")
                invented = [(place, kind) for place, kind in golden[name] - places
                            if not self.comes_elsewhere(place, kind) and not any(known + "/" in place + "/" or known + "[" in place for known in SOMETIMES)]
                self.assertEqual(sorted(invented), [], "the stand-in of document_test.py reports what no real zone does")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
