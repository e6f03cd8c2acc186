"""The registry, as callers see it who are not enrolled; what enrolled zones may is in tls_contract_test.py."""
from every_service import EveryService
from identities import run
from service import OPERATOR, Service, ServiceTest


class RegistryContract(EveryService, ServiceTest):
    documented = "registry"
    sources = ("services/registry/http/registry_routes.cpp", "services/common/http/router.cpp")
    big_body = ("/v1/enrolments", None, 256 * 1024)

    @classmethod
    def start(cls):
        cls.cas = {"alpha": cls.folder / "state/identity"}
        if not (cls.folder / "state").exists():
            run(cls.program, "init", "--state", cls.folder / "state", "--organisation", "alpha")
        return Service([cls.program, "run", "--state", str(cls.folder / "state")], cls.folder / "log")

    def test_every_documented_operation_is_served(self):
        # Of zones that are not enrolled here only the refusal is seen.
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
        for query in ("interface=0", "interface=x", "interface=1x", "interface=99999999999", "colour=red", "limit=0", "limit=1001", "limit=x", "after=A", "leases=1"):
            self.call("GET", "/v1/zones?" + query, OPERATOR, status=400)
