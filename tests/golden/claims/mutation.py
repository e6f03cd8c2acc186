"""Negates the inequalities of the claims and lists those that `golden_claims` does not notice.

usage: mutation.py GOLDEN_CLAIMS [--one-at-a-time] [WORD...]

One run of the test for each study (whose name contains a WORD) and place: it negates the inequality at that place of
every claim of the study, as claims are judged apart from each other. With --one-at-a-time a run negates a single one.
"""
import csv
import os
import subprocess
import sys
import tempfile

PROGRAM, OPTIONS = sys.argv[1], sys.argv[2:]
ONE_AT_A_TIME = "--one-at-a-time" in OPTIONS
WORDS = [option for option in OPTIONS if not option.startswith("--")]


def studies():
    """The tests of the studies that are wanted, as filters."""
    listed = subprocess.run([PROGRAM, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    names = [line.split("#")[0].strip() for line in listed.splitlines() if line.startswith("  AreAsCommitted/")]
    return [f"*{name}" for name in names if not WORDS or any(word in name for word in WORDS)]


def noticed(study, negated):
    """The claims whose rows differ when the test negates `negated`, and the number of inequalities of each claim."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, ZBS_NEGATED=negated, TEST_TMPDIR=folder)
        done = subprocess.run([PROGRAM, f"--gtest_filter={study}"], env=environment, capture_output=True, text=True)
        with open(os.path.join(folder, "claims_rows.csv")) as rows:
            counts = {row[0]: len(row[1]) for row in csv.reader(rows)}
    marked = (line.strip() for line in done.stdout.splitlines())
    return {line.split('"')[1].split(",")[0] for line in marked if line.startswith('Which is: "')}, counts


def main():
    total, missed = 0, []
    for study in studies():
        differ, counts = noticed(study, "none:0")
        assert not differ, f"rows differ before anything is negated: {differ}"
        total += sum(counts.values())
        if ONE_AT_A_TIME:
            wanted = [(f"{claim}:{place}", {claim}) for claim, count in counts.items() for place in range(count)]
        else:
            wanted = [(str(place), {claim for claim, count in counts.items() if place < count})
                      for place in range(max(counts.values()))]
        before = len(missed)
        for negated, expected in wanted:
            missed += [f"{negated}: {claim}" for claim in expected ^ noticed(study, negated)[0]]
        print(f"{study}: {len(counts)} claims, {sum(counts.values())} inequalities, {len(missed) - before} not noticed", flush=True)
    print(f"{total} inequalities negated, {len(missed)} not noticed", *missed, sep="\n")
    sys.exit(1 if missed or not total else 0)


if __name__ == "__main__":
    main()
