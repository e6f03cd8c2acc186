"""Bodies and ids that the zone must refuse."""
from service import HOME, OPERATOR, USER, fresh_id
from stand_ins import MODEL


class BadInput:
    def test_bad_bodies(self):
        held = self.part()
        self.call("POST", "/v1/parts", HOME, held, status=201)
        at = f"/v1/parts/{held['id']}"  # of a part that is not there nobody's body is read
        application = self.application()
        del application["id"]  # it may be left out
        self.bad_bodies("POST", "/v1/applications", USER, application)
        self.bad_bodies("POST", "/v1/parts", HOME, self.part())
        self.bad_bodies("POST", "/v1/capacity", HOME, {"user": USER, "processors": 1, "walltime_s": 1, "zones": []})
        self.bad_bodies("POST", "/v1/profiles", USER, {"argv": ["/bin/app"], "model": MODEL})
        self.bad_bodies("POST", "/v1/users", OPERATOR, {"name": "x"})
        self.bad_bodies("POST", "/v1/blocks", OPERATOR, {"subject": "x"})
        self.bad_bodies("POST", "/v1/delegations", USER, {"application": fresh_id(USER)}, required=False)
        mine = fresh_id(USER)
        self.call("POST", "/v1/delegations", USER, {"id": mine}, status=201)
        self.bad_bodies("PUT", f"/v1/delegations/{mine}", USER, {"chain": "x"})
        self.bad_bodies("POST", "/v1/peerings", HOME, {"zone": "alpha-two", "organisation": "alpha", "url": "http://127.0.0.1:9", "interface_version": 1})
        self.bad_bodies("POST", at + "/commit", HOME, {"token": 1})
        self.bad_bodies("POST", at + "/launch", HOME, {"token": 1, "operation": "a", "options": [], "proxies": [{"id": 0, "machine": "a"}], "profile": False, "preload": False})
        self.assertEqual(self.call("POST", "/v1/applications", USER, self.application(mapper="best"), status=400).json["errors"][0]["pointer"], "/mapper")

    def test_ids_in_paths(self):
        for at in ("/v1/applications/x", "/v1/applications/x/logs", "/v1/applications/x/explain", "/v1/parts/x", "/v1/parts/x/profile", "/v1/profiles/x"):
            self.call("GET", at, USER, status=400)
        self.call("GET", f"/v1/parts/{fresh_id(HOME)}", HOME, status=404)
        self.call("GET", f"/v1/applications/{fresh_id(USER)}", USER, status=404)
        for query in ("limit=x", "state=x", "state=running,", "owner=ana", "owner=" + "a" * 300):
            self.call("GET", "/v1/applications?" + query, USER, status=400)
        self.call("GET", "/v1/applications/counts?x=1", USER, status=400)
        for name in ("", "a\nb", "\u202e", "a" * 257):
            self.assertEqual(self.call("POST", "/v1/applications", USER, self.application(name=name), status=400).json["errors"][0]["pointer"], "/name")
        self.assertEqual(self.call("GET", "/v1/applications?limit=0", USER, status=200).json["applications"], [])
