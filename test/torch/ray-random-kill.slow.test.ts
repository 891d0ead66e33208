import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Pcg64 } from '../../src/base/random/index.js'
import { RayCluster, rayPython } from '../support/ray.js'
import { ended, RayRuns } from '../support/ray-run.js'

const KILLS = 10
/** A kill comes after at most one step and a half; more are done before it is noticed. What is left is done in peace. */
const STEPS = 40
/** Room for a trainer of two ranks on the head, and for a sampler on the other node. */
const CPUS = [2, 1]
const KEYS = { 'cluster.node_num': 3, 'cluster.gpu_per_node': 1 }
const WHAT = ['a rank of the trainer', 'the sampler', 'the node', 'the head', 'Trinity'] as const
type What = (typeof WHAT)[number]
/** How long after a checkpoint, at most. */
const DELAY_STEPS = 1.5
/** A line that says what was lost. */
const CLEAR = /(torch worker \d|Ray) .*(ended by SIGKILL|ended with|was lost|is gone|cannot be reached)/
const seed = Number(process.env.KILL_SEED ?? randomInt(1_000_000))

describe.skipIf(rayPython.absent)(`kills at random${rayPython.note}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-ray-kills-'))
  let cluster: RayCluster
  let runs: RayRuns

  beforeAll(async () => {
    cluster = await RayCluster.start(CPUS)
    runs = new RayRuns(dir, cluster, STEPS, KEYS)
  }, 900_000)
  afterAll(() => {
    cluster?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  it(`change nothing of what a run learns (KILL_SEED=${seed})`, async () => {
    const whole = await ended(runs.start('whole'))
    expect(whole.code, whole.text).toBe(0)
    const longest = Math.round(DELAY_STEPS * runs.stepMs('whole'))
    const random = new Pcg64(seed)
    // each kind at least once
    const kinds = Array.from({ length: KILLS }, (_, i): What => WHAT[i] ?? WHAT[random.below(WHAT.length)])
    let done = 0
    for (const [i, index] of random.permutation(KILLS).entries()) {
      const what = kinds[index]
      const run = runs.start('killed')
      const end = ended(run)
      // not always after a new checkpoint: a run that comes back may be killed before it has done anything
      const target = done + random.below(2)
      if (target > 0) await Promise.race([runs.reaches('killed', target), end])
      const delay = random.below(longest)
      await Promise.race([workersAreUp(run.pid), end])
      await sleep(delay)
      const began = performance.now()
      await kill(what, run, random)
      const { code, text } = await end
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      const line = text.split('\n').find((one) => CLEAR.test(one))
      while (runs.has('killed', done + 1)) done++
      console.log(
        `kill ${i + 1}: ${what}, after step ${done} + ${delay} ms; exit ${code} in ${seconds} s: ${line?.trim() ?? '-'}`,
      )
      expect(code, text).not.toBe(0)
      if (what !== 'Trinity') expect(line, text).toBeDefined()
      await mend(what)
    }
    const last = await ended(runs.start('killed'))
    expect(last.code, last.text).toBe(0)
    expect(runs.weights('killed').equals(runs.weights('whole'))).toBe(true)
  }, 3_600_000)

  async function workersAreUp(of: number | undefined): Promise<void> {
    const isUp = (workers: { state: string }[]) =>
      workers.length === 3 && workers.every(({ state }) => state === 'ready')
    while (!isUp(runs.workers('killed', of))) await sleep(200)
  }

  async function kill(what: What, run: ReturnType<RayRuns['start']>, random: Pcg64): Promise<void> {
    const pids = (group: string) => runs.workers('killed').filter(({ name }) => name.startsWith(group))
    if (what === 'Trinity') run.kill('SIGKILL')
    else if (what === 'the sampler') process.kill(pids('rollout')[0].pid, 'SIGKILL')
    else if (what === 'a rank of the trainer') process.kill(pids('trainer')[random.below(2)].pid, 'SIGKILL')
    else cluster.kill(what === 'the head' ? 0 : 1)
  }

  /** What a person would do before starting the run again. */
  async function mend(what: What): Promise<void> {
    if (what === 'the node') await cluster.add(CPUS[1], 1)
    if (what !== 'the head') return
    cluster.close()
    cluster = await RayCluster.start(CPUS)
    runs.cluster = cluster
  }
})
