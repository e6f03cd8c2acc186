"""How the installed programs are linked: position-independent, read-only after relocation, no executable stack, stack protector, checked copies.

usage: hardening_test.py BIN
"""
import pathlib
import subprocess
import sys
import unittest

PROGRAMS = ("zbs", "zbs-zone", "zbs-registry", "zbs-step")


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options], capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def test_every_program_is_hardened(self):
        for name in PROGRAMS:
            with self.subTest(program=name):
                path = BIN / name
                self.assertIn("DYN (Position-Independent", readelf("-h", path))
                segments = readelf("-l", path)
                self.assertIn("GNU_RELRO", segments)
                stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
                self.assertNotIn("RWE", stack)
                self.assertIn("NOW", readelf("-d", path))
                names = readelf("--dyn-syms", path)
                self.assertIn("__stack_chk_fail", names)
                self.assertRegex(names, r"__\w+_chk@")  # of _FORTIFY_SOURCE

    def test_the_program_beside_each_step_loads_no_cryptography(self):
        self.assertNotIn("libcrypto", readelf("-d", BIN / "zbs-step"))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=2)
