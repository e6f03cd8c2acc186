"""What a section of README.md tells its reader to write into files and to run."""
import re
import shlex

PROGRAMS = ("zbs", "zbs-zone", "zbs-registry")


def section(text, title):
    """From the heading to the next one of its rank."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no section '{title}'"
    return found.group(1)


def blocks(text):
    return re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(block):
    """Words of each line; what follows a # is for people."""
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return [words for words in lines if words]


def mentioned(text):
    """Words of the commands within the prose."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [shlex.split(span) for span in re.findall(r"`([^`]+)`", prose)]
    return [words for words in spans if len(words) > 1 and words[0] in PROGRAMS]
