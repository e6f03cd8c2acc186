"""A delegation over the life of an application: it may be shorter than the application waits, where somebody renews it; else the error
names what is missing.

usage: delegation_test.py BIN SOURCE_DIR [unittest arguments]

Delegations are signed here and not by `zbs`, which makes none that end within an hour.
"""
import json
import sys
import time
import unittest

from live import DEADLINE_S, Live, federation, fresh_id, until

ENDED = ("completed", "failed", "cancelled", "rejected")


class Delegation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)

    def id(self, name):
        """A fresh one of this user of organisation a."""
        return fresh_id(f"spiffe://org-a/user/{name}")

    def ask(self, user, method, target, body=None):
        status, answer = self.f.ask("a", user, method, target, body)
        return status, json.loads(answer)

    def delegate(self, user, application, seconds, id=None):
        """Hands over a proxy for the application that ends in so many seconds; its id."""
        asked = self.ask(user, "POST", "/v1/delegations", {"application": application} | ({"id": id} if id else {}))[1]
        id = asked["id"]
        chain = self.f.organisations.sign_proxy(user, asked["request"], f"application={application}", seconds)
        status, put = self.ask(user, "PUT", f"/v1/delegations/{id}", {"chain": chain})
        self.assertEqual(status, 200, put)
        return id

    def submit(self, user, application, walltime_s=60):
        """An application that needs all three zones."""
        wanted = {"id": application, "ranks": 12, "argv": ["/bin/true"], "directory": "/tmp", "environment": {"PATH": "/bin"}, "walltime_s": walltime_s}
        return self.ask(user, "POST", "/v1/applications", wanted)

    def state(self, user, application):
        return self.ask(user, "GET", f"/v1/applications/{application}")[1]

    def end_of(self, user, application):
        return until(lambda: (view := self.state(user, application))["state"] in ENDED and view, DEADLINE_S, f"{application} does not end")

    def test_one_for_a_short_time_is_enough_and_is_gone_afterwards(self):
        user, application = self.f.user("a", "ana"), self.id("ana")
        delegation = self.delegate(user, application, 30)
        self.submit(user, application)
        self.assertEqual(self.end_of(user, application)["state"], "completed")
        self.assertEqual(self.ask(user, "GET", f"/v1/delegations/{delegation}")[0], 404)

    def test_one_that_outlives_the_application_is_refused_at_once(self):
        user, too_long, fitting = self.f.user("a", "bea"), self.id("bea"), self.id("bea")
        self.delegate(user, too_long, 2 * 3600)
        status, problem = self.submit(user, too_long, walltime_s=600)
        self.assertEqual((status, "outlives its walltime" in problem["detail"]), (400, True), problem)
        self.assertEqual(self.ask(user, "GET", f"/v1/applications/{too_long}")[0], 404)
        self.delegate(user, fitting, 3600)
        self.assertEqual(self.submit(user, fitting, walltime_s=600)[0], 202)

    def test_what_waits_for_longer_than_its_delegation_needs_a_renewal(self):
        users = {name: self.f.user("a", name) for name in ("cleo", "dora", "eli", "fay", "guy")}
        applications = {name: self.id(name) for name in users}
        sleeper = self.f.submit("-n", "12", "--", "/bin/sleep", "600")
        self.addCleanup(self.f.zbs, "cancel", sleeper)
        self.f.wait_state(sleeper, ["running"], DEADLINE_S)
        renewal = self.f.zbs("--credentials", str(users["fay"].key).rsplit("/", 1)[0], "delegate", "--for", "1h")
        self.assertEqual(renewal.returncode, 0, renewal.stderr)
        withdrawn = self.f.zbs("--credentials", str(users["guy"].key).rsplit("/", 1)[0], "delegate", "--for", "1h").stdout.strip()
        delegations = {name: self.delegate(users[name], applications[name], 600) for name in users if name != "cleo"}  # she has none
        self.assertEqual(self.ask(users["guy"], "DELETE", f"/v1/delegations/{withdrawn}")[0], 200)
        for name in users:
            self.assertEqual(self.submit(users[name], applications[name])[0], 202)
        for name in delegations:  # a start is reserved for each of them; no other zone holds anything without a delegation
            until(lambda: self.state(users[name], applications[name])["state"] == "committed", DEADLINE_S, f"no start is reserved for {name}")
        self.assertNotEqual(self.state(users["cleo"], applications["cleo"])["state"], "committed")
        for name in delegations:  # replaced by one that ends while the application waits
            self.delegate(users[name], applications[name], 2, delegations[name])
        ends = max(self.ask(users[name], "GET", f"/v1/delegations/{delegations[name]}")[1]["not_after_us"] for name in delegations) / 1e6
        until(lambda: time.time() > ends, DEADLINE_S, "the delegations do not end")
        self.delegate(users["eli"], applications["eli"], 600, delegations["eli"])  # as `zbs run` does while it waits
        self.f.zbs("cancel", sleeper)
        ended = {name: self.end_of(users[name], applications[name]) for name in users}
        self.assertEqual({name: view["state"] for name, view in ended.items()}, {"cleo": "rejected", "dora": "rejected", "eli": "completed", "fay": "completed", "guy": "rejected"}, ended)
        for name in ("cleo", "dora", "guy"):
            self.assertIn("delegation", ended[name]["reason"])


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
