"""cupel_world.py serves a Python environment as a process world of cupel."""
import json
import sys


class Refusal(Exception):
    """Raise it in call: the model sees code and message, and nothing has changed."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class World:
    """Derive from it. Whatever the methods return must be JSON."""

    # What a call may set: whether it changed the state (None: cupel looks), and why
    # the change does harm.
    changed = None
    harm = None

    def reset(self, state, now, zone, seed):
        """Begin an episode: state is what the suite gives, or None."""

    def tools(self):
        """A list of {"name", "description", "schema"} for `cupel suite tools`."""
        return []

    def call(self, name, arguments, now):
        """Execute one call: by default, the method of that name."""
        method = getattr(self, "tool_" + name, None)
        if method is None:
            raise Refusal("E_NO_TOOL", "there is no tool " + name)
        return method(**arguments)

    def state(self):
        """What checks see. Leave out what never changes. None: nothing can."""
        return None


def answer(world, method, params):
    if method != "call":
        return {"result": getattr(world, method)(**params)}
    world.changed = world.harm = None
    try:
        out = {"result": world.call(**params)}
    except Refusal as refusal:
        return {"error": {"code": refusal.code, "message": str(refusal)}}
    if world.changed is not None:
        out["changed"] = world.changed
    if world.harm:
        out["harm"] = world.harm
    return out


def serve(world):
    out, sys.stdout = sys.stdout, sys.stderr  # prints of the environment are not answers
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] not in ("reset", "tools", "call", "state"):
            raise ValueError("unknown method " + request["method"])
        reply = answer(world, request["method"], request.get("params") or {})
        out.write(json.dumps({"id": request["id"], **reply}) + "\n")
        out.flush()
