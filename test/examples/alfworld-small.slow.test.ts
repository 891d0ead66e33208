import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { trinity } from '../run/cli-kit.js'
import { testData } from '../support/test-data.js'
import { Example, root } from './kit.js'

const games = testData('alfworld/games')
const example = new Example()
afterAll(() => example.close())
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe.skipIf(games.absent)(`ALFWorld's simplest games${games.note}`, { timeout: 1_800_000 }, () => {
  it('alfworld_small.yaml: reinforcement raises the success, on new games too', async () => {
    const data = join(example.out, 'games')
    const made = await trinity(root, ['data', 'alfworld', '--from', games.path, '--compact', '--out', data])
    expect(made.code, made.stderr).toBe(0)
    execFileSync(process.execPath, [join(root, 'examples/alfworld_small/make.mjs'), data], { cwd: root })
    expect(await example.run('alfworld_small/alfworld_small.yaml')).toMatchObject({ code: 0 })
    const series = (name: string) => example.series('alfworld_small/tidy/tidy', 'explorer', name)
    const played = series('rollout/success/mean')
    expect(mean(played.slice(-10))).toBeGreaterThan(mean(played.slice(0, 10)) + 0.1)
    const tested = series('eval/new-games/success/mean@1')
    expect(tested.at(-1)).toBeGreaterThan(tested[0] + 0.05)
  })
})
