import json
import os


def load_data():
    data = {}
    for kind in ("orders", "users"):
        with open(os.path.join(os.path.dirname(__file__), kind + ".json")) as file:
            data[kind] = json.load(file)
    return data
