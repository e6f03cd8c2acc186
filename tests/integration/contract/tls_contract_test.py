"""Registry and zone over TLS, with the identities that the programs make: who may what, as the contracts and the table of
authorisation say; and an edge that is as strict over TLS as without.

usage: tls_contract_test.py ZBS_REGISTRY ZBS_ZONE SOURCE_DIR [unittest arguments]

The matrix is generated: every operation of both documents x every caller of tests/unit/site_policy/authorisation.tsv. A call
that is allowed gets an empty body: the gate is before the body, so a 400 means that it was let in. Allowed is what authorisation
does not refuse; that there is no such thing is then the handler's word, and another one than authorisation's.
"""
import csv
import http.client
import json
import pathlib
import re
import shutil
import socket
import ssl
import sys
import tempfile
import unittest

from identities import Identity, context, own, run
from service import bundle, fresh_id
from world import DEADLINE_S, World

REGISTRY, ZONE, SOURCE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
CORPUS = [  # framing that two readers could take differently
    b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd",
    b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd",
    b"POST /v1/enrolments HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    *(b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + codings + b"\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
      for codings in (b"xchunked", b"identity", b"gzip", b"gzip, chunked", b"chunked, identity", b"chunked\r\nTransfer-Encoding: identity")),
    b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /livez HTTP/1.1\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nHost : a\r\n\r\n",
    b"GET http://a/livez HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /livez HTTP/2.0\r\nHost: a\r\n\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /livez?a=1&a=2 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\x16\x03\x01\x02garbage\r\n\r\n",
]


class TlsContract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-tls-contract-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.world = World(cls.folder, REGISTRY, ZONE)
        cls.addClassCleanup(cls.world.stop)
        cls.world.begin()
        cls.documents = {name: bundle(name) for name in ("zone", "registry")}
        rows = [line for line in (SOURCE / "tests/unit/site_policy/authorisation.tsv").read_text().splitlines() if not line.startswith("#")]
        cls.nothing_of_yours = cls.call(cls, "zone", "GET", "/v1/applications/" + "0" * 26, cls.world.issue("alpha", "user", "ana"))[1]["detail"]
        cls.table = {row["action"]: row for row in csv.DictReader(rows, delimiter="\t")}

    def call(self, service, method, target, identity=None, body=None, newest=ssl.TLSVersion.TLSv1_3, headers=()):
        connection = http.client.HTTPSConnection("127.0.0.1", self.world.ports[service], timeout=DEADLINE_S, context=context(identity, newest))
        try:
            connection.request(method, target, body, {"Content-Type": "application/json", **dict(headers)} if body else dict(headers))
            response = connection.getresponse()
            if "json" not in response.headers.get("Content-Type", ""):  # figures, pages, and events, which have no end
                return response.status, {}, response.headers
            return response.status, json.loads(response.read()), response.headers
        finally:
            connection.close()

    def connect(self, service, **options):
        raw = socket.create_connection(("127.0.0.1", self.world.ports[service]), timeout=DEADLINE_S)
        try:
            return context(**options).wrap_socket(raw)
        except BaseException:
            raw.close()
            raise

    def verdict(self, status, reply):
        """The answer of the authorisation. Callers with rights receive a 404, too, for an object that does not exist."""
        if status == 404 and reply["detail"] != self.nothing_of_yours:
            return "A"
        return {401: "U", 403: "D", 404: "N"}.get(status, "A")

    def test_who_may_what(self):
        compared = 0
        for service, document in self.documents.items():
            callers = self.world.callers(service)
            for path, methods in document["paths"].items():
                for method, operation in methods.items():
                    target = path
                    for parameter in operation.get("parameters", ()):
                        if parameter["in"] == "path":
                            example = "nobody" if parameter["name"] in ("name", "zone") else parameter["example"]
                            target = target.replace("{" + parameter["name"] + "}", str(example))
                    body = "{}" if "requestBody" in operation else None
                    for caller, identity in callers.items():
                        # A proxy of a caller that may have none is refused: over TLS the caller is anonymous, and the answer has the reason.
                        column = "anonymous" if caller in ("operator_proxy", "zone_proxy") else caller
                        expected = self.table[operation["operationId"]][column]
                        status, reply, _ = self.call(service, method.upper(), target, identity, body)
                        with self.subTest(f"{service} {operation['operationId']} by {caller}"):
                            if len(expected) == 3 and operation["operationId"] != "publishZone":  # an object that nobody has
                                self.assertEqual(status, 404, reply)
                            else:
                                self.assertEqual(self.verdict(status, reply), expected[0], f"{status} {reply}")
                            self.assertIn(str(status), operation["responses"])
                            compared += 1
        self.assertGreater(compared, 400)

    def test_delegations_are_their_owners_only(self):
        ana, bob = self.world.issue("alpha", "user", "ana"), self.world.issue("alpha", "user", "bob")
        ids = {name: fresh_id(f"spiffe://alpha/user/{name}") for name in ("ana", "bob")}
        for name, who in (("ana", ana), ("bob", bob)):
            status, made, headers = self.call("zone", "POST", "/v1/delegations", who, json.dumps({"id": ids[name]}))
            self.assertEqual((status, made["owner"], made["signed"]), (201, f"spiffe://alpha/user/{name}", False))
            self.assertNotIn("key", made)
        for name, who, expected in (("ana", ana, 200), ("bob", ana, 404), ("ana", bob, 404)):
            self.assertEqual(self.call("zone", "GET", f"/v1/delegations/{ids[name]}", who)[0], expected)
        self.assertEqual(self.call("zone", "DELETE", f"/v1/delegations/{ids['ana']}", bob)[0], 404)
        self.assertEqual(self.call("zone", "DELETE", f"/v1/delegations/{ids['ana']}", ana)[0], 200)
        self.assertEqual(self.call("zone", "GET", f"/v1/delegations/{ids['ana']}", ana)[0], 404)

    def test_a_zone_changes_its_own_entry_only(self):
        alpha, other = own(self.world.cas["alpha"]), self.world.issue("alpha", "zone", "alpha-two")
        self.assertEqual(self.call("registry", "PUT", "/v1/zones/alpha-one", alpha)[0], 200)
        self.assertEqual(self.call("registry", "PUT", "/v1/zones/alpha-one", other)[0], 403)
        self.assertEqual(self.call("registry", "DELETE", "/v1/zones/alpha-one", other)[0], 403)
        status, listed, _ = self.call("registry", "GET", "/v1/zones?category=mpi", alpha)
        self.assertEqual([json.loads(entry["text"])["name"] for entry in listed["zones"]], ["alpha-one"])

    def test_a_user_joins_by_a_code_and_is_revoked(self):
        made = run(ZONE, "user", "add", "carla", "--config", self.folder / "zone.toml")
        code = re.search(r"zbs-login-1\+\S+", made).group().split("+")[2]
        key, request = self.folder / "carla.key", self.folder / "carla.csr"
        run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=whatever")
        offer = json.dumps({"name": "carla", "code": code, "request": request.read_text()})
        status, answer, headers = self.call("zone", "POST", "/v1/enrolments", None, offer)
        self.assertEqual((status, answer["user"]), (201, "spiffe://alpha/user/carla"))
        self.assertTrue(headers["Zbs-Request-Id"])
        chain = self.folder / "carla.pem"
        chain.write_text(answer["certificate"])
        carla = Identity(key, chain)
        self.assertEqual(self.call("zone", "GET", "/v1/whoami", carla)[1]["name"], "spiffe://alpha/user/carla")
        self.assertEqual(self.call("zone", "POST", "/v1/enrolments", None, json.dumps({"name": "carla", "code": "a" * 26, "request": request.read_text()}))[0], 403)
        run(ZONE, "user", "revoke", "carla", "--config", self.folder / "zone.toml")
        status, refused, _ = self.call("zone", "GET", "/v1/whoami", carla)
        self.assertEqual(status, 401)
        self.assertIn("revoked", refused["detail"])

    def test_framing_is_as_strict_as_without_tls(self):
        for service in self.world.ports:
            for request in CORPUS:
                with self.subTest(f"{service} {request!r}"), self.connect(service) as connection:
                    connection.sendall(request + b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
                    answer = b""
                    try:
                        while piece := connection.recv(65536):
                            answer += piece
                    except (ConnectionResetError, ssl.SSLEOFError):
                        pass
                    self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer[:100])
                    self.assertEqual(answer.count(b"HTTP/1.1 "), 1, "nothing behind it is read")

    def test_headers_give_nobody_a_name(self):
        status, reply, _ = self.call("zone", "GET", "/v1/users", None, headers={"Zbs-Identity": "spiffe://alpha/operator/operator", "Zbs-Token": "x"})
        self.assertEqual(status, 401, reply)

    def test_old_protocols_and_other_languages_are_refused(self):
        for service in self.world.ports:
            old = context(newest=ssl.TLSVersion.TLSv1_1)
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.set_ciphers("ALL:@SECLEVEL=0")
            with socket.create_connection(("127.0.0.1", self.world.ports[service]), timeout=DEADLINE_S) as raw, self.assertRaises((ssl.SSLError, ConnectionResetError)):
                old.wrap_socket(raw)
            with self.assertRaises((ssl.SSLError, ConnectionResetError)):
                self.connect(service, protocols=["h2"])
            with self.connect(service, protocols=["h2", "http/1.1"]) as connection:
                self.assertEqual(connection.selected_alpn_protocol(), "http/1.1")
            with socket.create_connection(("127.0.0.1", self.world.ports[service]), timeout=DEADLINE_S) as raw:
                raw.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertNotIn(b"200", raw.recv(65536))

    def test_users_may_speak_tls_1_2_but_services_may_not(self):
        self.assertEqual(self.call("zone", "GET", "/v1/whoami", self.world.issue("alpha", "user", "ana"), newest=ssl.TLSVersion.TLSv1_2)[0], 200)
        status, refused, _ = self.call("zone", "GET", "/v1/whoami", own(self.world.cas["alpha"]), newest=ssl.TLSVersion.TLSv1_2)
        self.assertEqual(status, 401)
        self.assertIn("TLS 1.3", refused["detail"])

    def test_no_session_is_resumed(self):
        for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.connect("zone", newest=newest) as connection:
                connection.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
                connection.recv(65536)
                self.assertFalse(connection.session is not None and connection.session.has_ticket)

    def test_a_certificate_of_nobody_known_is_told_why(self):
        key, leaf = self.folder / "x.key", self.folder / "x.pem"
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", leaf, "-days", "1", "-subj", "/CN=x",
            "-addext", "subjectAltName=URI:spiffe://alpha/operator/operator")
        status, refused, _ = self.call("zone", "GET", "/v1/users", Identity(key, leaf))
        self.assertEqual(status, 401)
        self.assertGreater(len(refused["detail"]), 20)

    def test_stalled_clients_are_cut(self):
        silent = socket.create_connection(("127.0.0.1", self.world.ports["zone"]), timeout=DEADLINE_S)
        slow = self.connect("zone")
        self.addCleanup(silent.close)
        self.addCleanup(slow.close)
        slow.sendall(b"GET /livez HT")
        self.assertEqual(self.call("zone", "GET", "/livez")[0], 200, "others are served meanwhile")
        for connection in (silent, slow):
            try:
                self.assertEqual(connection.recv(1), b"")
            except (ConnectionResetError, ssl.SSLEOFError):
                pass


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:], verbosity=1)
