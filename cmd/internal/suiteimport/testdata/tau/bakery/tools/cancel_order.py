import json

from tau_bench.envs.tool import Tool


class CancelOrder(Tool):
    @staticmethod
    def invoke(data, order_id):
        order = data["orders"][order_id]
        if order["status"] != "pending":
            return "Error: only pending orders can be cancelled"
        order["status"] = "cancelled"
        return json.dumps(order)

    @staticmethod
    def get_info():
        return {"type": "function", "function": {
            "name": "cancel_order", "description": "Cancel a pending order.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string", "description": "Such as '#B1'."}}, "required": ["order_id"]},
        }}
