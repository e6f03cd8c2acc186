#!/usr/bin/env python3
"""Merges the OpenAPI document of a service from its files: bundle.py SERVICE [OUT]     (SERVICE: zone, registry, node)

The files are openapi/common.json and openapi/SERVICE/*.json. Paths and components are sorted by name, so that the
document does not depend on the file that holds them. A component of common.json that the service does not use is left
out. The standard library of Python 3.9 suffices.
"""
import json
import pathlib
import sys

OPENAPI = pathlib.Path(__file__).resolve().parent / "openapi"


class BundleError(Exception):
    """The files make no document. The message names the file at fault."""


def read(file):
    def unique(pairs):
        names = [name for name, _ in pairs]
        if twice := sorted(name for name in set(names) if names.count(name) > 1):
            raise BundleError(f"{file}: {twice[0]} is there twice")
        return dict(pairs)

    try:
        return json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=unique)
    except ValueError as error:
        raise BundleError(f"{file}: {error}") from error


def references(value):
    """Pointers to the components that `value` uses, by $ref or as security schemes."""
    if isinstance(value, list):
        for each in value:
            yield from references(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref":
                yield each
            elif key == "security":
                yield from (f"#/components/securitySchemes/{name}" for requirement in each for name in requirement)
            else:
                yield from references(each)


def bundle(service, folder=OPENAPI):
    """The document of `service`, from the files of `folder`. Raises BundleError."""
    common = folder / "common.json"
    files = sorted((folder / service).glob("*.json"))
    if not files:
        raise BundleError(f"{folder / service}: no files")

    defined = {}  # pointer -> section, name, file, value; the section is a path of keys in the document
    for file in (common, *files):
        content = read(file)
        paths, components = content.pop("paths", {}), content.pop("components", {})
        for section, named in ((), content), (("paths",), paths), *((("components", kind), components[kind]) for kind in components):
            for name, value in named.items():
                pointer = "/".join(("#", *section, name))
                if pointer in defined:
                    raise BundleError(f"{file}: {pointer} is defined in {defined[pointer][2]}, too")
                defined[pointer] = section, name, file, value

    used = {pointer for pointer in defined if not pointer.startswith("#/components/")}
    waiting = sorted(used)
    while waiting:
        _, _, file, value = defined[waiting.pop()]
        for pointer in references(value):
            if pointer not in defined:
                raise BundleError(f"{file}: nothing defines {pointer}")
            if pointer not in used:
                used.add(pointer)
                waiting.append(pointer)

    document = {name: value for section, name, _, value in defined.values() if not section}
    document.update(paths={}, components={})
    for pointer, (section, name, file, value) in sorted(defined.items()):
        if pointer in used:
            place = document
            for key in section:
                place = place.setdefault(key, {})
            place[name] = value
        elif file != common:
            raise BundleError(f"{file}: nothing uses {pointer}")
    return document


def bundle_text(service):
    """The bytes that the service gives as /openapi.json, as text."""
    return json.dumps(bundle(service), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        text = bundle_text(sys.argv[1])
    except BundleError as error:
        sys.exit(f"bundle.py: {error}")
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.buffer.write(text.encode())
