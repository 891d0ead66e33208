import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Gpu, gpuWords, planGpus } from './gpu-plan.js'
import type { Config } from './section/config.js'

type Engines = readonly [count: number, size: number]

/** As the rules of a configuration leave it; only what the plan reads. */
function configOf(mode: string, nodes: number, perNode: number, engines: readonly Engines[], trainer?: number): Config {
  const asked = engines.reduce((sum, [count, size]) => sum + count * size, 0)
  const [rollout_model, ...auxiliary_models] = engines.map(([engine_num, gpu_per_engine]) => ({
    engine_num,
    gpu_per_engine,
  }))
  const total_gpu_num = nodes * perNode
  const trainer_gpu_num = trainer ?? (mode === 'both' ? total_gpu_num - asked : 0)
  const cluster = { node_num: nodes, gpu_per_node: perNode, total_gpu_num, trainer_gpu_num }
  return { mode, cluster, explorer: { rollout_model, auxiliary_models } } as unknown as Config
}

const text = ({ node, index }: Gpu) => `${node}:${index}`
const sizes = fc.constantFrom(1, 2, 4, 8, 16)
const engines = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), sizes), { minLength: 1, maxLength: 4 })

describe('the plan of GPUs', () => {
  it('gives every GPU to one at most, to each what was asked for, and no engine to a part of two nodes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('explore', 'both'),
        fc.integer({ min: 1, max: 8 }),
        sizes,
        engines,
        (mode, nodes, perNode, asked) => {
          const sum = asked.reduce((total, [count, size]) => total + count * size, 0)
          const rest = nodes * perNode - sum
          fc.pre(rest >= (mode === 'both' ? 1 : 0) && (rest < perNode || rest % perNode === 0 || mode === 'explore'))
          const plan = planGpus(configOf(mode, nodes, perNode, asked))
          // powers of two behind each other always find a place; a trainer in front of them takes whole nodes or a part of one
          expect(plan).toBeDefined()
          const places = [plan!.rollout, ...plan!.auxiliary]
          expect(places.map((list) => list.map((one) => one.length))).toEqual(
            asked.map(([count, size]) => new Array(count).fill(size)),
          )
          const groups = [plan!.trainer, ...places.flat()]
          const all = groups.flat().map(text)
          expect(new Set(all).size).toBe(all.length)
          expect(all.length).toBe(mode === 'both' ? nodes * perNode : sum)
          for (const { node, index } of groups.flat()) {
            expect(node >= 0 && node < nodes && index >= 0 && index < perNode).toBe(true)
          }
          for (const group of groups) {
            const used = new Set(group.map(({ node }) => node))
            expect(used.size).toBe(Math.max(group.length > 0 ? 1 : 0, Math.ceil(group.length / perNode)))
          }
        },
      ),
    )
  })

  it('puts the trainer first, then the largest engines', () => {
    const plan = planGpus(
      configOf('both', 1, 8, [
        [2, 1],
        [1, 2],
      ]),
    )!
    expect(gpuWords(plan, 1)).toBe('trainer 0-3, rollout 6 7, auxiliary 0 4+5')
    const nodes = planGpus(configOf('both', 3, 4, [[2, 2]]))!
    expect(gpuWords(nodes, 3)).toBe('trainer 0:0-1:3, rollout 2:0+2:1 2:2+2:3')
  })

  it('finds no place for engines that would be cut by the border of a node', () => {
    expect(planGpus(configOf('explore', 2, 3, [[3, 2]]))).toBeUndefined()
    expect(planGpus(configOf('explore', 2, 4, [[1, 6]]))).toBeUndefined()
    expect(planGpus(configOf('both', 2, 4, [[1, 2]], 6))).toBeUndefined()
  })

  it('shares the GPU of colocate, and gives none where there is none', () => {
    expect(planGpus(configOf('colocate', 1, 1, [[1, 1]], 1))).toEqual({
      trainer: [{ node: 0, index: 0 }],
      rollout: [[{ node: 0, index: 0 }]],
      auxiliary: [],
    })
    expect(planGpus(configOf('both', 0, 0, [[2, 1]], 0))).toEqual({ trainer: [], rollout: [[], []], auxiliary: [] })
    expect(planGpus(configOf('train', 1, 2, [[2, 1]], 2))?.rollout).toEqual([])
  })
})
