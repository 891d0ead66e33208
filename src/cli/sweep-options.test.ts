import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { specOf } from './sweep-options.js'

describe('the options of a sweep', () => {
  it('say what a file says', () => {
    const spec = specOf(undefined, {
      config: ['a/grpo.yaml', 'opmd.yaml'],
      set: ['buffer.batch_size=4'],
      grid: ['algorithm.optimizer.lr=1e-4,2e-4', 'model.lora_configs=[null, [{lora_rank: 2}]]'],
      seeds: '1,4-6',
      parallel: 'auto',
      axis: 'tokens',
    })
    expect(spec).toMatchObject({
      name: 'sweep',
      arms: { grpo: { config: 'a/grpo.yaml' }, opmd: { config: 'opmd.yaml' } },
      set: { 'buffer.batch_size': 4 },
      grid: { 'algorithm.optimizer.lr': [1e-4, 2e-4], 'model.lora_configs': [null, [{ lora_rank: 2 }]] },
      seeds: [1, 4, 5, 6],
      parallel: 'auto',
      axis: 'tokens',
    })
  })

  it('win over the file', async () => {
    const file = join(await tempDir(), 's.yaml')
    writeFileSync(file, 'config: c.yaml\nset: {a: 1, b: 1}\nseeds: [1, 2]\nmetric: m')
    expect(specOf(file, { set: ['a=2'], seeds: '7', metric: 'n', name: 'other' })).toMatchObject({
      name: 'other',
      set: { a: 2, b: 1 },
      seeds: [7],
      metric: 'n',
    })
    expect(() => specOf(file, { config: ['c.yaml'] })).toThrow('two ways to say what to run')
  })

  it('are told what is wrong with them', () => {
    const bad = (flags: object) => expect(() => specOf(undefined, flags))
    bad({}).toThrow('config: there is nothing to run')
    bad({ config: ['a/x.yaml', 'b/x.yaml'] }).toThrow('two of the configurations have the same name')
    bad({ config: ['a.yaml'], seeds: '3-1' }).toThrow("'3-1' is not a seed")
    bad({ config: ['a.yaml'], seeds: '1-100000000' }).toThrow('is too many')
    bad({ config: ['a.yaml'], set: ['checkpoint_root_dir=x'] }).toThrow('set.checkpoint_root_dir: a sweep gives this')
    bad({ config: ['a.yaml'], grid: ['name=a,b'] }).toThrow('grid.name: a sweep gives this')
    bad({ config: ['a.yaml'], seeds: '1,x' }).toThrow("'x' is not a seed")
    bad({ config: ['a.yaml'], grid: ['lr'] }).toThrow('--grid is not of the form key.path=value')
    bad({ config: ['a.yaml'], grid: ['lr=1,1'] }).toThrow('grid.lr: a value is there twice')
    bad({ config: ['a.yaml'], parallel: 'many' }).toThrow(/parallel/)
    bad({ config: ['a.yaml'], axis: 'hours' }).toThrow(/axis/)
  })

  it.each([
    [{}, /^give a sweep file/],
    [{ config: ['a.yaml'], seeds: '1,1' }, /^give another --seeds; /],
    [{ config: ['a.yaml'], parallel: '0' }, /^give another --parallel; /],
    [{ config: ['a.yaml'], name: '../x' }, /^give another --name; /],
    [{ config: ['a.yaml'], grid: ['name=a,b'] }, /^give another --grid; /],
  ])('name the option that is to be changed: %j', (flags, hint) => {
    expect(() => specOf(undefined, flags)).toThrow(expect.objectContaining({ hint: expect.stringMatching(hint) }))
  })
})
