import { describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import type { SavedCheckpoint } from '../checkpoint/index.js'
import type { SampleModel } from '../engine/contract.js'
import type { WeightLink } from '../synchronizer/index.js'
import { cutOf, loadSamplers, type SnapshotParts, snapshotOf, startSamplers, stepOf } from './resume.js'

const config = withKeys({})
const never = new AbortController().signal

function saved(step: number, given: { state?: object; sampler?: string } = {}): SavedCheckpoint {
  const folder = (name: string) => (name === 'sampler' ? given.sampler : undefined)
  return { step, dir: `/job/global_step_${step}`, state: given.state ?? {}, folder } as unknown as SavedCheckpoint
}

/** Samplers and a link that say what was asked of them. */
function actors(way: WeightLink['way'] = 'memory' as WeightLink['way']) {
  const asked: string[] = []
  const sampler = (name: string) =>
    ({ loadWeights: async (dir: string, version: number) => void asked.push(`${name} ${dir} ${version}`) }) as never
  const link = { way, transfer: async (version: number) => void asked.push(`transfer ${version}`) } as never
  return { asked, one: sampler('one') as SampleModel, two: sampler('two') as SampleModel, link: link as WeightLink }
}

describe('where a run goes on', () => {
  it('is the beginning without a checkpoint', () => {
    expect(stepOf(undefined)).toBe(0)
    expect(cutOf(undefined, config)).toEqual({ cut: undefined, mark: undefined })
  })

  it('is the cut of the buffer, and the place of this explorer in it', () => {
    const mark = { step: 4 }
    const cut = { marks: { [config.explorer.name]: mark, other: { step: 9 } } }
    expect(cutOf(saved(4, { state: { buffer: cut } }), config)).toEqual({ cut, mark })
  })
})

describe('what the run adds to a checkpoint', () => {
  const order: string[] = []
  const parts = (version: number, marks: object) =>
    ({
      config,
      sync: {
        state: () => {
          order.push('sync')
          return { version }
        },
      },
      buffer: {
        cut: async () => {
          order.push('buffer')
          return { marks }
        },
      },
      pipeline: { cut: async () => void order.push('pipeline') },
      sampler: { saveWeights: async (dir: string) => void order.push(`save ${dir}`) },
    }) as unknown as SnapshotParts

  it('is taken in the order in which nothing is lost', async () => {
    const mark = { step: 7, scheduler: { tasksets: [{ at: 3 }] } }
    const snapshot = await snapshotOf(parts(5, { [config.explorer.name]: mark }))(5)
    expect(order.splice(0)).toEqual(['sync', 'buffer', 'pipeline'])
    expect(snapshot.meta).toEqual({ [config.explorer.name]: { latest_iteration: 7, taskset_states: [{ at: 3 }] } })
    expect(snapshot.folders).toBeUndefined()
  })

  it('holds the weights of the samplers where they are neither the trainer’s nor the first', async () => {
    expect((await snapshotOf(parts(0, {}))(6)).folders).toBeUndefined()
    const { folders } = await snapshotOf(parts(4, {}))(6)
    order.length = 0
    await folders?.sampler('/to')
    expect(order.splice(0)).toEqual(['save /to'])
  })
})

describe('samplers', () => {
  it('begin with the policy, or by way of a folder with the model, each once', async () => {
    const direct = actors()
    await startSamplers([direct.one, direct.two], direct.link, '/model', never)
    expect(direct.asked).toEqual(['transfer 0'])
    const { asked, one, two, link } = actors('checkpoint')
    await startSamplers([one, two, one], link, '/model', never)
    expect(asked).toEqual(['one /model 0', 'two /model 0'])
  })

  it('go on with the weights they had', async () => {
    const { asked, one, two, link } = actors()
    await loadSamplers([one, two], link, undefined, 3, never)
    await loadSamplers([one, two], link, saved(6), 0, never)
    expect(asked).toEqual([])
    await loadSamplers([one, two], link, saved(6), 6, never)
    expect(asked.splice(0)).toEqual(['transfer 6'])
    await loadSamplers([one, two, two], link, saved(6, { sampler: '/old' }), 4, never)
    expect(asked).toEqual(['one /old 4', 'two /old 4'])
  })

  it('whose weights are gone are an error with the place', async () => {
    const { one, link } = actors()
    await expect(loadSamplers([one], link, saved(6), 4, never)).rejects.toMatchObject({
      code: 'checkpoint/damaged',
      path: '/job/global_step_6/sampler',
    })
  })
})
