# What the original's Python client sends, request by request: OpenAI clients with the key "EMPTY", feedback and metrics by
# requests and by httpx, a commit without a body.
import asyncio
import json
import sys

import httpx
import openai
import requests

url = sys.argv[1]
task_id = "0f3c2a"
seen = {}


def ask(client, **more):
    model = client.models.list().data[0].id
    messages = [{"role": "user", "content": "1+1="}]
    return client.chat.completions.create(model=model, messages=messages, max_tokens=6, **more)


def feedback(reward, ids):
    body = {"reward": reward, "msg_ids": ids, "task_id": task_id}
    return requests.post(f"{url}/feedback", json=body, timeout=10).json()


async def later():
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="EMPTY")
    model = (await client.models.list()).data[0].id
    messages = [{"role": "user", "content": "2+2="}]
    answer = await client.chat.completions.create(model=model, messages=messages, max_tokens=6)
    async with httpx.AsyncClient() as http:
        body = {"reward": 0.25, "msg_ids": [answer.id], "task_id": task_id}
        seen["feedback_async"] = (await http.post(f"{url}/feedback", json=body, timeout=10)).json()
        seen["commit_async"] = (await http.post(f"{url}/commit", timeout=10)).json()
        seen["metrics_async"] = (await http.get(f"{url}/metrics", timeout=5)).json()
    return answer.id


seen["alive"] = requests.get(f"{url}/health", timeout=2).status_code == 200
client = openai.OpenAI(base_url=f"{url}/v1", api_key="EMPTY")
first = ask(client, temperature=0, extra_body={"return_token_ids": True}, logprobs=True).id
chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
second = chunks[0].id
seen["feedback"] = feedback(1.0, [first, second])
seen["again"] = feedback(0.0, [first])
seen["unknown"] = feedback(1.0, ["chatcmpl-0"])
seen["wrong"] = feedback("good", [first])
seen["commit"] = requests.post(f"{url}/commit", timeout=10).json()
seen["metrics"] = requests.get(f"{url}/metrics", timeout=5).json()
seen["ids"] = [first, second, asyncio.run(later())]
print(json.dumps(seen))
