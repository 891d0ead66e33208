import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { interpreterFor } from '../../environment/python/interpreter.js'
import { AuxiliaryModels } from '../auxiliary.js'
import { workflows } from '../registry.js'
import type { WorkflowClass } from '../workflow.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-agentscope-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const file = join(dir, 'mine.py')
writeFileSync(
  file,
  `
from dataclasses import dataclass, field

@dataclass
class Output:
    reward: float | None = None
    response: str | None = None
    metrics: dict = field(default_factory=dict)

async def ask(model, text):
    response = await model([{"role": "user", "content": text}])
    return response.content[0]["text"]

async def plain(task, model):
    return 1.0 if await ask(model, task["question"]) == "yes" else 0.0

async def answer(task, model, auxiliary_models, logger):
    print("printed, and no answer")
    return Output(response=await ask(model, task["question"]), metrics={"asked": 1})

async def judge(task, response, auxiliary_models):
    verdict = await ask(auxiliary_models["judge"], f"Is {response} right?")
    return Output(reward=0.5 if verdict == "half" else 0.0, metrics={"judged": 1})

def sync(task, model):
    return 0.25

async def fails(task, model):
    raise KeyError("no such thing")
`,
)

const found = await interpreterFor('agentscope', null).catch(() => undefined)
if (!found)
  console.warn("skipped: no Python has agentscope (scripts/test-python.sh 'agentscope<2' 'mcp<2' greenlet tqdm)")

async function play(name: string, args: Record<string, unknown>) {
  const model = modelOf(await speaker(() => 'yes'))
  const auxiliary = new AuxiliaryModels([{ name: 'judge', chat: modelOf(await speaker(() => 'half')) }])
  const task = taskOf({ workflow: name, raw: { question: 'Is it?' }, workflowArgs: args })
  return new (workflows.get(name) as WorkflowClass)(contextOf(model, { task, auxiliary })).run()
}

describe.skipIf(!found)('functions of AgentScope for Python', { timeout: 120_000 }, () => {
  it('give the reward themselves', async () => {
    const [{ reward, responseText }] = await play('agentscope_workflow_adapter', { workflow_func: `${file}:plain` })
    expect([reward, responseText]).toEqual([1, 'yes<|end|>'])
  })

  it('or a judge does, who may ask other models; metrics stand at the last experience', async () => {
    const args = { workflow_func: `${file}:answer`, judge_func: `${file}:judge` }
    const [{ reward, metrics }] = await play('agentscope_workflow_adapter_v1', args)
    expect(reward).toBe(0.5)
    expect(metrics).toMatchObject({ asked: 1, judged: 1 })
  })

  it('what is wrong is told', async () => {
    const failing = (args: Record<string, unknown>) => play('agentscope_workflow_adapter_v1', args)
    await expect(failing({ workflow_func: `${file}:fails` })).rejects.toThrow("KeyError: 'no such thing'")
    await expect(failing({ workflow_func: `${file}:nothing` })).rejects.toThrow("no function 'nothing'")
    await expect(failing({ workflow_func: `${file}:answer` })).rejects.toThrow('gave no reward')
    await expect(failing({ workflow_func: `${file}:sync` })).rejects.toThrow('did not call the model')
    await expect(failing({ workflow_func: 'no_colon' })).rejects.toThrow('names no function')
    await expect(play('agentscope_workflow_adapter', { workflow_func: 'a:b', judge_func: 'a:c' })).rejects.toThrow(
      'judge_func',
    )
  })
})
