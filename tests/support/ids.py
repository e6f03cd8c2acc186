"""Ids as docs/protocol.md describes them."""
import hashlib
import itertools
import secrets
import time

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_random_bits = itertools.count(secrets.randbits(47))  # ids of one process grow


def fresh_id(owner):
    """A new id of `owner`, a name like spiffe://alpha/user/ana."""
    mark = int.from_bytes(hashlib.sha256(owner.encode()).digest()[:4], "big")
    number = time.time_ns() // 1_000_000 << 80 | next(_random_bits) << 32 | mark
    return "".join(LETTERS[number >> shift & 31] for shift in range(125, -1, -5))
