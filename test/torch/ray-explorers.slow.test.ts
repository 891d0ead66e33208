import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRosters } from '../../src/machine/ground/roster.js'
import { canMakeNetworks } from '../support/networks.js'
import { RayCluster, rayPython } from '../support/ray.js'
import { ended, RayRuns } from '../support/ray-run.js'

/** The name that the example gives its database. */
const NAME = 'two_processes'
const STEPS = 3
/** One worker does not fit on the first. */
const CPUS = [2, 1]
const EXPLORERS = ['first', 'second']
const KEYS = {
  'cluster.node_num': 1,
  'cluster.gpu_per_node': 1,
  'buffer.train_batch_size': 32,
  'synchronizer.sync_interval': 1,
}

describe.skipIf(rayPython.absent)(`a trainer and two explorers, each in a process of its own${rayPython.note}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-ray-explorers-'))
  let cluster: RayCluster
  beforeAll(async () => {
    cluster = await RayCluster.start(CPUS, { apart: canMakeNetworks })
  }, 900_000)
  afterAll(() => {
    cluster?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  it('find room on two nodes of Ray, and work for one run', async () => {
    const runs = new RayRuns(dir, cluster, STEPS, KEYS)
    const explorers = EXPLORERS.map((name) => runs.start(NAME, 'two_processes/explore.yaml', { 'explorer.name': name }))
    const all = [...explorers, runs.start(NAME, 'two_processes/train.yaml')]
    for (const { code, text } of await Promise.all(all.map(ended))) expect(code, text).toBe(0)
    expect(runs.has(NAME, STEPS)).toBe(true)
    const logs = join(runs.folder(NAME), 'log')
    const workers = await readRosters(logs)
    const names = [...EXPLORERS.map((name) => `${name}/rollout_0_0`), 'trainer/trainer_0_0']
    expect(workers.map(({ name }) => name).toSorted()).toEqual(names)
    if (canMakeNetworks) expect(new Set(workers.map(({ node }) => node)).size).toBe(2)
    for (const name of EXPLORERS) {
      expect(readFileSync(join(logs, `${name}.log`), 'utf8')).toMatch(/step 1: \d+ experiences/)
    }
  }, 900_000)
})
