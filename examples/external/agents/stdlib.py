"""An agent made with Python's standard library alone.

It reads one line of JSON with the request, asks a model at OPENAI_BASE_URL, calls the
tools of the MCP server at MCP_URL, and writes one line of JSON with its answer.
"""

import json
import os
import sys
import urllib.request

MAX_STEPS = 10


def post(url, body, **headers):
    """Posts JSON; returns the JSON of the reply, or of its first server-sent event."""
    headers |= {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()
        if response.headers.get_content_type() == "text/event-stream":
            text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
    return json.loads(text) if text.strip() else None


def mcp(method, **params):
    """Asks the MCP server, which keeps no session."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return post(os.environ["MCP_URL"], message)["result"]


def ask(messages, tools):
    """Asks the model for its next message."""
    body = {"model": "gpt-5-mini", "messages": messages, "tools": tools}
    key = "Bearer " + os.environ["OPENAI_API_KEY"]
    return post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, authorization=key)["choices"][0]["message"]


def main():
    task = json.loads(sys.stdin.readline())
    tools = [
        {"type": "function", "function": {"name": t["name"], "description": t.get("description", ""), "parameters": t["inputSchema"]}}
        for t in mcp("tools/list")["tools"]
    ]
    messages = [
        {"role": "system", "content": "You are a helpful assistant. Weeks start on Monday."},
        {"role": "user", "content": task["request"]},
    ]
    for _ in range(MAX_STEPS):
        message = ask(messages, tools)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            function = call["function"]
            result = mcp("tools/call", name=function["name"], arguments=json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result["content"][0]["text"]})
    print(json.dumps({"answer": message["content"]}))


main()
