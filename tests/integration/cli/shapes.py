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
