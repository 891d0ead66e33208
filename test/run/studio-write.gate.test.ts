import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ChatReply, CheckAnswer, ModelList, RunDetail, Started, TryAnswer } from '../../src/studio/api.js'
import { runs } from '../support/processes.js'
import { tempDir } from '../support/temp-dir.js'

const main = resolve('dist/cli/main.js')
const text = (folder: string) => `project: p
name: n
checkpoint_root_dir: ${folder}
algorithm: {algorithm_type: grpo, repeat_times: 4}
model: {model_path: ${resolve('examples/quickstart/model')}, max_prompt_tokens: 32, max_response_tokens: 16}
explorer: {rollout_model: {engine_type: native}, eval_on_startup: false}
trainer: {trainer_type: native}
buffer:
  batch_size: 4
  total_steps: 6
  explorer_input:
    taskset:
      path: ${resolve('examples/quickstart/countdown')}
      format: {prompt_key: question, response_key: answer}
      default_workflow_type: simple_workflow
      default_reward_fn_type: countdown_reward
`

/** The command, and a browser that has opened its address. */
async function openStudio(folder: string) {
  const studio = spawn(process.execPath, [main, 'studio', folder, '--port', '0'])
  let said = ''
  studio.stdout.setEncoding('utf8').on('data', (part) => {
    said += part
  })
  await expect.poll(() => said).toContain('token=')
  const url = new URL(/http\S+/.exec(said)?.[0] ?? '')
  const { headers } = await fetch(url, { redirect: 'manual' })
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const post = { method: 'POST', body: JSON.stringify(body) }
    const head = { cookie, origin: url.origin, 'content-type': 'application/json' }
    const response = await fetch(`${url.origin}/api${path}`, { ...(body && post), headers: head })
    const answer = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer as T
  }
  return { studio, ask }
}

/** Processes that a process has started, and theirs. */
function childrenOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child)
}

describe('a run that is written in Studio', { timeout: 180_000 }, () => {
  it('is checked, started, and goes on without it; models answer until it is gone', async () => {
    const folder = await tempDir()
    const first = await openStudio(folder)
    const wrong = await first.ask<CheckAnswer>('/check', { text: text(folder).replace('grpo', 'grpoo') })
    expect(wrong.problems[0]).toMatchObject({ severity: 'error', key: 'algorithm.algorithm_type', line: 4 })
    const started = await first.ask<Started>('/start', { folder, path: 'n.yaml', text: text(folder) })
    const children = childrenOf(first.studio.pid as number)
    expect(children).toContain(started.pid)
    first.studio.kill('SIGKILL')
    await once(first.studio, 'exit')
    expect(runs(started.pid)).toBe(true)
    // what worked for Studio alone ends with it; the run comes to its end
    const others = children.filter((pid) => pid !== started.pid)
    expect(others).toHaveLength(1)
    await expect.poll(() => others.filter(runs)).toEqual([])
    await expect.poll(() => readFile(join(folder, 'n.log'), 'utf8'), { timeout: 120_000 }).toMatch(/finished|done/i)

    const second = await openStudio(folder)
    const detail = await second.ask<RunDetail>(`/runs/${started.run}`)
    expect([detail.state, detail.progress.step]).toEqual(['finished', 6])
    const { models } = await second.ask<ModelList>('/models')
    const model = models.find(({ step }) => step === 6)?.path
    const messages = [{ role: 'user', content: 'Make 22 from 5, 20, 3' }]
    const reply = await second.ask<ChatReply>('/chat', { model, messages })
    expect(reply.tokens.length).toBeGreaterThan(1)
    const tried = await second.ask<TryAnswer>('/try', { run: started.run, model, task: 0 })
    expect(tried.rollouts[0].reward).toEqual(expect.any(Number))
    const players = childrenOf(second.studio.pid as number)
    expect(players).toHaveLength(2)
    second.studio.kill('SIGINT')
    await once(second.studio, 'exit')
    await expect.poll(() => players.filter(runs)).toEqual([])
  })
})
