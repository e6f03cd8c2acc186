"""A service under test, its OpenAPI document, and a client whose every reply is held against that document."""
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "schemas")]
from bundle import bundle, bundle_text  # noqa: E402, F401 (also for those who import this)
from identities import Organisations, context  # noqa: E402
from ids import fresh_id  # noqa: E402, F401 (for those who import this)

DEADLINE_S = 20
USER = "spiffe://alpha/user/ana"
OPERATOR = "spiffe://alpha/operator/root"
HOME = "spiffe://alpha/zone/alpha-two"
STRANGER_USER = "spiffe://gamma/user/eve"
STRANGER_ZONE = "spiffe://gamma/zone/gamma-one"

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
    """The OpenAPI document of a service (zone, registry, node), and which of its replies have been seen."""

    def __init__(self, service):
        self.text = bundle_text(service).encode()
        self.document = json.loads(self.text)
        self.seen = set()
        self.validators = {}

    def operations(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method, path, operation

    def validator(self, schema):
        """Of a schema of this document; made once, since looking through all of its components takes long."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": self.document["components"], "allOf": [schema]}
            jsonschema.Draft202012Validator.check_schema(whole)
            self.validators[key] = jsonschema.Draft202012Validator(whole)
        return self.validators[key]

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
        if "content" not in response:
            assert reply.body == b"", f"{what}: a body where none is documented"
            self.check_headers(response, reply, what)
            return
        media = reply.headers.get("Content-Type")
        assert media in response["content"], f"{what}: content type {media} is not documented"
        if media.endswith("json"):
            errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in self.validator(response["content"][media]["schema"]).iter_errors(reply.json)]
            assert not errors, f"{what}: {errors}"
        self.check_headers(response, reply, what)
        if reply.status >= 400:
            self.check_problem(reply, what)

    def check_headers(self, response, reply, what):
        for name, header in response.get("headers", {}).items():
            if "$ref" in header:
                header = self.document["components"]["headers"][header["$ref"].rsplit("/", 1)[1]]
            value = reply.headers.get(name)
            if value is None and header.get("required") is False:
                continue
            assert value is not None, f"{what}: header {name} is missing"
            assert self.validator(header["schema"]).is_valid(value), f"{what}: {name}: {value}"

    def check_problem(self, reply, what):
        assert reply.headers.get("Content-Type") == "application/problem+json", what
        errors = [e.message for e in self.validator({"$ref": "#/components/schemas/Problem"}).iter_errors(reply.json)]
        assert not errors, f"{what}: {errors}"
        assert reply.json["status"] == reply.status, f"{what}: the body tells another status"


_contracts = {}


def checked(kind, method, target, status, headers, body):
    """The body of a whole reply of a service of this kind (zone, registry, node), which must be as its contract says."""
    contract = _contracts.get(kind) or _contracts.setdefault(kind, Contract(kind))
    contract.check(method, target, Reply(status, headers, body))
    return body


class ServiceTest(unittest.TestCase):
    """One service for all tests of a class; `call` checks every reply against the contract."""
    program = source = None  # set before the tests run: the program, the root of the repository
    documented = None        # whose document: zone or registry
    sources = ()             # where its routes are
    big_body = None          # target and caller of a call with a body, and its limit

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-contract-"))
        cls.service = None
        cls.addClassCleanup(cls.end)
        cls.contract = Contract(cls.documented)
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

    def raw(self, method, target, caller=None, body=None, headers=(), media="application/json"):
        connection = self.connect(caller)
        try:
            connection.putrequest(method, target)
            for name, value in headers:
                connection.putheader(name, value)
            if body is not None:
                if media is not None:
                    connection.putheader("Content-Type", media)
                connection.putheader("Content-Length", str(len(body)))
            try:
                connection.endheaders(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all was sent; the reply is there all the same
            response = connection.getresponse()
            # A stream of events has no end: what comes first is enough here.
            endless = response.headers.get("Content-Type") == "text/event-stream"
            return Reply(response.status, response.headers, response.read1(65536) if endless else response.read())
        finally:
            connection.close()

    def call(self, method, target, caller=None, json_body=None, body=None, status=None, headers=(), **how):
        if json_body is not None:
            body = json.dumps(json_body).encode()
        reply = self.raw(method, target, caller, body, headers, **how)
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
