import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { perform } from '../../explorer/perform.js'
import type { Task } from '../../task/index.js'
import { CommandWorkflow } from './command.js'

/** A program as it would be written in any language. */
const PROGRAM = `
const task = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const file = JSON.parse(require('fs').readFileSync(process.env.TRINITY_TASK_FILE, 'utf8'))
fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: task.question }], ...JSON.parse(process.env.MORE ?? '{}') }),
}).then((r) => r.json()).then(({ choices }) => {
  console.log('it said', choices[0].message.content)
  if (require('fs').existsSync('here.txt')) require('fs').writeFileSync('left.txt', process.cwd())
  if (process.env.MODE === 'exit') process.exit(choices[0].message.content === file.truth ? 0 : 3)
  if (process.env.MODE !== 'quiet') console.log(JSON.stringify({ reward: choices[0].message.content === file.truth ? 0.75 : 0 }))
})`

async function roll(workflowArgs: Record<string, unknown>, more: Partial<Task> = {}, signal?: AbortSignal) {
  const file = join(await tempDir(), 'agent.cjs')
  writeFileSync(file, PROGRAM)
  const model = modelOf(await speaker(() => 'four'))
  const args = { command: `"${process.execPath}" "${file}"`, ...workflowArgs }
  const task = taskOf({
    raw: { question: '2+2?' },
    truth: 'four',
    workflow: 'command_workflow',
    ...more,
    workflowArgs: args,
  })
  return perform(CommandWorkflow, contextOf(model, { task, ...(signal && { signal }) }))
}

describe('command_workflow', () => {
  it('gives it the task and the model, and takes the reward that it prints', async () => {
    const [experience, ...others] = await roll({})
    expect(others).toEqual([])
    expect(experience).toMatchObject({ reward: 0.75, responseText: 'four<|end|>' })
    expect(experience.promptText).toContain('2+2?')
  })

  it('the exit code, or a reward function over what it printed', async () => {
    expect((await roll({ reward_from: 'exit', env: { MODE: 'exit' } }))[0].reward).toBe(1)
    expect((await roll({ reward_from: 'exit', env: { MODE: 'exit' } }, { truth: 'five' }))[0].reward).toBe(0)
    const reward = await roll({ env: { MODE: 'quiet' } }, { rewardFn: 'accuracy_reward', truth: 'it said four' })
    expect(reward[0].reward).toBe(1)
  })

  it('accepts unknown request fields unless the arguments refuse them', async () => {
    const env = { MORE: '{"client_metadata":{}}' }
    expect((await roll({ env }))[0].reward).toBe(0.75)
    await expect(roll({ env, unknown_request_fields: 'refuse' })).rejects.toMatchObject({ code: 'agent/command' })
  })

  it('works in a copy of a folder, or in the one that is named, and has a folder of its own in any case', async () => {
    const files = await tempDir()
    writeFileSync(join(files, 'here.txt'), 'four')
    const command = (then: string) => `test "$(cat here.txt)" = four && ${then}`
    const asking = `"${process.execPath}" -e '${PROGRAM.replaceAll("'", '"')}'`
    expect((await roll({ files, command: command(asking) }))[0].reward).toBe(0.75)
    expect(existsSync(join(files, 'left.txt'))).toBe(false)
    expect((await roll({ cwd: files, command: command(asking) }))[0].reward).toBe(0.75)
    expect(existsSync(join(files, 'left.txt'))).toBe(true)
    const own = `cd "$TRINITY_WORKDIR" && test ! -e here.txt && ${asking}`
    expect((await roll({ command: own }))[0].reward).toBe(0.75)
  })

  it('takes the reward of a program that has left others running, or has printed without end', async () => {
    const asking = `"${process.execPath}" -e '${PROGRAM.replaceAll("'", '"')}'`
    expect((await roll({ command: `sleep 60 & ${asking}` }))[0].reward).toBe(0.75)
    expect((await roll({ command: `yes | head -n 2000000; ${asking}` }))[0].reward).toBe(0.75)
  })

  it('says what went wrong', async () => {
    await expect(roll({ command: `echo '{"reward": 1}'; exit 4` })).rejects.toThrow(/exit code 4/)
    await expect(roll({ command: 'echo no good >&2; exit 4' })).rejects.toThrow(/exit code 4.*\nno good/s)
    await expect(roll({ command: ['no-such-program'] })).rejects.toThrow(/could not be started/)
    await expect(roll({ env: { MODE: 'quiet' } })).rejects.toMatchObject({ code: 'agent/no-reward' })
    await expect(roll({ files: '/no/such/folder' })).rejects.toMatchObject({ code: 'agent/files' })
    await expect(roll({ comand: 'x' })).rejects.toMatchObject({ path: expect.stringContaining('workflow_args') })
  })

  it('ends it with all that it started', async () => {
    const mark = join(await tempDir(), 'mark')
    const control = new AbortController()
    const rolling = roll({ command: `(sleep 1.5; echo late > ${mark}) & sleep 30` }, {}, control.signal)
    setTimeout(() => control.abort(new Error('time is up')), 300)
    await expect(rolling).rejects.toThrow('time is up')
    await sleep(1700)
    expect(existsSync(mark)).toBe(false)
  })
})
