"""Every file in schemas/examples against its JSON schema: valid ones pass; invalid ones are refused by the schema, or stand
in the list below of faults that a schema cannot express and the services' codec finds (tests/unit/codec reads the same files).

usage: schema_examples_test.py SOURCE_DIR
"""
import json
import pathlib
import sys
import unittest

import jsonschema

SOURCE = pathlib.Path(sys.argv.pop(1))
KINDS = ("model", "resources", "mapping", "tree-mapping")

# What relates two places of a document, or is lost before a schema sees it.
BEYOND_A_SCHEMA = {
    "model.compute_too_short": "as many as `ranks`",
    "model.compute_too_long": "as many as `ranks`",
    "model.edge_to_missing_rank": "below `ranks`",
    "model.edge_to_itself": "u < v",
    "model.edge_downwards": "u < v",
    "model.edge_twice": "pairs are unique, whatever their weights",
    "model.ranks_is_float": "4.0 is an integer to a schema",
    "resources.two_zones_of_one_name": "names are unique",
    "resources.two_machines_of_one_name": "names are unique in a zone",
    "resources.too_many_processors_in_all": "a sum",
    "resources.link_to_unknown_zone": "names a zone of the same document",
    "resources.link_to_itself": "a and b differ",
    "resources.link_twice": "pairs are unique in either order",
    "mapping.tasks_out_of_order": "task i stands at place i",
    "mapping.task_missing": "task i stands at place i",
    "mapping.task_twice": "task i stands at place i",
    "mapping.unknown_zone": "names a zone of the resources",
    "mapping.unknown_machine": "names a machine of the resources",
    "mapping.machine_of_another_zone": "names a machine of that zone",
    "mapping.processor_past_the_last": "below the machine's processors",
    "tree-mapping.task_missing": "task i stands at place i",
    "tree-mapping.task_twice": "task i stands at place i",
    "tree-mapping.processor_past_the_last": "below `processors`",
    "tree-mapping.of_another_hierarchy": "as many as the reader's hierarchy has",
}


class NotJson(Exception):
    pass


def read(path):
    """The document, read as strictly as Python can read it."""
    def pairs(items):
        if len({key for key, _ in items}) != len(items):
            raise NotJson("duplicate key")
        return dict(items)

    def constant(word):
        raise NotJson(word)

    try:
        return json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        raise NotJson(str(fault)) from fault


class SchemaExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.validators = {}
        for kind in KINDS:
            schema = json.loads((SOURCE / f"schemas/json/{kind}.schema.json").read_text())
            jsonschema.Draft202012Validator.check_schema(schema)
            cls.validators[kind] = jsonschema.Draft202012Validator(schema)

    def files(self, folder):
        found = sorted((SOURCE / "schemas/examples" / folder).iterdir())
        self.assertEqual({path.name.split(".")[0] for path in found}, set(KINDS))
        return found

    def test_every_object_is_closed(self):
        def walk(schema, at):
            if isinstance(schema, dict):
                if schema.get("type") == "object":
                    # A map has no fields of its own; its names and values are bounded instead.
                    is_map = "properties" not in schema and {"propertyNames", "maxProperties"} <= schema.keys()
                    self.assertTrue(is_map and "type" in schema["additionalProperties"] or schema.get("additionalProperties") is False, at)
                for key, value in schema.items():
                    walk(value, f"{at}/{key}")
            elif isinstance(schema, list):
                for i, value in enumerate(schema):
                    walk(value, f"{at}/{i}")
        for kind in KINDS:
            walk(self.validators[kind].schema, kind)

    def test_valid_files_pass(self):
        for path in self.files("valid"):
            with self.subTest(path.name):
                errors = list(self.validators[path.name.split(".")[0]].iter_errors(read(path)))
                self.assertEqual(errors, [])

    def test_invalid_files_are_refused_or_listed(self):
        passed_schema = set()
        for path in self.files("invalid"):
            try:
                if self.validators[path.name.split(".")[0]].is_valid(read(path)):
                    passed_schema.add(path.name.removesuffix(".json"))
            except NotJson:
                pass
        self.assertEqual(passed_schema, set(BEYOND_A_SCHEMA))


if __name__ == "__main__":
    unittest.main()
