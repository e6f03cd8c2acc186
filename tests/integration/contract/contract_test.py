"""The real services against their OpenAPI documents: every documented operation is called, and every reply, good or bad,
must be one that the document describes.

usage: contract_test.py zone|registry PROGRAM SOURCE_DIR [unittest arguments]

The zone runs with stand-ins for the MPI launcher and its proxies (shell scripts below): what is tested here is what the
services say, not MPI.
"""
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import jsonschema

from identities import Organisations, context, run
from stand_ins import MODEL, write_stand_ins

KIND, PROGRAM, SOURCE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
DEADLINE_S = 20
METHODS = ("get", "post", "put", "patch", "delete", "options")
USER = "spiffe://alpha/user/ana"
OPERATOR = "spiffe://alpha/operator/root"
HOME = "spiffe://alpha/zone/alpha-two"
STRANGER_USER = "spiffe://gamma/user/eve"
STRANGER_ZONE = "spiffe://gamma/zone/gamma-one"
CALLERS = {"user": USER, "operator": OPERATOR, "zone": HOME}

_ids = iter(range(1, 10_000))


def fresh_id():
    return "01J9Z3V7Q1" + f"{next(_ids):016d}"


def until(look, what):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {DEADLINE_S} s: {what}")


class Service:
    """A program under test; ended, whatever happens, by `stop`."""

    def __init__(self, command, log):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log)
        try:
            self.url = self._read_url()
        except BaseException:
            self.stop()
            raise

    def _read_url(self):
        line, end = b"", time.monotonic() + DEADLINE_S
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            byte = os.read(self.process.stdout.fileno(), 1) if ready else b""
            if not byte:
                raise AssertionError(f"{self.process.args[0]} did not start: {pathlib.Path(self.log.name).read_text()[-2000:]}")
            line += byte
        match = re.search(rb"listening on https?://127\.0\.0\.1:(\d+)$", line.strip())
        assert match, line
        self.port = int(match.group(1))
        return line.decode().split()[-1]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()
        return self.process.returncode


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Contract:
    """An OpenAPI document, and which of its replies have been seen."""

    def __init__(self, path):
        self.text = path.read_bytes()
        self.document = json.loads(self.text)
        self.seen = set()

    def operations(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method, path, operation

    def validator(self, schema):
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": self.document["components"], "allOf": [schema]}
        jsonschema.Draft202012Validator.check_schema(whole)
        return jsonschema.Draft202012Validator(whole)

    def match(self, method, target):
        """The documented operation that `target` is of, or nothing."""
        segments = target.split("?")[0].split("/")
        for known, path, operation in self.operations():
            pattern = path.split("/")
            if known == method.lower() and len(pattern) == len(segments) and all(p == s or p.startswith("{") for p, s in zip(pattern, segments)):
                return operation
        return None

    def check(self, method, target, reply):
        what = f"{method} {target} -> {reply.status} {reply.body[:300]!r}"
        operation = self.match(method, target)
        if operation is None or reply.status == 405:
            self.check_problem(reply, what)
            return
        assert str(reply.status) in operation["responses"], f"{what}: status is not documented"
        self.seen.add((operation["operationId"], reply.status))
        response = operation["responses"][str(reply.status)]
        if "$ref" in response:
            response = self.document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        media = reply.headers.get("Content-Type")
        assert media in response["content"], f"{what}: content type {media} is not documented"
        if media.endswith("json"):
            errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in self.validator(response["content"][media]["schema"]).iter_errors(reply.json)]
            assert not errors, f"{what}: {errors}"
        for name, header in response.get("headers", {}).items():
            if "$ref" in header:
                header = self.document["components"]["headers"][header["$ref"].rsplit("/", 1)[1]]
            value = reply.headers.get(name)
            if value is None and header.get("required") is False:
                continue
            assert value is not None, f"{what}: header {name} is missing"
            assert self.validator(header["schema"]).is_valid(value), f"{what}: {name}: {value}"
        if reply.status >= 400:
            self.check_problem(reply, what)

    def check_problem(self, reply, what):
        assert reply.headers.get("Content-Type") == "application/problem+json", what
        errors = [e.message for e in self.validator({"$ref": "#/components/schemas/Problem"}).iter_errors(reply.json)]
        assert not errors, f"{what}: {errors}"
        assert reply.json["status"] == reply.status, f"{what}: the body tells another status"


class ServiceTest(unittest.TestCase):
    """One service for all tests of a class; `call` checks every reply against the contract."""
    contract_file = None
    sources = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-contract-"))
        cls.service = None
        cls.addClassCleanup(cls.end)
        cls.contract = Contract(SOURCE / "schemas/openapi" / cls.contract_file)
        cls.service = cls.start()

    @classmethod
    def end(cls):
        try:
            if cls.service is not None and cls.service.stop() != 0:  # a fault of a sanitizer, for one, ends it
                raise AssertionError(f"the service ended with {cls.service.process.returncode}: {(cls.folder / 'log').read_text()[-8000:]}")
        finally:
            shutil.rmtree(cls.folder, ignore_errors=True)

    def connect(self, caller=None):
        """A connection of this caller, with a certificate that its organisation could have given out."""
        identity = Organisations(self.folder, self.cas).issue(*caller.removeprefix("spiffe://").split("/")) if caller else None
        return http.client.HTTPSConnection("127.0.0.1", self.service.port, timeout=DEADLINE_S, context=context(identity))

    def raw(self, method, target, caller=None, body=None, headers=()):
        connection = self.connect(caller)
        try:
            connection.putrequest(method, target)
            for name, value in headers:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(body)))
            try:
                connection.endheaders(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all was sent; the reply is there all the same
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def call(self, method, target, caller=None, json_body=None, body=None, status=None, headers=()):
        if json_body is not None:
            body = json.dumps(json_body).encode()
        reply = self.raw(method, target, caller, body, headers)
        self.contract.check(method, target, reply)
        if status is not None:
            self.assertEqual(reply.status, status, f"{method} {target}: {reply.body[:500]!r}")
        return reply

    def target_of(self, path, operation, **values):
        query = {}
        for parameter in operation.get("parameters", ()):
            value = values.get(parameter["name"], parameter["example"])
            if parameter["in"] == "path":
                path = path.replace("{" + parameter["name"] + "}", urllib.parse.quote(str(value), safe=""))
            else:
                query[parameter["name"]] = value
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def examples(self, operation):
        body = operation.get("requestBody")
        return [e["value"] for e in body["content"]["application/json"]["examples"].values()] if body else [None]

    # ---- what holds for both services

    def test_the_document_is_whole(self):
        document = self.contract.document
        self.assertEqual(document["openapi"], "3.1.0")
        names = [operation["operationId"] for _, _, operation in self.contract.operations()]
        self.assertEqual(len(names), len(set(names)))
        for schema in document["components"]["schemas"]:
            self.contract.validator({"$ref": f"#/components/schemas/{schema}"})
        text = self.contract.text.decode()
        for reference in set(re.findall(r'"\$ref": "#/([^"]+)"', text)):
            place = document
            for step in reference.split("/"):
                self.assertIn(step, place, reference)
                place = place[step]
        for kind in ("schemas", "responses", "headers"):
            for name in document["components"][kind]:
                self.assertTrue(f'"#/components/{kind}/{name}"' in text, f"{name} is used nowhere")
        for method, path, operation in self.contract.operations():
            for parameter in operation.get("parameters", ()):
                self.assertTrue(self.contract.validator(parameter["schema"]).is_valid(parameter["example"]), f"{path} {parameter['name']}")
            self.assertEqual(set(re.findall(r"{(\w+)}", path)), {p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"})
            for example in self.examples(operation):
                if example is not None:
                    schema = operation["requestBody"]["content"]["application/json"]["schema"]
                    self.contract.validator(schema).validate(example)

    def test_objects_are_closed(self):
        for name, schema in self.contract.document["components"]["schemas"].items():
            if schema.get("type") == "object":
                self.assertIs(schema["additionalProperties"], False, name)

    def test_documented_operations_are_the_routes(self):
        routes = set()
        for source in self.sources:
            found = re.findall(r'router\.add(?:_sync)?\(\s*"([A-Z]+)",\s*"([^"]+)",\s*Action::k(\w+)', (SOURCE / source).read_text())
            routes |= {(method.lower(), path, action[0].lower() + action[1:]) for method, path, action in found}
        self.assertEqual({(method, path, operation["operationId"]) for method, path, operation in self.contract.operations()}, routes)

    def test_every_documented_operation_is_served(self):
        for method, path, operation in self.contract.operations():
            for example in self.examples(operation):
                callers = operation.get("x-callers", [None])
                target = self.target_of(path, operation)
                with self.subTest(f"{method} {target}"):
                    reply = self.call(method.upper(), target, CALLERS.get(callers[0]), example)
                    self.assertNotEqual(reply.status, 405)
                    if reply.status == 404:
                        self.assertNotIn("nothing is at", reply.json["detail"])
                    if example is not None and operation["operationId"] not in ("requestEnrolment", "renewCertificate"):  # the examples are no real requests
                        if operation["operationId"] == "putDelegation":
                            continue  # only the user's own key could sign the example
                        self.assertNotIn(reply.status, (400, 401, 403), reply.body)

    def test_other_methods_are_refused(self):
        for path, methods in self.contract.document["paths"].items():
            target = re.sub(r"{\w+}", "x", path)
            for method in METHODS:
                if method in methods:
                    continue
                reply = self.call(method.upper(), target, USER, status=405)
                self.assertEqual({m.strip().lower() for m in reply.headers["Allow"].split(",")}, set(methods), path)

    def test_a_head_request_gets_no_body(self):
        connection = self.connect()
        try:
            for _ in range(2):  # on one connection: a body would be taken for the next reply
                connection.request("HEAD", "/livez")
                response = connection.getresponse()
                self.assertEqual((response.status, response.read()), (405, b""))
            connection.request("GET", "/livez")
            self.assertEqual(connection.getresponse().status, 200)
        finally:
            connection.close()

    def test_nothing_is_at_other_paths(self):
        for target in ("/", "/v1", "/v1/", "/V1/zones", "/v1/zones/a/b", "/v1/nothing", "/livez/", "//livez", "/v1/applications/x/y"):
            self.assertIn("nothing is at", self.call("GET", target, status=404).json["detail"])

    def test_the_served_document_is_the_file(self):
        self.assertEqual(self.call("GET", "/openapi.json", status=200).body, self.contract.text)

    def test_framing_faults(self):
        self.call("GET", "/livez", body=b"{}", status=400)
        self.call("GET", "/livez?a=1&a=2", status=400)
        self.call("GET", "/livez?a=%ff", status=400)
        self.call("GET", "/livez?a=%00", status=400)
        self.call("GET", "/livez", headers=[("X-Long", "x" * 17_000)], status=431)

    def bad_bodies(self, method, target, caller, good, required=True):
        """The faults that every call with a body must find."""
        text = json.dumps(good)
        key = next(iter(good))
        for body, pointer in ((b"{", "byte "), (b"", "byte "), (text.encode() + b"{}", "byte "), (text.encode() + b"\0x", "byte "), (b'"\xff"', "byte "),
                              (text.replace("{", '{"zz":1,', 1).encode(), "/zz"),
                              (text.replace("{", "{%s:1," % json.dumps(key), 1).encode(), "/" + key),
                              (b"[" * 17 + b"]" * 17, "/0"), (b"[]", None)):
            reply = self.call(method, target, caller, body=body, status=400)
            if pointer:
                self.assertTrue(reply.json["errors"][0]["pointer"].startswith(pointer), reply.body)
        if not required:
            return
        without = dict(good)
        del without[key]
        self.assertEqual(self.call(method, target, caller, without, status=400).json["errors"][0], {"pointer": "/" + key, "detail": "is missing"})

    def test_bodies_over_the_limit(self):
        target = {"zone": "/v1/parts", "registry": "/v1/enrolments"}[KIND]
        limit = 16 * 1024 * 1024
        caller = HOME if KIND == "zone" else None
        self.call("POST", target, caller, body=b" " * (limit + 1), status=413)
        self.call("POST", target, caller, body=b" " * limit, status=400)
        # Refused by what it announces, before it is sent.
        with context().wrap_socket(socket.create_connection(("127.0.0.1", self.service.port), timeout=DEADLINE_S)) as connection:
            connection.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n" % target.encode())
            self.assertIn(b" 413 ", connection.recv(65536).split(b"\r\n")[0])

    def assert_success_seen(self):
        """Every success that the document promises has been seen in this test run."""
        promised = {(operation["operationId"], int(status)) for _, _, operation in self.contract.operations() for status in operation["responses"] if status < "300"}
        self.assertEqual(promised - self.contract.seen, set())


class RegistryContract(ServiceTest):
    contract_file = "registry.json"
    sources = ("services/registry/http/registry_routes.cpp",)

    @classmethod
    def start(cls):
        cls.cas = {"alpha": cls.folder / "state/identity"}
        if not (cls.folder / "state").exists():
            run(PROGRAM, "init", "--state", cls.folder / "state", "--organisation", "alpha")
        return Service([PROGRAM, "run", "--state", str(cls.folder / "state")], cls.folder / "log")

    def test_every_documented_operation_is_served(self):
        # Of zones that are not enrolled here only the refusal is seen; what enrolled ones may is in tls_contract_test.py.
        for method, path, operation in self.contract.operations():
            for example in self.examples(operation):
                reply = self.call(method.upper(), self.target_of(path, operation), OPERATOR, example)
                self.assertNotIn(reply.status, (401, 405), reply.body)

    def test_tokens(self):
        made = self.call("POST", "/v1/enrolment-tokens", OPERATOR, {"organisation": "beta", "lifetime_s": 60}, status=201)
        self.assertTrue(made.json["token"].startswith("zbs-enrol-1+beta+"))
        self.bad_bodies("POST", "/v1/enrolment-tokens", OPERATOR, {"organisation": "beta"}, required=False)
        for bad in ({"organisation": "Beta"}, {"lifetime_s": -1}, {"lifetime_s": 2_592_001}):
            self.call("POST", "/v1/enrolment-tokens", OPERATOR, bad, status=400)

    def test_an_offer_that_nobody_signed(self):
        offer = {"code": "a" * 26, "entry": {"text": "{}", "chain": "", "signature": ""}}
        self.bad_bodies("POST", "/v1/enrolments", None, offer, required=False)
        self.call("POST", "/v1/enrolments", None, offer, status=400)
        self.call("POST", "/v1/enrolments", None, {"entry": offer["entry"]}, status=400)

    def test_bad_parameters(self):
        for query in ("interface=0", "interface=x", "interface=1x", "interface=99999999999", "colour=red", "limit=0", "limit=1001", "limit=x", "after=A"):
            self.call("GET", "/v1/zones?" + query, OPERATOR, status=400)


class ZoneContract(ServiceTest):
    contract_file = "zone.json"
    sources = tuple(f"services/zone_scheduler/http/{name}_routes.cpp" for name in ("zone", "identity", "delegation", "peering"))

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
                run(PROGRAM, "init", "--config", cls.folder / f"{name}.toml")
        return Service([PROGRAM, "run", "--config", str(cls.folder / "zone.toml")], cls.folder / "log")

    def application(self, ranks=2, **changes):
        return {"id": fresh_id(), "ranks": ranks, "argv": ["./ring"], "directory": str(self.folder), "environment": {"PATH": "/usr/bin:/bin"}, "walltime_s": 60, **changes}

    def part(self, ranks=2, **changes):
        return {"id": fresh_id(), "application": fresh_id(), "user": USER, "home": "alpha-two", "ranks": list(range(ranks)),
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

    def test_life_of_an_application(self):
        request = self.application()
        accepted = self.call("POST", "/v1/applications", USER, request, status=202)
        at = f"/v1/applications/{request['id']}"
        self.assertEqual(accepted.headers["Location"], at)
        self.assertEqual(self.call("POST", "/v1/applications", USER, request, status=202).json["id"], request["id"], "a repeat gives the same answer")
        self.call("POST", "/v1/applications", USER, {**request, "ranks": 3}, status=422)
        running = self.wait_for_state(request["id"], "running")
        self.assertEqual(running["zones"], ["alpha-one"])
        assignment = self.call("GET", at + "/assignment", USER, status=200).json
        self.assertEqual([row["rank"] for row in assignment["ranks"]], [0, 1])
        self.assertIn("count", self.call("GET", at + "/assignment?format=rsl", USER, status=200).body.decode())
        self.assertIn("alpha-one.node", self.call("GET", at + "/assignment?format=hostfile", USER, status=200).body.decode())
        self.call("GET", at + "/assignment?format=xml", USER, status=400)
        self.assertEqual(self.call("GET", at + "/explain", USER, status=200).json["plan"]["zone_of_rank"], ["alpha-one", "alpha-one"])
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
        self.assertEqual(self.call("GET", at + "/logs/0", USER, status=200).headers["Zbs-Complete"], "true")
        self.assertEqual(self.call("GET", at + "/logs", USER, status=200).json["complete"], True)
        profiles = self.call("GET", "/v1/profiles", USER, status=200).json["profiles"]
        self.assertEqual(profiles[0]["application"], request["id"])
        self.assertEqual(self.call("GET", f"/v1/profiles/{completed['profile']}", USER, status=200).json, MODEL)
        self.call("GET", f"/v1/profiles/{completed['profile']}", "spiffe://alpha/user/bob", status=404)
        self.assertEqual(self.call("DELETE", at, USER, status=200).json["state"], "completed", "an ended one stays as it is")

    def test_a_dry_run_changes_nothing(self):
        request = self.application(3, model={**MODEL, "ranks": 3, "compute": [1, 1, 1]})
        plan = self.call("POST", "/v1/applications?dry_run=true", USER, request, status=200).json
        self.assertEqual(plan["profile"], "request")
        self.call("GET", f"/v1/applications/{request['id']}", USER, status=404)
        self.assertIn(self.call("POST", "/v1/applications?dry_run=true", USER, self.application(5)).status, (422, 503))
        self.call("POST", "/v1/applications?dry_run=yes", USER, request, status=400)

    def test_cancel(self):
        request = self.application()
        self.call("POST", "/v1/applications", USER, request, status=202)
        self.wait_for_state(request["id"], "running")
        self.call("DELETE", f"/v1/applications/{request['id']}", USER, status=200)
        self.wait_for_state(request["id"], "cancelled")

    def test_more_ranks_than_there_will_ever_be_are_rejected(self):
        request = self.application(9)
        self.call("POST", "/v1/applications", USER, request, status=202)
        rejected = self.wait_for_state(request["id"], "rejected")
        self.assertTrue(rejected["reason"])
        self.call("GET", f"/v1/applications/{request['id']}/assignment", USER, status=409)

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
                  "proxies": [{"id": i, "machine": machine} for i, machine in enumerate(machines)], "profile": True}
        self.call("POST", at + "/launch", HOME, launch, status=409)  # not committed
        committed = self.call("POST", at + "/commit", HOME, {"token": token}, status=200).json
        self.assertEqual((committed["state"], committed["expires_in_s"]), ("committed", 0))
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

    def test_a_part_is_given_back(self):
        part = self.part(4)
        self.call("POST", "/v1/parts", HOME, part, status=201)
        self.assertEqual(self.call("DELETE", f"/v1/parts/{part['id']}?reason=planned%20again", HOME, status=200).json["state"], "released")
        again = self.part(4)
        self.call("POST", "/v1/parts", HOME, again, status=201)

    def test_who_may_what(self):
        unknown = fresh_id()
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
        self.call("POST", "/v1/applications", "spiffe://alpha/user/bob", request, status=422)

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
        self.call("DELETE", "/v1/blocks" + subject, OPERATOR, status=200)
        self.call("DELETE", "/v1/blocks" + subject, OPERATOR, status=404)
        self.call("POST", "/v1/blocks", OPERATOR, {"subject": "alpha"}, status=409)
        wish = {"id": fresh_id(), "application": fresh_id()}
        asked = self.call("POST", "/v1/delegations", USER, wish, status=201).json
        self.assertEqual(self.call("POST", "/v1/delegations", USER, wish, status=201).json, asked)
        self.call("POST", "/v1/delegations", USER, {"id": wish["id"]}, status=422)
        at = f"/v1/delegations/{wish['id']}"
        self.call("PUT", at, USER, {"chain": "no PEM"}, status=400)
        self.assertEqual(self.call("GET", at, USER, status=200).json, asked)
        self.call("GET", at, "spiffe://alpha/user/bob", status=404)
        self.call("DELETE", at, USER, status=200)

    def test_the_audit_log_is_read_in_pages(self):
        first = self.call("GET", "/v1/audit?limit=1", OPERATOR, status=200).json
        self.assertEqual([row["number"] for row in first["records"]], [1])
        second = self.call("GET", f"/v1/audit?after={first['next']}&limit=1", OPERATOR, status=200).json
        self.assertEqual([row["number"] for row in second["records"]], [2])
        self.call("GET", "/v1/audit", USER, status=403)
        self.call("GET", "/v1/audit", status=401)
        for query in ("limit=0", "limit=1001", "after=-1", "after=x", "from=1"):
            self.call("GET", "/v1/audit?" + query, OPERATOR, status=400)

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

    def test_what_the_user_signed_is_her_delegation(self):
        wish = {"id": fresh_id(), "application": fresh_id()}
        asked = self.call("POST", "/v1/delegations", USER, wish, status=201).json
        issued = Organisations(self.folder, self.cas)
        ana, bob = (issued.issue("alpha", "user", name) for name in ("ana", "bob"))
        at, text = f"/v1/delegations/{wish['id']}", f"application={wish['application']}"
        good = issued.sign_proxy(ana, asked["request"], text, seconds=3600)
        for bad, why in ((issued.sign_proxy(bob, asked["request"], text, seconds=3600), "not yours"),
                         (issued.sign_proxy(ana, asked["request"], f"application={fresh_id()}", seconds=3600), "for application"),
                         (issued.sign_proxy(ana, asked["request"], text, seconds=13 * 3600), "lasts longer"),
                         (issued.sign_proxy(ana, asked["request"], text, seconds=-10), "expired"),
                         (issued.proxy("full", ana).chain.read_text(), "not for the key")):
            self.assertIn(why, self.call("PUT", at, USER, {"chain": bad}, status=400).json["detail"])
            self.assertFalse(self.call("GET", at, USER, status=200).json["signed"])
        self.assertTrue(self.call("PUT", at, USER, {"chain": good}, status=200).json["signed"])
        self.call("PUT", at, "spiffe://alpha/user/bob", {"chain": good}, status=404)

    def test_bad_bodies(self):
        held = self.part()
        self.call("POST", "/v1/parts", HOME, held, status=201)
        at = f"/v1/parts/{held['id']}"  # of a part that is not there nobody's body is read
        self.bad_bodies("POST", "/v1/applications", USER, self.application())
        self.bad_bodies("POST", "/v1/parts", HOME, self.part())
        self.bad_bodies("POST", "/v1/capacity", HOME, {"user": USER, "processors": 1, "walltime_s": 1, "zones": []})
        self.bad_bodies("POST", "/v1/users", OPERATOR, {"name": "x"})
        self.bad_bodies("POST", "/v1/blocks", OPERATOR, {"subject": "x"})
        self.bad_bodies("POST", "/v1/delegations", USER, {"id": fresh_id()})
        mine = fresh_id()
        self.call("POST", "/v1/delegations", USER, {"id": mine}, status=201)
        self.bad_bodies("PUT", f"/v1/delegations/{mine}", USER, {"chain": "x"})
        self.bad_bodies("POST", "/v1/peerings", HOME, {"zone": "alpha-two", "organisation": "alpha", "url": "http://127.0.0.1:9", "interface_version": 1})
        self.bad_bodies("POST", at + "/commit", HOME, {"token": 1})
        self.bad_bodies("POST", at + "/launch", HOME, {"token": 1, "operation": "a", "options": [], "proxies": [{"id": 0, "machine": "a"}], "profile": False})
        self.assertEqual(self.call("POST", "/v1/applications", USER, self.application(mapper="best"), status=400).json["errors"][0]["pointer"], "/mapper")

    def test_ids_in_paths(self):
        for at in ("/v1/applications/x", "/v1/applications/x/logs", "/v1/applications/x/explain", "/v1/parts/x", "/v1/parts/x/profile", "/v1/profiles/x"):
            self.call("GET", at, USER, status=400)
        self.call("GET", f"/v1/parts/{fresh_id()}", HOME, status=404)
        self.call("GET", f"/v1/applications/{fresh_id()}", USER, status=404)
        self.call("GET", "/v1/applications?limit=x", USER, status=400)
        self.assertEqual(self.call("GET", "/v1/applications?limit=0", USER, status=200).json["applications"], [])

    def test_zy_a_long_reason_does_not_lock_the_zone_out(self):
        part = self.part(1)
        self.call("POST", "/v1/parts", HOME, part, status=201)
        self.call("DELETE", f"/v1/parts/{part['id']}?reason=" + "x" * 8000, HOME)
        self.assertEqual(self.service.stop(), 0)
        type(self).service = self.start()
        self.call("GET", "/readyz", status=200)

    def test_zz_every_success_was_seen(self):
        self.assert_success_seen()


if __name__ == "__main__":
    suite = {"zone": ZoneContract, "registry": RegistryContract}[KIND]
    arguments = sys.argv[4:] or []
    if arguments and not arguments[0].startswith("-"):
        arguments[0] = f"{suite.__name__}.{arguments[0]}"
    else:
        arguments.append(suite.__name__)
    unittest.main(argv=[sys.argv[0], *arguments])
