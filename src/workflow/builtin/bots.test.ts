import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { workflows } from '../registry.js'
import { BotsMathBoxedWorkflow, BotsRefEvalCollectWorkflow } from './bots.js'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-bots-'))
})
afterEach(async () => {
  delete process.env.BOTS_REF_EVAL_LOG_FILE
  await rm(dir, { recursive: true, force: true })
})

const taskDesc = [{ role: 'user', content: '1 + 1? Box it.' }]

async function run(Kind: typeof BotsMathBoxedWorkflow) {
  let seen = ''
  const speech = await speaker((prompt) => {
    seen = prompt
    return ['\\boxed{2}', '\\boxed{3}']
  })
  const context = contextOf(modelOf(speech, { n: 2 }), { task: taskOf({ taskDesc, truth: '2' }), repeat: 2 })
  return { experiences: await new Kind(context).run(), seen }
}

it("sends the row's messages as they are and grades the box", async () => {
  const { experiences, seen } = await run(BotsMathBoxedWorkflow)
  expect(seen).toBe('<|user|>1 + 1? Box it.<|end|><|assistant|>')
  expect(experiences.map(({ reward }) => reward)).toEqual([1, 0])
})

it('collects the rewards of each task, a line each', async () => {
  const file = join(dir, 'new', 'log.jsonl')
  process.env.BOTS_REF_EVAL_LOG_FILE = file
  await Promise.all([run(BotsRefEvalCollectWorkflow), run(BotsRefEvalCollectWorkflow)])
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [1, 2].map(() => ({ model_version: expect.any(Number), rewards: [1, 0], question: taskDesc, truth: '2' })),
  )
})

it('a place where nothing can be written is named', async () => {
  await writeFile(join(dir, 'file'), '')
  process.env.BOTS_REF_EVAL_LOG_FILE = join(dir, 'file', 'log.jsonl')
  await expect(run(BotsRefEvalCollectWorkflow)).rejects.toMatchObject({ path: join(dir, 'file') })
})

it('both are found by the names of the example', () => {
  const path = 'examples.bots.workflow.bots_math_boxed_workflow'
  expect(workflows.get(`${path}.BOTSMathBoxedWorkflow`)).toBe(BotsMathBoxedWorkflow)
  expect(workflows.get(`${path}.BOTSRefEvalCollectMathBoxedWorkflow`)).toBe(BotsRefEvalCollectWorkflow)
  expect(workflows.get('BOTSMathBoxedWorkflow')).toBe(BotsMathBoxedWorkflow)
})
