from tau_bench.envs.tool import Tool


class TransferToHumanAgents(Tool):
    @staticmethod
    def invoke(data, summary):
        return "Transfer successful"

    @staticmethod
    def get_info():
        return {"type": "function", "function": {
            "name": "transfer_to_human_agents", "description": "Hand over to a person.",
            "parameters": {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]},
        }}
