"""The files of OpenAPI documents are merged, or refused with the name of the file at fault: bundle_test.py SOURCE_DIR"""
import json
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "schemas"))
from bundle import OPENAPI, BundleError, bundle, read, references  # noqa: E402


def schema_of(name):
    return {"$ref": f"#/components/schemas/{name}"}


class Bundle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zbs-bundle-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "zone").mkdir()
        self.files = {
            "common.json": {"components": {"securitySchemes": {"tls": {"type": "mutualTLS"}, "token": {"type": "http"}},
                                           "schemas": {"Problem": {"type": "object"}, "Name": {"type": "string"}}}},
            "zone/service.json": {"openapi": "3.1.0", "info": {"title": "zone"}},
            "zone/jobs.json": {"paths": {"/jobs": {"get": {"security": [{"tls": []}], "schema": schema_of("Job")}}},
                               "components": {"schemas": {"Job": {"properties": {"parts": schema_of("Part")}}}}},
            "zone/parts.json": {"paths": {"/": {"get": {"schema": schema_of("Problem")}}},
                                "components": {"schemas": {"Part": {"properties": {"of": schema_of("Job")}}}}}}

    def bundle(self):
        for name, content in self.files.items():
            (self.folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return bundle("zone", self.folder)

    def assert_refused(self, *parts):
        with self.assertRaises(BundleError) as refused:
            self.bundle()
        for part in parts:
            self.assertIn(part, str(refused.exception))

    def test_files_become_one_document_without_what_the_service_does_not_use(self):
        self.assertEqual(self.bundle(), {
            "openapi": "3.1.0", "info": {"title": "zone"},
            "paths": {**self.files["zone/jobs.json"]["paths"], **self.files["zone/parts.json"]["paths"]},
            "components": {"securitySchemes": {"tls": {"type": "mutualTLS"}},
                           "schemas": {"Problem": {"type": "object"}, **self.files["zone/jobs.json"]["components"]["schemas"],
                                       **self.files["zone/parts.json"]["components"]["schemas"]}}})

    def test_the_document_does_not_depend_on_the_files_that_hold_its_definitions(self):
        before = json.dumps(self.bundle())
        for section in ("paths", "components"):
            self.files["zone/jobs.json"][section], self.files["zone/parts.json"][section] = (
                self.files["zone/parts.json"][section], self.files["zone/jobs.json"][section])
        self.assertEqual(json.dumps(self.bundle()), before)

    def test_a_name_that_two_files_define_is_refused(self):
        self.files["zone/parts.json"]["components"]["schemas"]["Name"] = {"type": "string"}
        self.assert_refused("zone/parts.json: #/components/schemas/Name is defined in", "common.json")

    def test_a_path_that_two_files_define_is_refused(self):
        self.files["zone/parts.json"]["paths"]["/jobs"] = {}
        self.assert_refused("zone/parts.json: #/paths//jobs is defined in", "zone/jobs.json")

    def test_a_name_that_one_file_defines_twice_is_refused(self):
        self.files["zone/parts.json"] = '{"paths": {"/parts": {}, "/parts": {}}}'
        self.assert_refused("zone/parts.json: /parts is there twice")

    def test_a_reference_that_leads_nowhere_is_refused(self):
        del self.files["zone/parts.json"]["components"]
        self.assert_refused("zone/jobs.json: nothing defines #/components/schemas/Part")

    def test_a_security_scheme_that_is_not_there_is_refused(self):
        del self.files["common.json"]["components"]["securitySchemes"]
        self.assert_refused("zone/jobs.json: nothing defines #/components/securitySchemes/tls")

    def test_a_component_that_no_path_uses_is_refused(self):
        del self.files["zone/jobs.json"]["paths"]  # Job and Part use each other only
        self.assert_refused("zone/jobs.json: nothing uses #/components/schemas/Job")

    def test_what_is_not_json_is_refused(self):
        self.files["zone/parts.json"] = "{"
        self.assert_refused("zone/parts.json: Expecting property name")

    def test_a_service_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(BundleError, "nobody: no files"):
            bundle("nobody", self.folder)


class Files(unittest.TestCase):
    def test_common_components_are_used_by_two_services_and_refer_to_each_other_only(self):
        documents = [bundle(folder.name) for folder in OPENAPI.iterdir() if folder.is_dir()]
        self.assertEqual(len(documents), 3)
        common = read(OPENAPI / "common.json")["components"]
        pointers = {f"#/components/{kind}/{name}" for kind, named in common.items() for name in named}
        self.assertLessEqual(set(references(common)), pointers)
        for kind, named in common.items():
            for name in named:
                self.assertGreaterEqual(sum(name in document["components"][kind] for document in documents), 2, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
