import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Example, root } from './kit.js'

const example = new Example()
afterAll(() => example.close())

describe('frozen lake', { timeout: 300_000 }, () => {
  beforeAll(
    () => void execFileSync(process.execPath, [join(root, 'examples/frozen_lake/make.mjs')], { cwd: root }),
    120_000,
  )

  it('learns: 30 steps of reinforcement raise the success on lakes that nobody trained on', async () => {
    const ended = await example.run('frozen_lake/frozen_lake.yaml', {
      'stages.0.buffer.total_steps': 50,
      'buffer.total_steps': 30,
      'explorer.eval_interval': 30,
    })
    expect(ended).toMatchObject({ code: 0 })
    const success = example.series('frozen_lake/walk/walk', 'explorer', 'eval/new-lakes/success/mean@1')
    expect(success[0]).toBeLessThan(0.5)
    expect(success.at(-1)).toBeGreaterThan(success[0] + 0.1)
  })
})
