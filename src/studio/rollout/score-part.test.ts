import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import type { RolloutScores } from '../api.js'
import { here } from '../child/serve.js'
import { playerWork } from '../playground/player.js'
import { Players } from '../playground/players.js'
import { runId } from '../run/find.js'
import { Visitor } from '../visitor.fixture.js'
import { deskWork } from '../write/desk.js'

const model = resolve('examples/quickstart/model')
/** What the sampler of a run has recorded that began with this model. */
const tokens = [4, 37, 63, 42, 65, 43, 67, 43, 65, 1, 5, 50, 65, 17, 67, 16, 65, 58, 1]
const logprobs = [-0.0007993, -0.0016818, -0.7380548, -0.0017602, -0.5555735, -0.0015857, -0.0003834, -0.0004137]
const experience = {
  ...{ v: 1, eid: { batch: 1, task: 0, run: 0, step: 0, suffix: 'a' }, type: 'single_turn', temperature: 1 },
  ...{ prompt_length: 11, model_version: 0, use_count: 0, info: {}, reward: 1, metrics: {}, response_length: 8 },
  ...{ tokens, logprobs, action_mask: logprobs.map(() => 1) },
}
const STORE = 'buffer/rollouts.jsonl'
let visitor: Visitor
let path: string

beforeAll(async () => {
  const folder = await tempDir()
  const job = join(folder, 'p', 'n')
  for (const part of ['.trinity', 'buffer']) await mkdir(join(job, part), { recursive: true })
  await writeFile(join(job, STORE), `${JSON.stringify(experience)}\n`)
  path = `/runs/${runId(job)}/score`
  visitor = await Visitor.open({
    ...{ folders: [folder], program: ['trinity'], desk: here(deskWork([])) },
    players: new Players(() => here(playerWork())),
  })
})
afterAll(() => visitor.close())

it('says what a model thinks of the tokens of a rollout, and how sure it is at each', async () => {
  const { status, body } = await visitor.act<RolloutScores>(path, { store: STORE, id: 0, model })
  expect(status).toBe(200)
  expect(body.logprob).toEqual(logprobs.map((value) => expect.closeTo(value, 4)))
  // sure of the frame, undecided between signs
  expect(body.entropy).toHaveLength(8)
  expect(body.entropy[2]).toBeGreaterThan(0.5)
  expect(body.entropy[0]).toBeLessThan(0.02)
  expect((await visitor.act(path, { store: STORE, id: 0, model: '/etc' })).status).toBe(403)
})
