import json

from tau_bench.envs.tool import Tool


class GetOrder(Tool):
    @staticmethod
    def invoke(data, order_id):
        return json.dumps(data["orders"][order_id])

    @staticmethod
    def get_info():
        return {"type": "function", "function": {
            "name": "get_order", "description": "Get an order.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        }}
