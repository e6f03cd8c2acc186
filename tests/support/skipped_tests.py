#!/usr/bin/env python3
"""Prints the tests that the last run of ctest skipped, and fails on one that the list does not allow.

skipped_tests.py BUILD_FOLDER LIST. A line of the list has a regular expression of tests of ctest, a part and the reason.
The part is a regular expression of GoogleTest's names, the largest number of skipped Python methods, or `all`."""
import pathlib
import re
import sys


def read_list(path):
    allowed = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or not all(fields):
            sys.exit(f"{path}:{number}: three fields are wanted: test, part, reason")
        allowed.append((fields[0], fields[1]))
    return allowed


def find_skips(log, junit):
    """(test, part) of each skip; the part is a GoogleTest name, a number of Python methods, or `all`."""
    # No parser of XML: outputs of tests may hold characters that XML forbids.
    for test in re.findall(r'<testcase name="([^"]+)"[^>]* status="notrun"', junit):
        yield test, "all"
    # What a process of a test says after the end of that may stand before such a heading, on its line.
    for section in re.split(r"\d+/\d+ Testing: ", log)[1:]:
        test = section.split("\n", 1)[0].strip()
        for name in sorted(set(re.findall(r"^\[  SKIPPED \] ([\w/.]+)(?: \(|$)", section, re.MULTILINE))):
            yield test, name
        for count in re.findall(r"^(?:OK|FAILED) \((?:.*, )?skipped=(\d+)", section, re.MULTILINE):
            yield test, int(count)


def is_allowed(test, part, allowed):
    entries = [entry for tests, entry in allowed if re.fullmatch(tests, test)]
    if isinstance(part, int):
        return any(entry == "all" or entry.isdigit() and part <= int(entry) for entry in entries)
    return any(re.fullmatch(entry, part) for entry in entries)


def main(build, path):
    allowed = read_list(pathlib.Path(path))
    folder = pathlib.Path(build) / "Testing"
    skips = list(find_skips((folder / "Temporary/LastTest.log").read_text(errors="replace"), (folder / "junit.xml").read_text(errors="replace")))
    unknown = [(test, part) for test, part in skips if not is_allowed(test, part, allowed)]
    print(f"skipped tests: {len(skips)}, of which {len(unknown)} are not in {path}")
    for test, part in skips:
        print(f"  {test}: {f'{part} methods' if isinstance(part, int) else part}{'   NOT ALLOWED' if (test, part) in unknown else ''}")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
