import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Example, root } from './kit.js'

const example = new Example()
afterAll(() => example.close())

describe.each([
  { name: 'sokoban', job: 'push', set: 'new-rooms', rise: 0.12 },
  { name: 'ez_points', job: 'play', set: 'new-deals', rise: 0.2 },
])('$name', { timeout: 900_000 }, ({ name, job, set, rise }) => {
  it('learns: reinforcement raises the success on what nobody trained on', async () => {
    execFileSync(process.execPath, [join(root, `examples/${name}/make.mjs`)], { cwd: root })
    expect(await example.run(`${name}/${name}.yaml`)).toMatchObject({ code: 0 })
    const success = example.series(`${name}/${job}/${job}`, 'explorer', `eval/${set}/success/mean@1`)
    expect(success.length).toBeGreaterThanOrEqual(2)
    expect(success.at(-1)).toBeGreaterThan(success[0] + rise)
  })
})
