"""The airline domain of tau-bench: the world of score.py in the folder given, behind cupel_world."""
import json
import os
import sys

from cupel_world import World, serve

score = {"__name__": "score", "__file__": os.path.join(sys.argv[1], "score.py")}
with open(score["__file__"], encoding="utf-8") as file:
    program = file.read()
exec(compile(program[: program.rindex("\nmain()")], "score.py", "exec"), score)  # without its main


class Airline(World):
    def reset(self, state, now, zone, seed):
        self.world = score["World"](*score["load_base"]())

    def tools(self):
        with open(os.path.join(sys.argv[1], "tools.json"), encoding="utf-8") as file:
            declared = [t["function"] for t in json.load(file)]
        return [{"name": t["name"], "description": t["description"], "schema": t["parameters"]} for t in declared]

    def call(self, name, arguments, now):
        before = self.records()
        result = score["call"](self.world, name, arguments)
        self.changed = self.records() != before
        return result

    def records(self):
        return {"/".join(at): json.dumps(record) for at, record in self.world.own.items()}

    def state(self):
        records = {at: self.world.see(*at.split("/")) for at in self.world.changed()}
        return {"hash": self.world.hash(), "records": records}


serve(Airline())
