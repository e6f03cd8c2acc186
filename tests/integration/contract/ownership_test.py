"""Nobody learns of what is not theirs: on every route of the zone that names an application, a part, a profile or a delegation,
the answer about another's is byte for byte the one about an id that nobody ever had. So it is where a body brings an id for something new.

usage: ownership_test.py ZBS_REGISTRY ZBS_ZONE SOURCE_DIR [unittest arguments]

The routes are those of the OpenAPI document. The things are real: an application that runs, one that ended and left a profile, parts
held by a zone of the same organisation and by one of another that is accepted here.
"""
import http.client
import json
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

from identities import context, run
from service import bundle, fresh_id
from stand_ins import MODEL, write_stand_ins
from world import DEADLINE_S, World

REGISTRY, ZONE = sys.argv[1:3]
NOBODYS = "01J9Z3V7Q9ZZZZZZZZZZZZZZZZ"
OWNERS = {"application": ("alpha", "user", "ana"), "profile": ("alpha", "user", "ana"), "delegation": ("alpha", "user", "ana"),
          "own part": ("alpha", "zone", "alpha-two"), "foreign part": ("beta", "zone", "beta-one")}
KINDS = {"applications": ("application",), "profiles": ("profile",), "delegations": ("delegation",), "parts": ("own part", "foreign part")}
OTHERS = (("alpha", "user", "bob"), ("beta", "user", "eve"), ("alpha", "zone", "alpha-nine"), ("beta", "zone", "beta-two"), ("beta", "operator", "mallory"))


def uri(organisation, kind, name):
    return f"spiffe://{organisation}/{kind}/{name}"


def application(folder):
    return {"id": fresh_id(uri(*OWNERS["application"])), "ranks": 2, "argv": ["./ring"], "directory": str(folder), "environment": {"PATH": "/usr/bin:/bin"}, "walltime_s": 60}


def part(organisation, home):
    user = uri(organisation, "user", "ida")
    return {"id": fresh_id(uri(organisation, "zone", home)), "application": fresh_id(user), "user": user, "home": home, "ranks": [0],
            "graph": {"compute": [1], "edges": []}, "outside": [], "walltime_s": 60, "seed": 1}


class Ownership(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-ownership-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        (cls.folder / "accounts").write_text("*  *  *  ->  guest\n")
        (cls.folder / "beta.toml").write_text(f'name = "beta-one"\norganisation = "beta"\nstate = "{cls.folder}/beta"\n[[machine]]\nname = "n"\nprocessors = 1\n')
        run(ZONE, "init", "--config", cls.folder / "beta.toml")
        cls.world = World(cls.folder, REGISTRY, ZONE, processors=6, accounts=cls.folder / "accounts", settings=write_stand_ins(cls.folder))
        cls.addClassCleanup(cls.world.stop)
        cls.world.begin()
        cls.world.cas["beta"] = cls.folder / "beta/identity"
        run(ZONE, "peer", "accept", "beta", "--bundle", cls.folder / "beta/identity/bundle.pem", "--no-delegation", "--config", cls.folder / "zone.toml")
        cls.document = bundle("zone")
        cls.ids = cls.make_things()

    @classmethod
    def ask(cls, who, method, target, body=None):
        connection = http.client.HTTPSConnection("127.0.0.1", cls.world.ports["zone"], timeout=DEADLINE_S, context=context(cls.world.issue(*who)))
        try:
            connection.request(method, target, None if body is None else json.dumps(body), {} if body is None else {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read(), {k: v for k, v in response.headers.items() if k not in ("Zbs-Request-Id", "Date")}
        finally:
            connection.close()

    @classmethod
    def make(cls, who, target, body):
        status, answer, _ = cls.ask(who, "POST", target, body)
        assert status < 300, answer
        return json.loads(answer)

    @classmethod
    def wait_for(cls, target, good):
        end = time.monotonic() + DEADLINE_S
        while not good(view := json.loads(cls.ask(OWNERS["application"], "GET", target)[1])):
            assert time.monotonic() < end, view
            time.sleep(0.05)
        return view

    @classmethod
    def run_application(cls):
        """An application that has begun to write."""
        wanted = application(cls.folder)
        cls.make(OWNERS["application"], "/v1/applications", wanted)
        at = f"/v1/applications/{wanted['id']}"
        cls.wait_for(at + "/logs", lambda logs: len(logs.get("files", ())) >= 2)
        cls.wait_for(at, lambda view: view["state"] == "running")
        return at

    @classmethod
    def make_things(cls):
        at = cls.run_application()
        (cls.folder / "end").touch()
        profile = cls.wait_for(at, lambda view: view["state"] == "completed")["profile"]
        (cls.folder / "end").unlink()
        running = cls.run_application().split("/")[3]
        cls.addClassCleanup((cls.folder / "end").touch)
        held = {kind: cls.make(OWNERS[kind], "/v1/parts", part(OWNERS[kind][0], OWNERS[kind][2])) for kind in ("own part", "foreign part")}
        delegation = cls.make(OWNERS["delegation"], "/v1/delegations", {"id": fresh_id(uri(*OWNERS["delegation"]))})
        return {"application": running, "profile": profile, "delegation": delegation["id"]} | {kind: status["id"] for kind, status in held.items()}

    def routes(self):
        """(method, path, kind of what it names, body) of every operation that names something with an owner."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                for kind in KINDS.get(path.split("/")[2], ()) if "{id}" in path else ():
                    body = operation.get("requestBody")
                    example = next(iter(body["content"]["application/json"]["examples"].values()))["value"] if body else None
                    yield method.upper(), path.replace("{rank}", "0"), kind, example

    def test_what_is_anothers_looks_like_what_is_not_there(self):
        compared = 0
        for method, path, kind, body in self.routes():
            id = self.ids[kind]
            for who in OTHERS:
                with self.subTest(f"{method} {path} of {kind} by {'/'.join(who)}"):
                    status, answer, headers = self.ask(who, method, path.replace("{id}", id), body)
                    self.assertIn(status, (403, 404), answer)
                    self.assertEqual((status, answer.replace(id.encode(), NOBODYS.encode()), headers), self.ask(who, method, path.replace("{id}", NOBODYS), body))
                    compared += 1
        self.assertGreater(compared, 80)

    def test_what_is_anothers_is_still_as_it_was(self):
        self.test_what_is_anothers_looks_like_what_is_not_there()
        for method, path, kind, _ in self.routes():
            if method == "GET" and path.count("/") == 3:
                with self.subTest(kind):
                    status, answer, _ = self.ask(OWNERS[kind], "GET", path.replace("{id}", self.ids[kind]))
                    self.assertEqual(status, 200, answer)
                    self.assertIn(json.loads(answer).get("state"), (None, "running", "held"))

    def new_things(self):
        """(whose id, who tries it, route, body) of all that is made under an id of the caller's choice."""
        bob = ("alpha", "user", "bob")
        yield "application", bob, "/v1/applications", application(self.folder)
        yield "profile", bob, "/v1/profiles", {"argv": ["/bin/app"], "model": MODEL}
        yield "delegation", bob, "/v1/delegations", {}
        for kind, who in (("own part", ("alpha", "zone", "alpha-nine")), ("own part", OWNERS["foreign part"]), ("foreign part", OWNERS["own part"])):
            yield kind, who, "/v1/parts", part(who[0], who[2])

    def refusals_of_used_ids(self):
        """Other callers get the same answer for an id in use as for an unused one."""
        for kind, who, target, body in self.new_things():
            with self.subTest(f"{target} with the id of {kind} by {'/'.join(who)}"):
                used, unused = (self.ask(who, "POST", target, body | {"id": id}) for id in (self.ids[kind], fresh_id(uri(*OWNERS[kind]))))
                self.assertEqual(used, unused)
                yield used[0], json.loads(used[1])

    def test_an_id_of_anothers_is_refused_as_one_that_nobody_uses(self):
        for status, problem in self.refusals_of_used_ids():
            self.assertEqual((status, problem["code"], problem["errors"][0]["pointer"]), (400, "invalid_argument", "/id"))

    def test_so_it_is_in_a_zone_that_takes_no_new_work(self):
        operator = ("alpha", "operator", "olga")
        self.assertEqual(self.ask(operator, "PUT", "/v1/drain", {"draining": True})[0], 200)
        try:
            self.test_an_id_of_anothers_is_refused_as_one_that_nobody_uses()
            ours = ("alpha", "zone", "alpha-nine")
            status, answer, _ = self.ask(ours, "POST", "/v1/parts", part(ours[0], ours[2]) | {"id": fresh_id(uri(*ours))})
            self.assertIn("no new work", json.loads(answer)["detail"], status)
        finally:
            self.assertEqual(self.ask(operator, "PUT", "/v1/drain", {"draining": False})[0], 200)

    def test_lists_name_only_what_is_ones_own(self):
        for target in ("/v1/applications", "/v1/profiles"):
            mine, others = (self.ask(("alpha", "user", name), "GET", target)[1].decode() for name in ("ana", "bob"))
            self.assertIn(self.ids[target.split("/")[2].removesuffix("s")], mine)
            self.assertFalse([id for id in self.ids.values() if id in others], target)
            self.assertEqual(self.ask(("beta", "user", "eve"), "GET", target)[0], 403)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:], verbosity=1)
