"""Paths for LD_PRELOAD and for launchers, which split them at blanks and colons."""
import atexit
import os
import re
import shutil
import tempfile


def plain(path):
    """The path itself, or, if it has a blank or colon, the same through a link in a folder that this process removes at its end."""
    if not re.search(r"[\s:]", path):
        return path
    folder = tempfile.mkdtemp(prefix="zbs-plain-")
    atexit.register(shutil.rmtree, folder, True)
    os.chmod(folder, 0o755)
    os.symlink(os.path.dirname(os.path.abspath(path)), folder + "/link")
    return f"{folder}/link/{os.path.basename(path)}"
