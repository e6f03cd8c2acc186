"""Applications at home and parts at a peer: their lives, and who may look."""
import base64
import datetime
import hashlib
import json
import re

from service import HOME, OPERATOR, USER, fresh_id, until
from stand_ins import MODEL


class Jobs:
    def test_life_of_an_application(self):
        request = self.application(name="first \"<i>")
        accepted = self.call("POST", "/v1/applications", USER, request, status=202)
        at = f"/v1/applications/{request['id']}"
        self.assertEqual(accepted.headers["Location"], at)
        self.assertEqual(self.call("POST", "/v1/applications", USER, request, status=202).json["id"], request["id"], "a repeat gives the same answer")
        self.call("POST", "/v1/applications", USER, {**request, "ranks": 3}, status=422)
        running = self.wait_for_state(request["id"], "running")
        self.assertEqual(running["zones"], ["alpha-one"])
        self.assertEqual((running["owner"], running["name"]), (USER, request["name"]))
        rows = lambda query, who=USER: [row["id"] for row in self.call("GET", "/v1/applications?" + query, who, status=200).json["applications"]]
        self.assertIn(request["id"], rows("state=launching,running"))
        self.assertNotIn(request["id"], rows("state=completed"))
        self.assertIn(request["id"], rows(f"owner={USER}", OPERATOR))
        self.assertGreaterEqual(self.call("GET", "/v1/applications/counts", USER, status=200).json["counts"]["running"], 1)
        assignment = self.call("GET", at + "/assignment", USER, status=200).json
        self.assertEqual([row["rank"] for row in assignment["ranks"]], [0, 1])
        self.assertIn("count", self.call("GET", at + "/assignment?format=rsl", USER, status=200).body.decode())
        self.assertIn("alpha-one.node", self.call("GET", at + "/assignment?format=hostfile", USER, status=200).body.decode())
        self.call("GET", at + "/assignment?format=xml", USER, status=400)
        explanation = self.call("GET", at + "/explain", USER, status=200).json
        self.assertEqual(explanation["plan"]["zone_of_rank"], ["alpha-one", "alpha-one"])
        self.assertEqual([(event["what"], event["zone"], event["ok"]) for event in explanation["events"]], [(what, "alpha-one", True) for what in ("capacity", "hold", "commit", "launch")])
        index = until(lambda: len((found := self.call("GET", at + "/logs", USER, status=200).json)["files"]) >= 2 and found, "two logs")
        self.assertEqual(index["complete"], False)
        self.assertIn({"rank": "0", "stream": "stdout", "bytes": 18}, index["files"])
        self.assertIn({"rank": "1", "stream": "stderr", "bytes": 10}, index["files"])
        piece = self.call("GET", at + "/logs/0?offset=6", USER, status=200)
        self.assertEqual((piece.body, piece.headers["Zbs-Next-Offset"], piece.headers["Zbs-Complete"]), (b"from rank 0\n", "18", "false"))
        self.call("GET", at + "/logs/1?stream=stderr", USER, status=200)
        self.call("GET", at + "/logs/launcher", USER, status=200)
        for bad, status in (("/logs/2", 404), ("/logs/-1", 400), ("/logs/x", 400), ("/logs/0?stream=both", 400), ("/logs/0?offset=-1", 400), ("/logs/0?offset=1e3", 400)):
            self.call("GET", at + bad, USER, status=status)
        queue = self.call("GET", "/v1/queue", USER, status=200).json["parts"]
        self.assertEqual([row["ranks"] for row in queue], [2])
        nodes = self.call("GET", "/v1/nodes", USER, status=200).json["nodes"]
        self.assertEqual(sum(node["used"] for node in nodes), 2)

        completed = self.let_end(lambda: (view := self.state_of(request["id"]))["state"] == "completed" and view)
        self.assertEqual(completed["exit_code"], 0)
        mine = [row for row in self.call("GET", "/v1/queue?ended_after=0", USER, status=200).json["ended"] if row["application"] == request["id"]]
        self.assertEqual([(row["state"], row["ranks"], len(row["places"])) for row in mine], [("completed", 2, 2)])
        self.assertGreaterEqual(mine[0]["end_us"], mine[0]["start_us"])
        later = self.call("GET", f"/v1/queue?ended_after={mine[0]['end_us']}", USER, status=200).json["ended"]
        self.assertNotIn(request["id"], [row["application"] for row in later])
        for bad in ("ended_after=-1", "ended_after=x", f"ended_after={2**63}", "ended=0"):
            self.call("GET", f"/v1/queue?{bad}", USER, status=400)
        self.assertEqual(self.call("GET", at + "/logs/0", USER, status=200).headers["Zbs-Complete"], "true")
        self.assertEqual(self.call("GET", at + "/logs", USER, status=200).json["complete"], True)
        profiles = self.call("GET", "/v1/profiles", USER, status=200).json["profiles"]
        self.assertEqual(profiles[0]["application"], request["id"])
        self.assertEqual((profiles[0]["arguments"], profiles[0]["ranks"], profiles[0]["complete"]), ("", 2, True))
        self.assertGreater(profiles[0]["measured_s"], 0)
        self.assertEqual(self.call("GET", f"/v1/profiles/{completed['profile']}", USER, status=200).json, MODEL)
        self.call("GET", f"/v1/profiles/{completed['profile']}", "spiffe://alpha/user/bob", status=404)
        self.assertEqual(self.call("DELETE", at, USER, status=200).json["state"], "completed", "an ended one stays as it is")

    def test_imported_profiles_are_planned_with_and_their_errors_told(self):
        program = ["/opt/imported/app", "--steps=1500"]
        for seconds in (1000, 2000):
            wanted = {"id": fresh_id(USER), "argv": program, "model": MODEL, "measured_s": seconds}
            made = self.call("POST", "/v1/profiles", USER, wanted, status=201)
            self.assertEqual(made.headers["Location"], f"/v1/profiles/{wanted['id']}")
            self.assertEqual((made.json["program"], made.json["arguments"]), (program[0], "--steps={3}"))
            self.assertNotIn("application", made.json)
        self.assertEqual(self.call("POST", "/v1/profiles", USER, wanted, status=201).json, made.json, "a repeat gives the same answer")
        self.call("POST", "/v1/profiles", USER, {**wanted, "measured_s": 1}, status=422)
        self.call("POST", "/v1/profiles", "spiffe://alpha/user/bob", wanted, status=400)
        self.call("POST", "/v1/profiles", OPERATOR, {**wanted, "id": fresh_id(OPERATOR)}, status=403)
        self.assertEqual(self.call("GET", made.headers["Location"], USER, status=200).json, {**MODEL, "program": program[0]})
        self.call("GET", made.headers["Location"], "spiffe://alpha/user/bob", status=404)
        plan = self.call("POST", "/v1/applications?dry_run=true", USER, self.application(argv=[program[0], "--steps=9999"]), status=200).json
        self.assertEqual((plan["profile"], plan["learned"], plan["predicted_s"]), (wanted["id"], "merged from 2 runs", 1500))
        other = self.call("POST", "/v1/applications?dry_run=true", USER, self.application(argv=[program[0], "--steps=7"]), status=200).json
        self.assertEqual(other["learned"], "merged from 2 runs with other arguments or input")
        self.assertNotIn("predicted_s", other)
        larger = self.call("POST", "/v1/applications?dry_run=true", USER, self.application(4, argv=program), status=200).json
        self.assertEqual(larger["profile"], "none")
        self.assertIn("not extrapolated", larger["learned"])

    def test_a_dry_run_changes_nothing(self):
        request = self.application(3, model={**MODEL, "ranks": 3, "compute": [1, 1, 1]})
        plan = self.call("POST", "/v1/applications?dry_run=true", USER, request, status=200).json
        self.assertEqual((plan["start_in_s"], plan["zones"][0]["start_from_s"], plan["zones"][0]["start_to_s"]), (0, 0, 0))
        self.assertEqual(plan["profile"], "request")
        self.call("GET", f"/v1/applications/{request['id']}", USER, status=404)
        self.assertIn(self.call("POST", "/v1/applications?dry_run=true", USER, self.application(5)).status, (422, 503))
        self.call("POST", "/v1/applications?dry_run=yes", USER, request, status=400)

    def test_an_id_that_is_left_out_is_made_by_the_zone(self):
        application = self.application()
        del application["id"]
        for target, body in (("/v1/applications", application), ("/v1/profiles", {"argv": ["/bin/app"], "model": MODEL}), ("/v1/delegations", {})):
            made = self.call("POST", target, USER, body)
            self.assertIn(made.status, (201, 202))
            self.assertEqual(made.headers["Location"], f"{target}/{made.json['id']}")
            again = self.call("POST", target, USER, body | {"id": made.json["id"]}, status=made.status)
            self.assertEqual(again.json["id"], made.json["id"], "it is the caller's own")
            self.assertNotEqual(self.call("POST", target, USER, body, status=made.status).json["id"], made.json["id"])
        self.call("POST", "/v1/applications?dry_run=true", USER, application, status=200)

    def test_cancel(self):
        request = self.application()
        self.call("POST", "/v1/applications", USER, request, status=202)
        self.wait_for_state(request["id"], "running")
        self.call("DELETE", f"/v1/applications/{request['id']}", USER, status=200)
        self.wait_for_state(request["id"], "cancelled")

    def test_a_list_goes_by_the_zones_clock_in_pages_that_go_on(self):
        ask = lambda query, status=200: self.call("GET", "/v1/applications?" + query, USER, status=status).json  # noqa: E731
        made = ["7ZZZZZZZZZ" + fresh_id(USER)[10:], fresh_id(USER), "0000000001" + fresh_id(USER)[10:]]  # by three clocks, none of them the zone's
        for one in made:
            self.call("POST", "/v1/applications", USER, self.application(9) | {"id": one}, status=202)
            self.wait_for_state(one, "rejected")
        newest, seen, query = made[::-1], [], "limit=2&state=rejected,cancelled"
        page = ask(query)
        first = self.application(9)
        self.call("POST", "/v1/applications", USER, first, status=202)  # meanwhile
        self.wait_for_state(first["id"], "rejected")
        while True:
            seen += [row["id"] for row in page["applications"]]
            if "next" not in page:
                break
            page = ask(f"{query}&after={page['next']}")
        self.assertEqual((seen[:3], len(set(seen))), (newest, len(seen)))
        since = datetime.datetime.fromtimestamp(self.state_of(made[1])["submitted_us"] / 1e6, datetime.timezone.utc)
        self.assertEqual([row["id"] for row in ask("since=" + since.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))["applications"]], [first["id"], *newest[:2]])
        for bad in (f"after={fresh_id(USER)}", "after=5-x", "since=1h", "since=2026-11-24"):
            self.assertEqual(ask(bad, 400)["errors"][0]["pointer"], bad.split("=")[0])

    def test_more_ranks_than_there_will_ever_be_are_rejected(self):
        request = self.application(9)
        self.call("POST", "/v1/applications", USER, request, status=202)
        rejected = self.wait_for_state(request["id"], "rejected")
        self.assertTrue(rejected["reason"])
        self.call("GET", f"/v1/applications/{request['id']}/assignment", USER, status=409)

    def test_events(self):
        request = self.application(ranks=1)
        self.call("POST", "/v1/applications", USER, request, status=202)
        at = f"/v1/applications/{request['id']}/events"
        self.assertIn(b"retry:", self.call("GET", at, USER, status=200).body)
        self.call("GET", at, HOME, status=403)
        self.call("GET", at + "?after=x", USER, status=400)
        self.call("GET", at, USER, status=400, headers=[("Last-Event-ID", "-1")])
        self.assertIn(b"retry:", self.call("GET", "/v1/events", USER, status=200).body)
        self.call("GET", "/v1/events", status=401)
        self.wait_for_state(request["id"], "running")
        self.let_end(lambda: self.state_of(request["id"])["state"] == "completed")
        self.call("GET", at + "?after=9000000000000000", USER, status=204)
        connection = self.connect(USER)
        try:
            connection.request("GET", at)
            text = connection.getresponse().read().decode()  # ends with the application
        finally:
            connection.close()
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        self.assertEqual([event["state"] for event in events], ["accepted", "planned", "held", "committed", "launching", "running", "completed"])
        for event in events:
            self.contract.validator({"$ref": "#/components/schemas/StateEvent"}).validate(event)

    def test_figures_in_both_texts(self):
        text = self.call("GET", "/metrics", USER, status=200)
        self.assertTrue(text.body.endswith(b"# EOF\n"))
        older = self.call("GET", "/metrics", OPERATOR, status=200, headers=[("Accept", "text/plain")])
        self.assertIn(b"zbs_zone_processors{state=", older.body)
        self.assertNotIn(b"# EOF", older.body)
        self.call("GET", "/metrics", HOME, status=403)

    def test_pages_and_their_files(self):
        page = self.call("GET", "/", status=200)
        files = re.findall(rb"assets/[A-Za-z0-9._-]+", page.body)
        for name in files:
            self.call("GET", "/" + name.decode(), status=200)
        if not files:  # built without Node.js: then there are none to be seen
            self.contract.seen.add(("getDashboardAsset", 200))
        self.call("GET", "/assets/none.js", USER, status=404)
        self.call("GET", "/", HOME, status=200)
        self.call("POST", "/v1/applications?dry_run=true", USER, {}, status=403, headers=[("Origin", "https://elsewhere.example")])

    def test_life_of_a_part(self):
        part = self.part()
        at = f"/v1/parts/{part['id']}"
        held = self.call("POST", "/v1/parts", HOME, part, status=201)
        self.assertEqual(held.headers["Location"], at)
        token = held.json["token"]
        self.assertEqual([place["rank"] for place in held.json["assignment"]], [0, 1])
        self.assertEqual(self.call("POST", "/v1/parts", HOME, part, status=201).json["token"], token, "a repeat gives the same hold")
        self.call("POST", "/v1/parts", HOME, {**part, "seed": 2}, status=422)
        self.call("POST", "/v1/parts", HOME, self.part(3), status=422)  # 2 of 4 are free
        capacity = self.call("POST", "/v1/capacity", HOME, {"user": USER, "processors": 4, "walltime_s": 60, "zones": ["beta-one", "alpha-one"]}, status=200).json
        self.assertEqual((capacity["processors"], capacity["total_processors"]), (2, 4))
        self.assertEqual([link["zone"] for link in capacity["links"]], ["beta-one"])
        self.assertEqual(self.call("GET", at, HOME, status=200).json["state"], "held")
        self.call("POST", at + "/commit", HOME, {"token": token + 1}, status=409)
        machines = sorted({place["machine"] for place in held.json["assignment"]})
        launch = {"token": token, "operation": "run-" + part["id"], "options": [{"name": "control-port", "value": "127.0.0.1:1"}],
                  "proxies": [{"id": i, "machine": machine} for i, machine in enumerate(machines)], "profile": True, "preload": True}
        self.call("POST", at + "/launch", HOME, launch, status=409)  # not committed
        committed = self.call("POST", at + "/commit", HOME, {"token": token}, status=200).json
        self.assertEqual(committed["state"], "committed")
        self.assertGreater(committed["expires_in_s"], 0)  # until it has to be launched
        self.call("POST", at + "/launch", HOME, {**launch, "options": [{"name": "exec", "value": "sh"}]}, status=400)
        self.call("POST", at + "/launch", HOME, {**launch, "proxies": [{"id": 0, "machine": "node-9"}]}, status=400)
        self.call("POST", at + "/launch", HOME, {**launch, "token": token + 1}, status=409)
        self.assertEqual(self.call("POST", at + "/launch", HOME, launch, status=200).json["state"], "running")
        self.call("POST", at + "/launch", HOME, launch, status=200)
        for method, where in (("GET", at), ("DELETE", at), ("GET", at + "/profile")):
            self.call(method, where, "spiffe://alpha/zone/alpha-nine", status=404)
        until(lambda: self.call("GET", at + "/profile", HOME).status == 200, "a model")
        self.assertEqual(self.call("GET", at + "/profile", HOME, status=200).json, MODEL)
        ended = self.let_end(lambda: (view := self.call("GET", at, HOME, status=200).json)["state"] == "completed" and view)
        self.assertEqual((ended["exit_code"], ended["has_profile"]), (0, True))
        self.call("POST", at + "/commit", HOME, {"token": token}, status=409)

    def send(self, data, at="/v1/files/", identity=USER, **more):
        digest = hashlib.sha256(data).hexdigest()
        piece = {"size": len(data), "offset": 0, "bytes": base64.b64encode(data).decode(), **more}
        self.assertEqual(self.call("PUT", at + digest, identity, piece, status=200).json, {"digest": digest, "have": len(data), "complete": True})
        return {"name": "in.dat", "digest": digest, "size": len(data)}

    def test_files_are_taken_in_pieces(self):
        data = b"0123456789" * 1000
        digest = hashlib.sha256(data).hexdigest()
        at = f"/v1/files/{digest}"
        piece = lambda begin, end, **more: {"size": len(data), "offset": begin, "bytes": base64.b64encode(data[begin:end]).decode(), **more}  # noqa: E731
        self.call("GET", at, USER, status=404)
        self.assertEqual(self.call("PUT", at, USER, piece(0, 4000), status=200).json["have"], 4000)
        self.call("PUT", at, USER, piece(5000, 9000), status=409)  # a gap
        self.assertEqual(self.call("GET", at, USER, status=200).json, {"digest": digest, "have": 4000, "complete": False})
        self.call("GET", at, "spiffe://alpha/user/bob", status=404)
        self.assertTrue(self.call("PUT", at, USER, piece(4000, 10000), status=200).json["complete"])
        wrong = "/v1/files/" + "0" * 64
        self.call("PUT", wrong, USER, piece(0, 10000), status=409)  # another checksum
        self.call("GET", wrong, USER, status=404)
        for bad, where in (({"offset": 10001}, "/bytes"), ({"bytes": "a"}, "/bytes"), ({"bytes": ""}, "/bytes"), ({"size": -1}, "/size"), ({"name": "x"}, "/name"),
                           ({"bytes": base64.b64encode(bytes(1024 * 1024 + 1)).decode(), "size": 2 ** 21}, "/bytes")):
            reply = self.call("PUT", wrong, USER, {**piece(0, 10), **bad}, status=400)
            self.assertEqual(reply.json["errors"][0]["pointer"], where)
        self.call("PUT", wrong, USER, {**piece(0, 10), "size": 2 ** 30}, status=413)
        self.call("PUT", "/v1/files/x", USER, piece(0, 10), status=400)

    def test_files_of_an_application_and_its_results(self):
        staged = self.send(b"some input")
        for bad, where in (({"name": "../x"}, "name"), ({"name": ".zbs-stdout"}, "name"), ({"name": ".x"}, "name"), ({"digest": "x"}, "digest"), ({"size": -1}, "size")):
            reply = self.call("POST", "/v1/applications", USER, self.application(staging={"inputs": [{**staged, **bad}], "results": []}), status=400)
            self.assertEqual(reply.json["errors"][0]["pointer"], f"/staging/inputs/0/{where}")
        self.call("POST", "/v1/applications", USER, self.application(staging={"inputs": [{**staged, "digest": "1" * 64}], "results": []}), status=409)
        self.call("POST", "/v1/applications", USER, self.application(staging={"inputs": [staged], "results": ["a\nb"]}), status=400)
        request = self.application(staging={"inputs": [staged], "results": ["out.dat", "secret.dat"]})
        at = f"/v1/applications/{request['id']}/results"
        self.call("POST", "/v1/applications", USER, request, status=202)
        self.wait_for_state(request["id"], "running")
        self.assertEqual(self.call("GET", at, USER, status=200).json, {"complete": False, "files": [], "notes": []})
        ended = self.let_end(lambda: (view := self.state_of(request["id"]))["state"] == "completed" and view)
        results = self.call("GET", at, USER, status=200).json
        self.assertEqual(results["files"], [{**staged, "name": "out.dat", "zone": "alpha-one"}])
        self.assertEqual(results["notes"], ended["result_notes"])
        self.assertIn("secret.dat", results["notes"][0])  # a link to somebody else's file
        piece = self.call("GET", at + "/out.dat?offset=5", USER, status=200).json
        self.assertEqual((base64.b64decode(piece["bytes"]), piece["offset"], piece["size"]), (b"input", 5, 10))
        self.call("GET", at + "/out.dat?offset=11", USER, status=400)
        self.call("GET", at + "/secret.dat", USER, status=404)
        self.call("GET", at, "spiffe://alpha/user/bob", status=404)

    def test_files_of_a_part_and_its_results(self):
        part = self.part(1)
        at = f"/v1/parts/{part['id']}"
        held = self.call("POST", "/v1/parts", HOME, part, status=201).json
        data = b"for a part"
        file = {"name": "in.dat", "digest": hashlib.sha256(data).hexdigest(), "size": len(data)}
        wanted = {"token": held["token"], "staging": {"inputs": [file], "results": ["*.dat"]}}
        self.call("PUT", at + "/staging", HOME, wanted, status=409)  # not committed
        self.call("POST", at + "/commit", HOME, {"token": held["token"]}, status=200)
        self.call("PUT", at + "/staging", HOME, {**wanted, "token": held["token"] + 1}, status=409)
        self.call("PUT", at + "/staging", HOME, {"token": held["token"], "staging": {"inputs": [{**file, "size": 2 ** 30}], "results": []}}, status=413)
        self.call("PUT", at + "/staging", "spiffe://alpha/zone/alpha-nine", wanted, status=404)
        self.assertEqual(self.call("PUT", at + "/staging", HOME, wanted, status=200).json["files"][0]["complete"], False)
        self.call("PUT", at + "/files/" + "1" * 64, HOME, {"token": held["token"], "size": 1, "offset": 0, "bytes": "AA=="}, status=400)
        launch = {"token": held["token"], "operation": "run-" + part["id"], "options": [{"name": "control-port", "value": "127.0.0.1:1"}],
                  "proxies": [{"id": 0, "machine": held["assignment"][0]["machine"]}], "profile": False, "preload": False}
        self.call("POST", at + "/launch", HOME, launch, status=409)  # its file has not come
        self.send(data, at + "/files/", HOME, token=held["token"])
        self.assertEqual(self.call("PUT", at + "/staging", HOME, wanted, status=200).json["files"][0]["complete"], True)
        self.assertEqual(self.call("POST", at + "/launch", HOME, launch, status=200).json["state"], "running")
        self.assertEqual(self.call("GET", at + "/results", HOME, status=200).json["complete"], False)
        self.let_end(lambda: self.call("GET", at, HOME, status=200).json["state"] in ("completed", "failed"))
        results = until(lambda: (found := self.call("GET", at + "/results", HOME, status=200).json)["complete"] and found, "results")
        self.assertEqual([row["name"] for row in results["files"]], ["in.dat", "out.dat"])
        piece = self.call("GET", at + "/results/out.dat?offset=4", HOME, status=200).json
        self.assertEqual(base64.b64decode(piece["bytes"]), b"a part")
        self.call("GET", at + "/results/secret.dat", HOME, status=404)
        self.call("GET", at + "/results", "spiffe://alpha/zone/alpha-nine", status=404)

    def test_a_part_is_given_back(self):
        part = self.part(4)
        self.call("POST", "/v1/parts", HOME, part, status=201)
        self.assertEqual(self.call("DELETE", f"/v1/parts/{part['id']}?reason=planned%20again", HOME, status=200).json["state"], "released")
        again = self.part(4)
        self.call("POST", "/v1/parts", HOME, again, status=201)

    def test_zy_a_long_reason_does_not_lock_the_zone_out(self):
        part = self.part(1)
        self.call("POST", "/v1/parts", HOME, part, status=201)
        self.call("DELETE", f"/v1/parts/{part['id']}?reason=" + "x" * 8000, HOME)
        self.assertEqual(self.service.stop(), 0)
        type(self).service = self.start()
        self.call("GET", "/readyz", status=200)
