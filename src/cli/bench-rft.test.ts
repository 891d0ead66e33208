import { describe, expect, it } from 'vitest'
import { benchOptions } from './bench-rft.js'

describe('options of bench-rft', () => {
  it('are understood with dashes, with underscores and by their earlier names', () => {
    const dashed = { out: 'runs', nodeNum: '2', gpuPerNode: '4', engineNum: '3', tpSize: '2', lr: '1e-5' }
    const earlier = { out: 'runs', node_num: '2', gpu_per_node: '4', vllm_engine_num: '3', vllmTpSize: '2', lr: '1e-5' }
    expect(benchOptions(earlier)).toEqual(benchOptions(dashed))
    expect(benchOptions(dashed)).toMatchObject({ nodes: 2, gpusPerNode: 4, engines: 3, parallelSize: 2, lr: 1e-5 })
  })

  it('leave to the template what is not given', () => {
    const { nodes, gpusPerNode, ratio, ...rest } = benchOptions({ out: 'runs', gpuPerNode: '0' })
    expect({ nodes, gpusPerNode, ratio }).toEqual({ nodes: 1, gpusPerNode: 0, ratio: 0.6 })
    expect(Object.values(rest).every((value) => value === undefined)).toBe(true)
  })

  it('name the option that is wrong', () => {
    expect(() => benchOptions({ out: 'runs', gpuPerNode: '0', sync_interval: 'x' })).toThrow(/--sync-interval is 'x'/)
  })
})
