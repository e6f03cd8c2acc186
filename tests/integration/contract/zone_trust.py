"""Who may what, and what makes it so: users, blocks, delegations, peerings; the record of it."""
from identities import Organisations, run
from service import HOME, OPERATOR, STRANGER_USER, STRANGER_ZONE, USER, fresh_id


class Trust:
    def test_who_may_what(self):
        unknown = fresh_id(USER)
        for target in ("/v1/applications", "/v1/peerings", "/v1/nodes", "/v1/queue", "/v1/profiles", f"/v1/profiles/{unknown}"):
            self.call("GET", target, None, status=401)
            self.call("GET", target, STRANGER_USER, status=401)  # of an organisation that nobody trusts
            self.call("GET", target, HOME, status=403)
        self.call("POST", "/v1/applications", None, self.application(), status=401)
        self.call("POST", "/v1/applications", STRANGER_USER, self.application(), status=401)
        self.call("POST", "/v1/applications", OPERATOR, self.application(), status=403)
        for target in ("/v1/capacity", "/v1/parts"):
            body = self.part() if target == "/v1/parts" else {"user": USER, "processors": 1, "walltime_s": 1, "zones": []}
            self.call("POST", target, None, body, status=401)
            self.call("POST", target, STRANGER_ZONE, {**body, "user": STRANGER_USER}, status=401)
            self.call("POST", target, HOME, {**body, "user": STRANGER_USER}, status=403)
            self.call("POST", target, HOME, {**body, "user": OPERATOR}, status=403)
        request = self.application()
        self.call("POST", "/v1/applications", USER, request, status=202)
        for suffix in ("", "/assignment", "/explain", "/logs", "/logs/0"):
            self.call("GET", f"/v1/applications/{request['id']}{suffix}", "spiffe://alpha/user/bob", status=404)
            self.call("GET", f"/v1/applications/{request['id']}{suffix}", None, status=401)
        self.call("DELETE", f"/v1/applications/{request['id']}", "spiffe://alpha/user/bob", status=404)
        self.call("POST", "/v1/applications", "spiffe://alpha/user/bob", request, status=400)

    def test_users_blocks_and_delegations(self):
        token = self.call("POST", "/v1/users", OPERATOR, {"name": "dora", "groups": ["physics"]}, status=201).json["token"]
        key, request = self.folder / "dora.key", self.folder / "dora.csr"
        run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=x")
        offer = {"name": "dora", "code": token.split("+")[2], "request": request.read_text()}
        self.assertEqual(self.call("POST", "/v1/enrolments", None, offer, status=201).json["user"], "spiffe://alpha/user/dora")
        self.call("POST", "/v1/certificates", "spiffe://alpha/user/dora", {"request": request.read_text()}, status=201)
        self.assertEqual(self.call("GET", "/v1/whoami", "spiffe://alpha/user/dora", status=200).json["groups"], ["physics"])
        users = self.call("GET", "/v1/users", OPERATOR, status=200).json["users"]
        self.assertEqual([len(user["certificates"]) for user in users if user["name"] == "dora"], [2])
        self.assertTrue(self.call("DELETE", "/v1/users/dora", OPERATOR, status=200).json["revoked"])
        self.call("GET", "/v1/whoami", "spiffe://alpha/user/dora", status=403)
        self.call("DELETE", "/v1/users/nobody", OPERATOR, status=404)
        subject = "?subject=spiffe%3A%2F%2Fgamma%2Fuser%2Feve"
        self.call("POST", "/v1/blocks", OPERATOR, {"subject": STRANGER_USER, "reason": "misuse"}, status=201)
        self.assertEqual([row["reason"] for row in self.call("GET", "/v1/blocks", OPERATOR, status=200).json["blocks"]], ["misuse"])
        self.assertIn(STRANGER_USER, self.call("GET", "/v1/trust", OPERATOR, status=200).json["blocked"])
        self.assertNotIn("blocked", self.call("GET", "/v1/trust", status=200).json)
        self.assertNotIn("blocked", self.call("GET", "/v1/trust", USER, status=200).json)
        self.assertEqual(self.call("DELETE", "/v1/blocks" + subject, OPERATOR, status=200).json["announced_by"], [])
        self.assertEqual(self.call("GET", "/v1/blocks", OPERATOR, status=200).json, {"blocks": [], "announced": []})
        self.call("DELETE", "/v1/blocks" + subject, OPERATOR, status=404)
        self.call("POST", "/v1/blocks", OPERATOR, {"subject": "alpha"}, status=409)
        wish = {"id": fresh_id(USER), "application": fresh_id(USER)}
        asked = self.call("POST", "/v1/delegations", USER, wish, status=201).json
        self.assertEqual(self.call("POST", "/v1/delegations", USER, wish, status=201).json, asked)
        self.call("POST", "/v1/delegations", USER, {"id": wish["id"]}, status=422)
        at = f"/v1/delegations/{wish['id']}"
        self.call("PUT", at, USER, {"chain": "no PEM"}, status=400)
        self.assertEqual(self.call("GET", at, USER, status=200).json, asked)
        self.call("GET", at, "spiffe://alpha/user/bob", status=404)
        self.call("DELETE", at, USER, status=200)

    def test_what_the_user_signed_is_her_delegation(self):
        wish = {"id": fresh_id(USER), "application": fresh_id(USER)}
        asked = self.call("POST", "/v1/delegations", USER, wish, status=201).json
        issued = Organisations(self.folder, self.cas)
        ana, bob = (issued.issue("alpha", "user", name) for name in ("ana", "bob"))
        at, text = f"/v1/delegations/{wish['id']}", f"application={wish['application']}"
        good = issued.sign_proxy(ana, asked["request"], text, seconds=3600)
        for bad, why in ((issued.sign_proxy(bob, asked["request"], text, seconds=3600), "not yours"),
                         (issued.sign_proxy(ana, asked["request"], f"application={fresh_id(USER)}", seconds=3600), "for application"),
                         (issued.sign_proxy(ana, asked["request"], text, seconds=13 * 3600), "lasts longer"),
                         (issued.sign_proxy(ana, asked["request"], text, seconds=-10), "expired"),
                         (issued.proxy("full", ana).chain.read_text(), "not for the key")):
            self.assertIn(why, self.call("PUT", at, USER, {"chain": bad}, status=400).json["detail"])
            self.assertFalse(self.call("GET", at, USER, status=200).json["signed"])
        self.assertTrue(self.call("PUT", at, USER, {"chain": good}, status=200).json["signed"])
        self.call("PUT", at, "spiffe://alpha/user/bob", {"chain": good}, status=404)

    def test_peering(self):
        ask = {"zone": "alpha-two", "organisation": "alpha", "url": "https://127.0.0.1:9", "interface_version": 1}
        self.assertEqual(self.call("POST", "/v1/peerings", HOME, ask, status=200).json["state"], "accepted")
        self.call("POST", "/v1/peerings", HOME, {**ask, "zone": "alpha-nine"}, status=403)

    def test_the_operator_settles_a_peering(self):
        at, bundle = "/v1/peerings/gamma", (self.cas["gamma"] / "bundle.pem").read_text()
        self.call("GET", at, USER, status=404)
        self.call("PATCH", at, OPERATOR, {"action": "accept"}, status=404)  # it has not asked, and no bundle is given
        accepted = self.call("PATCH", at, OPERATOR, {"action": "accept", "bundle": bundle, "rights": {"processors": 2}}, status=200).json
        self.addCleanup(self.call, "DELETE", at, OPERATOR)
        self.assertEqual([row["rights"]["ceiling"]["processors"] for row in accepted["peerings"]], [2])
        narrowed = self.call("PATCH", at, OPERATOR, {"action": "set", "rights": {"processors": 1}}, status=200).json["peerings"][0]
        self.assertEqual((narrowed["state"], narrowed["rights"]["ceiling"]["processors"]), ("accepted", 1))
        seen = self.call("GET", at, USER, status=200).json["peerings"][0]
        self.assertEqual((seen["state"], seen["fingerprint"], "rights" in seen), ("accepted", narrowed["fingerprint"], False))
        self.call("PATCH", at, USER, {"action": "reject"}, status=403)
        self.assertEqual(self.call("PATCH", at, OPERATOR, {"action": "suspend", "reason": "audit"}, status=200).json["peerings"][0]["state"], "suspended")
        self.call("DELETE", at, USER, status=403)
        self.assertEqual(self.call("DELETE", at, OPERATOR, status=200).json["organisation"], "gamma")
        self.call("GET", at, OPERATOR, status=404)

    def test_the_audit_log_is_read_in_pages(self):
        first = self.call("GET", "/v1/audit?limit=1", OPERATOR, status=200).json
        self.assertEqual([row["number"] for row in first["records"]], [1])
        second = self.call("GET", f"/v1/audit?after={first['next']}&limit=1", OPERATOR, status=200).json
        self.assertEqual([row["number"] for row in second["records"]], [2])
        self.call("GET", "/v1/audit", USER, status=403)
        self.call("GET", "/v1/audit", status=401)
        for query in ("limit=0", "limit=1001", "after=-1", "after=x", "from=1"):
            self.call("GET", "/v1/audit?" + query, OPERATOR, status=400)
