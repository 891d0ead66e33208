import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomBatch } from '../../test/algorithm/batch.js'
import { groups, scores } from '../../test/algorithm/experiences.js'
import * as graph from '../graph/index.js'
import { evaluateLoss } from '../graph/index.js'
import { loadPlugins } from '../plugin.js'
import * as algorithm from './index.js'

const { advantageFns, algorithms, buildLoss, entropyLossFns, klFns, policyLossFns, sampleStrategies } = algorithm
let docs = ''
let format = ''
let dir = ''
beforeAll(async () => {
  docs = await readFile(new URL('../../docs/algorithms.md', import.meta.url), 'utf8')
  format = await readFile(new URL('../../docs/loss-graph.md', import.meta.url), 'utf8')
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

/** Cells of the table row that describes a component, within its section. */
function row(section: string, name: string): string[] {
  const from = docs.indexOf(`\n## ${section}`)
  const text = docs.slice(from, docs.indexOf('\n## ', from + 4))
  const line = text.split('\n').find((one) => one.startsWith('|') && one.split('|')[1].includes(`\`${name}\``))
  return (line ?? '').split('|').map((cell) => cell.trim())
}

describe('docs/algorithms.md', () => {
  it.each(algorithms.names())('lists algorithm %s as it is', (name) => {
    const { defaults: d, schema, ...flags } = algorithms.get(name)
    const bits = [flags.use_critic && 'C', flags.use_reference && 'R', flags.compute_advantage_in_trainer && 'T']
    const cells = [bits.filter(Boolean).join(' '), schema, d.advantage_fn ?? '', d.policy_loss_fn, d.kl_loss_fn]
    const rest = [d.entropy_loss_fn, d.sample_strategy, String(d.repeat_times ?? '')]
    expect(row('Algorithm types', name).slice(2, 10)).toEqual([...cells, ...rest])
  })

  it.each([
    ['Advantage functions', advantageFns],
    ['Policy losses', policyLossFns],
    ['Sample strategies', sampleStrategies],
  ] as const)('%s: names every component with its arguments', (section, registry) => {
    for (const name of registry.names()) {
      const cell = row(section, name)[2]
      const { args, ignored } = registry.get(name)
      expect([name, cell !== undefined]).toEqual([name, true])
      const silent = section === 'Policy losses' ? (ignored ?? []) : []
      const known = Object.keys(args.shape).filter((arg) => !silent.includes(arg))
      expect([name, known.filter((arg) => !new RegExp(`\\b${arg}\\b`).test(cell))]).toEqual([name, []])
    }
  })

  it('names every KL and entropy function', () => {
    for (const name of [...klFns.names(), ...entropyLossFns.names()]) expect(docs).toContain(`\`${name}\``)
  })

  it('names the metrics that a loss reports', () => {
    for (const name of policyLossFns.names()) {
      const args = name === 'ppo' ? { enable_sequence_masking: true } : {}
      const reported = buildLoss({ policy_loss_fn: name, policy_loss_fn_args: args }).graph.metrics.map((m) => m.name)
      const cell = row('Policy losses', name)[4]
      const missing = reported.filter((m) => m !== 'final_loss' && !/^(usual|expert)\//.test(m) && !cell.includes(m))
      expect([name, missing]).toEqual([name, []])
    }
  })

  it('the plugins in it run', async () => {
    const sources = [...docs.matchAll(/```ts\n\/\/ plugins\/(\w+\.ts)\n([\s\S]*?)```/g)]
    expect(sources.map(([, name]) => name)).toEqual(['quadratic.ts', 'threshold.ts'])
    for (const [, name, source] of sources) {
      expect(source.trim().split('\n').length).toBeLessThanOrEqual(15)
      await writeFile(join(dir, name), source)
    }
    await loadPlugins([dir])
    const { rows, scores: given } = randomBatch(1)
    const loss = buildLoss({ policy_loss_fn: 'quadratic', policy_loss_fn_args: { pull: 0.25 } })
    const { metrics, grads } = evaluateLoss(loss, rows, loss.norms(rows), given)
    const at = rows[0].mask.indexOf(1)
    const d = given.logprob[at] - (rows[0].columns.old as Float32Array)[at]
    const slope = -(rows[0].columns.advantage as Float32Array)[at] * Math.exp(d) + 0.5 * d
    expect(grads.logprob![at]).toBeCloseTo(slope / loss.norms(rows).tokens, 6)
    expect(metrics.drift.value).toBeGreaterThan(0)
    const threshold = advantageFns.get('threshold')
    const result = threshold.compute(groups([0.9, undefined, 0.1]), threshold.args.parse({}), { random: () => 0 })
    expect(scores(result.experiences)).toEqual([1, -1])
  })
})

describe('docs/loss-graph.md', () => {
  it('the example runs', () => {
    const source = /```ts\n([\s\S]*?)```/.exec(format)![1].replace(/^import .*$/m, '')
    const run = new Function('defineLoss', 'evaluateLoss', `${source}; return { value, grads, metrics }`)
    const { value, grads } = run(graph.defineLoss, graph.evaluateLoss)
    expect(value).toBeCloseTo((-0.5 * (1 + Math.exp(0.5))) / 2, 6)
    expect([...grads.logprob]).toEqual([-0.25, expect.closeTo(-0.25 * Math.exp(0.5), 6), 0])
  })

  it('the JSON is a graph, and every operation is described', async () => {
    graph.parseGraph(/```json\n([\s\S]*?)```/.exec(format)![1])
    const { OP_NAMES } = await import('../graph/ops.js')
    for (const op of OP_NAMES) expect([op, new RegExp(`\\|[^|]*\\b${op}\\b`).test(format)]).toEqual([op, true])
  })
})
