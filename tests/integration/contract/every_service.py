"""What holds for both services, whatever they are for."""
import re
import socket

from identities import context
from service import DEADLINE_S, HOME, OPERATOR, USER

METHODS = ("get", "post", "put", "patch", "delete", "options")
CALLERS = {"user": USER, "operator": OPERATOR, "zone": HOME, "node": "spiffe://alpha/node/node-1"}


class EveryService:
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
            found = re.findall(r'router\.add(?:_sync)?\(\s*"([A-Z]+)",\s*"([^"]+)",\s*Action::k(\w+)', (self.source / source).read_text())
            routes |= {(method.lower(), path.replace("...}", "}"), action[0].lower() + action[1:]) for method, path, action in found}
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

    def test_what_has_not_changed_is_not_sent_again(self):
        same = set()
        for method, path, operation in self.contract.operations():
            if "304" not in operation["responses"]:
                self.assertFalse(method == "get" and "application/json" in operation["responses"].get("200", {}).get("content", {}), path)
                continue
            caller = CALLERS.get(operation.get("x-callers", [None])[0])
            target = self.target_of(path, operation)
            first = self.call("GET", target, caller)
            if first.status != 200:
                continue
            self.assertEqual(first.headers["Cache-Control"], "private, no-cache", path)
            tag = first.headers["ETag"]
            for known in (tag, f'"x", W/{tag}', "*"):
                again = self.call("GET", target, caller, headers=[("If-None-Match", known)])
                if again.status == 200:  # a body with the time in it
                    self.assertNotEqual(again.headers["ETag"], tag, path)
                    continue
                same.add(path)
                self.assertEqual((again.status, again.body, again.headers["Content-Length"], again.headers["Content-Type"]), (304, b"", None, None), path)
                self.assertTrue(known == "*" or again.headers["ETag"] == tag)
            lines = self.call("GET", target, caller, headers=[("If-None-Match", '"0"'), ("If-None-Match", tag)])
            self.assertTrue(lines.status == 304 or lines.headers["ETag"] != tag, path)
            self.assertEqual(self.call("GET", target, caller, headers=[("If-None-Match", '"0"')]).status, 200)
            head = self.raw("HEAD", target, caller, headers=[("If-None-Match", "*")])
            self.assertEqual((head.status, head.body), (304, b""), path)
        self.assertTrue({"/livez", "/readyz", "/healthz", "/openapi.json"} <= same, same)
        self.assertEqual(self.call("GET", "/openapi.json", USER, headers=[("If-None-Match", '"unended')]).status, 200)

    def test_a_head_request_gets_no_body(self):
        connection = self.connect()
        try:
            for _ in range(2):  # on one connection: a body would be taken for the next reply
                connection.request("HEAD", "/livez")
                response = connection.getresponse()
                self.assertEqual((response.status, response.read()), (200, b""))
            connection.request("GET", "/livez")
            self.assertEqual(connection.getresponse().status, 200)
        finally:
            connection.close()

    def test_nothing_is_at_other_paths(self):
        for target in ("/", "/v1", "/v1/", "/V1/zones", "/v1/zones/a/b", "/v1/nothing", "/livez/", "//livez", "/v1/applications/x/y"):
            if target in self.contract.document["paths"]:
                continue
            self.assertIn("nothing is at", self.call("GET", target, status=404).json["detail"])

    def test_the_served_document_is_the_file(self):
        self.assertEqual(self.call("GET", "/openapi.json", status=200).body, self.contract.text)

    def test_framing_faults(self):
        self.call("GET", "/livez", body=b"{}", status=400)
        self.call("GET", "/livez?a=1&a=2", status=400)
        self.call("GET", "/livez?a=%ff", status=400)
        self.call("GET", "/livez?a=%00", status=400)
        self.call("GET", "/livez", headers=[("X-Long", "x" * 17_000)], status=431)

    def test_bodies_over_the_limit(self):
        target, caller, limit = self.big_body
        self.call("POST", target, caller, body=b" " * (limit + 1), status=413)
        self.call("POST", target, caller, body=b" " * limit, status=400)
        # Refused by what it announces, before it is sent; of a caller without an identity also what another one may send.
        with context().wrap_socket(socket.create_connection(("127.0.0.1", self.service.port), timeout=DEADLINE_S)) as connection:
            connection.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n" % target.encode())
            self.assertIn(b" 413 ", connection.recv(65536).split(b"\r\n")[0])

    def test_without_an_identity_bodies_are_small_or_not_read_at_all(self):
        for method, path, operation in self.contract.operations():
            if "requestBody" not in operation:
                continue
            # A request for a peering proves itself: who it comes from is not known yet.
            is_open = "anonymous" in operation["x-callers"] or operation["operationId"] == "requestPeering"
            with self.subTest(path), context().wrap_socket(socket.create_connection(("127.0.0.1", self.service.port), timeout=DEADLINE_S)) as connection:
                connection.sendall(f"{method.upper()} {self.target_of(path, operation)} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 300000\r\n\r\n".encode())
                self.assertIn(b" 413 " if is_open else b" 401 ", connection.recv(65536).split(b"\r\n")[0])  # before any of it was sent

    def test_a_body_that_is_no_json_by_its_type_is_refused(self):
        refused = set()
        for method, path, operation in self.contract.operations():
            for example in self.examples(operation):
                if example is None:
                    continue
                for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
                    caller = CALLERS.get(operation.get("x-callers", [None])[0])
                    reply = self.call(method.upper(), self.target_of(path, operation), caller, example, media=media)
                    with self.subTest(f"{path} {media}"):
                        self.assertIn(reply.status, (403, 404, 415))  # who asks for what is judged first
                        if reply.status == 415:
                            self.assertIn("application/json", reply.json["detail"])
                            refused.add(path)
        self.assertTrue({self.big_body[0], "/v1/enrolments"} <= refused, refused)

    def test_pages_of_other_sites_change_nothing(self):
        changing = [(method, path, operation) for method, path, operation in self.contract.operations() if method != "get"]
        for method, path, operation in changing:
            callers = [CALLERS[name] for name in operation.get("x-callers", [None]) if name in ("user", "operator")]
            for site in ("cross-site", "same-site"):
                for caller in callers:
                    with self.subTest(f"{path} {site}"):
                        reply = self.call(method.upper(), self.target_of(path, operation), caller, self.examples(operation)[0], status=403, headers=[("Sec-Fetch-Site", site)])
                        self.assertIn("another site", reply.json["detail"])
        self.assertGreater(len(changing), 2)

    def assert_success_seen(self):
        """Every success that the document promises has been seen in this test run."""
        promised = {(operation["operationId"], int(status)) for _, _, operation in self.contract.operations() for status in operation["responses"] if status < "300"}
        self.assertEqual(promised - self.contract.seen, set())
