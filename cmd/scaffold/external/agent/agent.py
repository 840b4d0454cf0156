"""A small agent with nothing but Python's standard library: an OpenAI-compatible model, and
tools of an MCP server. It knows nothing of cupel: replace it with your own."""
import json
import os
import sys
import urllib.request


def post(url, body, headers):
    """Sends JSON, and returns the JSON of the reply, or of its first event."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        text = reply.read().decode()
        if reply.headers.get_content_type() == "text/event-stream":
            text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
    return json.loads(text) if text.strip() else None


class Tools:
    """The tools of an MCP server over HTTP."""

    def __init__(self, url):
        self.url, self.headers, self.sent = url, {}, 0
        client = {"name": "agent.py", "version": "1"}
        hello = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.headers["mcp-protocol-version"] = hello["protocolVersion"]
        post(self.url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.headers)

    def ask(self, method, params):
        self.sent += 1
        reply = post(self.url, {"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}, self.headers)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def offered(self):
        for tool in self.ask("tools/list", {})["tools"]:
            function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["inputSchema"]}
            yield {"type": "function", "function": function}

    def call(self, name, arguments):
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


def main():
    task = json.loads(sys.stdin.readline())
    tools = Tools(os.environ["MCP_URL"])
    offered = list(tools.offered())
    messages = [{"role": "system", "content": "You are a helpful assistant. Use the tools. " + task["constraints"]}]
    for past in task["history"]:
        messages += [{"role": "user", "content": past["request"]}, {"role": "assistant", "content": past["answer"]}]
    messages.append({"role": "user", "content": task["request"]})
    key = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    for _ in range(10):
        body = {"model": "gpt-4o-mini", "messages": messages, "tools": offered, "max_tokens": 1000}
        message = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, key)["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            print(json.dumps({"answer": message["content"]}))
            return
        for call in message["tool_calls"]:
            text = tools.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    sys.exit("no answer after 10 model requests")


main()
