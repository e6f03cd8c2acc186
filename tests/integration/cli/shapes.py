"""What documents for programs are compared by: tests/golden/cli."""
import json


def shape(value):
    """Types instead of values; of a list the shapes of its items, each once."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(shape(inner), sort_keys=True) for inner in value}) and [
            json.loads(one) for one in sorted({json.dumps(shape(inner), sort_keys=True) for inner in value})]
    return {bool: "boolean", int: "integer", float: "number", str: "text", type(None): "null"}[type(value)]


def members(item, before=""):
    """The places of an object: "error", "error.mean"."""
    for key, value in item.items():
        yield before + key
        if isinstance(value, dict):
            yield from members(value, before + key + ".")


def keys_in_json(titles, refusal, document, noun=None):
    """Of each column with these titles whether an item of the list `noun` (else the first) in `document` tells it, by its key or by the member that stands behind the key in `refusal`, what is said of a column that is none."""
    keys = ["".join(c.lower() if c.isalnum() else "_" for c in title.replace("%", "percent")) for title in titles]
    known = refusal.partition("known are ")[2].strip().split(", ")
    names = {key: {key, *(one for one in known[known.index(key) + 1:known.index(key) + 2] if one not in keys)} for key in keys}
    rows = document[noun] if noun else next(value for value in document.values() if isinstance(value, list))
    reported = {place for item in rows for place in members(item)}
    return {key: bool(reported & names[key]) for key in keys}
