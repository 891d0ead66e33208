# The same agent in Python, with nothing but its standard library. Trinity starts it once for each rollout: the task comes on
# standard input, the model by OPENAI_BASE_URL and OPENAI_API_KEY, and the last line says what the answer was worth.
import json
import os
import sys
import urllib.request

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
        },
    }
    for name in ("price", "stock")
]


def ask(messages):
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages, "tools": TOOLS, "max_tokens": 24}).encode()
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def answer(question, shop):
    messages = [{"role": "user", "content": question}]
    for _ in range(3):
        message = ask(messages)
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        for call in message["tool_calls"]:
            item = json.loads(call["function"]["arguments"]).get("item")
            found = shop.get(call["function"]["name"], {}).get(item, "?")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})
    return None


task = json.load(sys.stdin)
print(json.dumps({"reward": 1 if answer(task["question"], task["shop"]) == task["truth"] else 0}))
