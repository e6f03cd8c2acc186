"""A zone of organisation alpha, with stand-ins for MPI; empty again after every test."""
from identities import run
from service import HOME, OPERATOR, USER, Service, ServiceTest, fresh_id, until
from stand_ins import write_stand_ins


class ZoneTest(ServiceTest):
    documented = "zone"
    sources = tuple(f"services/zone_scheduler/http/{name}_routes.cpp" for name in ("zone", "identity", "peering", "staging", "event", "dashboard"))
    big_body = ("/v1/parts", HOME, 16 * 1024 * 1024)

    @classmethod
    def start(cls):
        stand_ins = write_stand_ins(cls.folder)
        (cls.folder / "zone.toml").write_text(f"""
name = "alpha-one"
organisation = "alpha"
contact = "operators@alpha.example"
state = "{cls.folder}/state"
listen = "127.0.0.1:0"
mapper = "global"
run_as = "self"
[[machine]]
name = "node-1"
processors = 2
[[machine]]
name = "node-2"
processors = 2
speed = 2.0
{stand_ins}
[rates]  # this test calls faster than any person
user_per_s = 0
anonymous_per_s = 0
connection_per_s = 0
[timing]
hold_ttl_s = 15
""")
        cls.cas = {"alpha": cls.folder / "state/identity", "gamma": cls.folder / "gamma/identity"}
        if not (cls.folder / "gamma.toml").exists():
            text = (cls.folder / "zone.toml").read_text()
            (cls.folder / "gamma.toml").write_text(text.replace("alpha", "gamma").replace(f"{cls.folder}/state", f"{cls.folder}/gamma"))
            for name in ("zone", "gamma"):
                run(cls.program, "init", "--config", cls.folder / f"{name}.toml")
        return Service([cls.program, "run", "--config", str(cls.folder / "zone.toml")], cls.folder / "log")

    def application(self, ranks=2, **changes):
        return {"id": fresh_id(USER), "ranks": ranks, "argv": ["./ring"], "directory": str(self.folder), "environment": {"PATH": "/usr/bin:/bin"}, "walltime_s": 60, **changes}

    def part(self, ranks=2, **changes):
        return {"id": fresh_id(HOME), "application": fresh_id(USER), "user": USER, "home": "alpha-two", "ranks": list(range(ranks)),
                "graph": {"compute": [0.1] * ranks, "edges": [[r, r + 1, 100, 1] for r in range(ranks - 1)]}, "outside": [], "walltime_s": 60, "seed": 1, **changes}

    def let_end(self, ended):
        """Tells the stand-ins to end until `ended` says so."""
        (self.folder / "end").touch()
        try:
            return until(ended, "the end of what runs")
        finally:
            (self.folder / "end").unlink()

    def state_of(self, id):
        return self.call("GET", f"/v1/applications/{id}", USER, status=200).json

    def wait_for_state(self, id, *states):
        return until(lambda: (view := self.state_of(id))["state"] in states and view, f"{id} in {states}")

    def give_all_back(self):
        """Leaves the zone empty for the next test."""
        for row in self.call("GET", "/v1/applications?limit=1000", OPERATOR, status=200).json["applications"]:
            if row["state"] not in ("completed", "failed", "cancelled", "rejected"):
                self.call("DELETE", f"/v1/applications/{row['id']}", OPERATOR, status=200)
        until(lambda: all(row["state"] in ("completed", "failed", "cancelled", "rejected")
                          for row in self.call("GET", "/v1/applications?limit=1000", OPERATOR, status=200).json["applications"]), "applications that ended")
        for row in self.call("GET", "/v1/queue", USER, status=200).json["parts"]:
            self.call("DELETE", f"/v1/parts/{row['part']}", HOME)
        until(lambda: not self.call("GET", "/v1/queue", USER, status=200).json["parts"], "an empty zone")

    def setUp(self):
        self.addCleanup(self.give_all_back)
