"""tau_world.py serves a domain of tau-bench as a process world of cupel.

    python3 tau_world.py FILES.sha256            serves the world
    python3 tau_world.py FILES.sha256 export     prints its tools and tasks as JSON

FILES.sha256 lists the files of the domain with their digests, as sha256sum writes it. The
domain is a folder of a checkout (tau_bench/envs/airline), whose code is imported without
the rest of tau_bench, or a folder with tasks.jsonl, tools.json and the world of score.py.
"""
import hashlib
import importlib
import json
import os
import sys
import types

from cupel_world import World, serve

NO_CHANGE = ("transfer_to_human_agents", "respond")  # the reference leaves them out of the goal state


def canon(v):
    """The text whose digest is the hash of a state: of tuples, as Python shows them."""
    if isinstance(v, dict):
        parts = [f"({k!r}, {canon(v[k])})" for k in sorted(v)]
    elif isinstance(v, (list, tuple)):
        parts = [canon(x) for x in v]
    else:
        return repr(v)
    return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"


class Checkout:
    """A domain with the code of the benchmark. Its tools change the data in place."""

    def __init__(self, folder):
        self.package = "tau_bench.envs." + os.path.basename(folder)
        for name, path in (("tau_bench", []), ("tau_bench.envs", []), (self.package, [folder])):
            module = sys.modules[name] = types.ModuleType(name)
            module.__path__ = path  # so that its own __init__.py, which needs more packages, does not run
        tool, kinds = types.ModuleType("tau_bench.envs.tool"), types.ModuleType("tau_bench.types")
        tool.Tool = object
        kinds.Task = kinds.Action = lambda **fields: fields
        sys.modules[tool.__name__], sys.modules[kinds.__name__] = tool, kinds
        self.by_name = {t.get_info()["function"]["name"]: t for t in self.load("tools").ALL_TOOLS}
        data = self.load("data").load_data()
        self.base = {kind: {id: json.dumps(record) for id, record in records.items()} for kind, records in data.items()}
        self.texts = {kind: {id: canon(record) for id, record in records.items()} for kind, records in data.items()}

    def load(self, name):
        return importlib.import_module(self.package + "." + name)

    def tools(self):
        return [t.get_info()["function"] for t in self.by_name.values()]

    def tasks(self):
        module = self.load("tasks_test")
        return getattr(module, "TASKS_TEST", None) or module.TASKS

    def reset(self):
        self.data = {kind: {id: json.loads(text) for id, text in records.items()} for kind, records in self.base.items()}

    def call(self, name, arguments):
        if name not in self.by_name:
            return "Unknown action " + name
        try:
            return self.by_name[name].invoke(data=self.data, **arguments)
        except Exception as e:  # as the benchmark does: an error is a result
            return f"Error: {e}"

    def records(self):
        """What differs from the initial data."""
        out = {}
        for kind, records in self.data.items():
            for id, record in records.items():
                text = json.dumps(record)
                if self.base[kind].get(id) != text:
                    out[kind, id] = record
            out.update({(kind, id): None for id in self.base[kind] if id not in records})
        return out

    def hash(self):
        changed, all = self.records(), []
        for kind in sorted(self.data):
            texts = [(id, canon(changed[kind, id]) if (kind, id) in changed else self.texts[kind][id]) for id in sorted(self.data[kind])]
            parts = [f"({id!r}, {text})" for id, text in texts]
            all.append(f"({kind!r}, (" + ", ".join(parts) + ("," if len(parts) == 1 else "") + "))")
        return hashlib.sha256(("(" + ", ".join(all) + ("," if len(all) == 1 else "") + ")").encode()).hexdigest()


class Prepared:
    """A folder with tasks.jsonl, tools.json and a world in score.py."""

    def __init__(self, folder):
        self.folder, path = folder, os.path.join(folder, "score.py")
        sys.argv = [path, folder]  # where it looks for data
        self.score = {"__name__": "score", "__file__": path}
        with open(path, encoding="utf-8") as file:
            program = file.read()
        end = program.rfind("\nmain()")
        exec(compile(program if end < 0 else program[:end], path, "exec"), self.score)  # without its main
        self.base = self.score["load_base"]()

    def tools(self):
        with open(os.path.join(self.folder, "tools.json"), encoding="utf-8") as file:
            return [t["function"] for t in json.load(file)]

    def tasks(self):
        with open(os.path.join(self.folder, "tasks.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]

    def reset(self):
        self.world = self.score["World"](*self.base)

    def call(self, name, arguments):
        return self.score["call"](self.world, name, arguments)

    def records(self):
        return {tuple(at.split("/")): self.world.see(*at.split("/")) for at in self.world.changed()}

    def hash(self):
        return self.world.hash()


class Domain(World):
    def __init__(self, domain):
        self.domain = domain

    def reset(self, state, now, zone, seed):
        self.domain.reset()

    def tools(self):
        return [{"name": t["name"], "description": t["description"], "schema": t["parameters"]} for t in self.domain.tools()]

    def call(self, name, arguments, now):
        return self.domain.call(name, arguments)

    def state(self):
        return {"hash": self.domain.hash(), "records": {"/".join(at): record for at, record in self.domain.records().items()}}


def files(listing):
    """The names of the files, once all of them are as they were listed."""
    here, names = os.path.dirname(os.path.abspath(listing)), []
    with open(listing, encoding="utf-8") as file:
        for line in file:
            digest, name = line.rstrip("\n").split("  ", 1)
            with open(os.path.join(here, name), "rb") as content:
                if hashlib.sha256(content.read()).hexdigest() != digest:
                    raise SystemExit(f"{name} is not the file that {listing} lists; import the benchmark again")
            names.append(os.path.join(here, name))
    return names


def export(domain):
    tasks = []
    for number, task in enumerate(domain.tasks()):
        domain.reset()
        for action in task["actions"]:
            if action["name"] not in NO_CHANGE:
                domain.call(action["name"], json.loads(json.dumps(action["kwargs"])))
        tasks.append({"id": task.get("task_id", number), "user_id": task["user_id"], "instruction": task["instruction"],
                      "actions": task["actions"], "outputs": task.get("outputs", []), "hash": domain.hash()})
    sys.stdout.reconfigure(encoding="utf-8")
    json.dump({"tools": Domain(domain).tools(), "tasks": tasks}, sys.stdout, ensure_ascii=False)


def main():
    listing, verb = os.path.abspath(sys.argv[1]), sys.argv[2:]
    names, folder = files(listing), os.path.splitext(listing)[0]
    domain = Prepared(folder) if os.path.join(folder, "score.py") in names else Checkout(folder)
    if verb == ["export"]:
        export(domain)
    else:
        serve(Domain(domain))


main()
