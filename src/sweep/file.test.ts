import { describe, expect, it } from 'vitest'
import { parseSweep, readSweep } from './file.js'

const bad = (text: string) => expect(() => parseSweep(text, 'dir/s.yaml'))

describe('a sweep file', () => {
  it('starts paths from its folder, and lends the sweep its name', () => {
    const spec = parseSweep('config: base.yaml\narms: {a: {config: /x/a.yaml}, b: }\nplugin_dirs: [p]', 'dir/s.yaml')
    expect(spec).toMatchObject({
      name: 's',
      config: 'dir/base.yaml',
      plugin_dirs: ['dir/p'],
      axis: 'steps',
      parallel: 1,
    })
    expect(spec.arms).toEqual({ a: { config: '/x/a.yaml', set: {} }, b: null })
  })

  it('says what is wrong with it, and where', () => {
    bad('config: a.yaml\nseed: [1]').toThrow(/s\.yaml:2:\d+ seed: unknown key \(did you mean seeds\?\)/)
    bad('config: a.yaml\naxis: hours').toThrow(/s\.yaml:2:\d+ axis/)
    bad('config: a.yaml\nseeds: [1, 2, 1]').toThrow('a seed is there twice')
    bad('config: a.yaml\ngrid: {lr: []}').toThrow(/grid\.lr/)
    bad('config: a.yaml\ngrid: {lr: [1, 1]}').toThrow('a value is there twice')
    bad('config: a.yaml\ngrid: {lr: 1}').toThrow(/grid\.lr.*array/)
    bad('seeds: [1]').toThrow('there is nothing to run')
    bad('arms: {a: {set: {x: 1}}}').toThrow('it has no configuration')
    bad('config: a.yaml\narms: {"a/b": }').toThrow("has a '/' in it")
    bad('config: a.yaml\nparallel: 0').toThrow(/parallel/)
    bad('- 1').toThrow('expected a map of keys')
    expect(() => readSweep('nowhere.yaml')).toThrow('no file nowhere.yaml')
  })

  it('is no folder', () => {
    const folder = expect.objectContaining({
      code: 'config/unreadable',
      message: expect.stringContaining('is a folder'),
    })
    expect(() => readSweep(import.meta.dirname)).toThrow(folder)
  })
})
