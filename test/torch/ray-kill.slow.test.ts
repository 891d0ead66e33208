import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RayCluster, rayPython } from '../support/ray.js'
import { ended, RayRuns } from '../support/ray-run.js'

const STEPS = 4
/** Trainer and sampler have room on one node each. */
const CPUS = [1, 1]

describe.skipIf(rayPython.absent)(`a run over two nodes of Ray${rayPython.note}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-ray-kill-'))
  let cluster: RayCluster
  let runs: RayRuns
  let whole: Buffer

  beforeAll(async () => {
    cluster = await RayCluster.start(CPUS)
    runs = new RayRuns(dir, cluster, STEPS)
    const { code, text } = await ended(runs.start('whole'))
    expect(code, text).toBe(0)
    whole = runs.weights('whole')
  }, 400_000)
  afterAll(() => {
    cluster?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const KILLS: Record<string, (run: ChildProcess, name: string) => Promise<void> | void> = {
    'a worker': (_, name) => void process.kill(runs.workers(name)[0].pid, 'SIGKILL'),
    'another worker': (_, name) => void process.kill(runs.workers(name)[1].pid, 'SIGKILL'),
    Trinity: (run) => void run.kill('SIGKILL'),
    'a node': () => cluster.kill(1),
  }

  it.each(Object.keys(KILLS))(
    'that loses %s resumes, and ends as if it had not',
    async (what) => {
      const name = what.replaceAll(' ', '-').toLowerCase()
      const run = runs.start(name)
      const end = ended(run)
      await runs.reaches(name, 2)
      await KILLS[what](run, name)
      const { code, text } = await end
      expect(code, text).not.toBe(0)
      if (what !== 'Trinity') expect(text).toMatch(/torch worker \d .*(SIGKILL|was lost with node)/)
      if (what === 'a node') await cluster.add(CPUS[1], 1)
      const again = await ended(runs.start(name))
      expect(again.code, again.text).toBe(0)
      expect(again.text).toMatch(/resum/)
      expect(runs.weights(name).equals(whole)).toBe(true)
      expect(readdirSync(runs.folder(name))).toContain('run_meta.json')
    },
    400_000,
  )
})
