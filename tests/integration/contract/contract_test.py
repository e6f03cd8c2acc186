"""The real services against their OpenAPI documents: every documented operation is called, and every reply, good or bad,
must be one that the document describes.

usage: contract_test.py zone|registry PROGRAM SOURCE_DIR [unittest arguments]

The zone runs with stand-ins for the MPI launcher and its proxies (stand_ins.py): what is tested here is what the services
say, not MPI. One zone for all tests: together they have to have seen every success that the document promises.
"""
import pathlib
import sys
import unittest

from every_service import EveryService
from registry_contract import RegistryContract
from zone_bad_input import BadInput
from zone_jobs import Jobs
from zone_trust import Trust
from zone_world import ZoneTest


class ZoneContract(EveryService, Jobs, Trust, BadInput, ZoneTest):
    def test_zz_every_success_was_seen(self):
        self.assert_success_seen()


if __name__ == "__main__":
    suite = {"zone": ZoneContract, "registry": RegistryContract}[sys.argv[1]]
    suite.program, suite.source = sys.argv[2], pathlib.Path(sys.argv[3])
    arguments = sys.argv[4:] or []
    if arguments and not arguments[0].startswith("-"):
        arguments[0] = f"{suite.__name__}.{arguments[0]}"
    else:
        arguments.append(suite.__name__)
    unittest.main(argv=[sys.argv[0], *arguments])
