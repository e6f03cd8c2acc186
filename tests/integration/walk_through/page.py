"""What docs/federation.md gives its reader to write into files and to run."""
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))

import pages  # noqa: E402

PROGRAMS = ("zbs", "zbs-zone", "zbs-registry")


def words_of(line):
    """Words of a command; what follows a # is for people."""
    return shlex.split(line, comments=True)


def read(text):
    """The configuration file and the commands, each as words."""
    steps = pages.steps(text)
    (configuration,) = [step for step in steps if isinstance(step, pages.File)]
    return configuration.text, [words_of(line) for step in steps if isinstance(step, pages.Elsewhere) for line in step.commands]
