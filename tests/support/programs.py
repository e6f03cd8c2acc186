"""Programs for tests whose services or jobs belong to other accounts: a checkout may be readable by its owner alone."""
import os
import pathlib
import shutil
import stat
import tempfile


def is_open_to_all(path):
    """Whether every account can reach and run what is at `path`."""
    path = pathlib.Path(path).resolve()
    return all(os.stat(each).st_mode & stat.S_IXOTH for each in (path, *path.parents))


def copy_for_all(programs, folder):
    """Copies of our programs, and of the library that they preload, below `folder`; the new folder of programs."""
    programs, copies = pathlib.Path(programs), pathlib.Path(folder) / "copies"
    for place, pattern in (("bin", "zbs*"), ("lib", "libzbs-profile.so")):
        (copies / place).mkdir(parents=True)
        (copies / place).chmod(0o755)
        for path in (programs.parent / place).glob(pattern):
            if path.is_file():
                shutil.copy(path, copies / place / path.name)
                (copies / place / path.name).chmod(0o755)
    if (programs / "apps").is_dir():
        shutil.copytree(programs / "apps", copies / "bin/apps")
    copies.chmod(0o755)
    return copies / "bin"


def open_to_all(programs):
    """The folder `programs`, or, where other accounts cannot reach it, one with copies that lasts as long as this process."""
    if is_open_to_all(programs):
        return pathlib.Path(programs)
    folder = tempfile.TemporaryDirectory(prefix="zbs-programs-")
    os.chmod(folder.name, 0o755)
    _kept.append(folder)
    return copy_for_all(programs, folder.name)


_kept = []
