import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, parse, resolve, resolveAll, withKeys } from '../../test/config-kit.js'
import {
  asideName,
  BENCH,
  BEST_EVAL,
  JOB,
  LATEST_FULL,
  LATEST_WEIGHTS,
  MARKS,
  metaName,
  stepName,
} from '../checkpoint/layout.js'
import { lockName } from '../checkpoint/lock.js'
import { STAGE_META } from '../run/stage-meta.js'
import { layoutFault, MAX_NAME_BYTES } from './name.js'

const BAD: [string, RegExp][] = [
  ['""', /empty/],
  ['" "', /blank/],
  ['"\\u200b"', /blank/],
  ['.', /'\.'/],
  ['..', /'\.\.'/],
  ['../../x', /'\/'/],
  ['/etc', /'\/'/],
  ['a/b', /'\/'/],
  ['"a\\\\b"', /'\\'/],
  ['"a\\nb"', /control character in it: a\\nb/],
  ['"a\\0b"', /control character/],
  ['"a\\e[31mb"', /control character/],
  ['"a\\u200bb"', /invisible character in it: a\\u200bb/],
  ['"a\\u202eb"', /invisible character/],
  ['"a\\u2066b"', /invisible character/],
  ['n'.repeat(256), /256 bytes/],
  ['é'.repeat(128), /256 bytes/],
]
const AUXILIARY = 'buffer.trainer_input.auxiliary_buffers'
const KEYS = ['project', 'name', 'explorer.name', 'trainer.name']
const EMPTY_IS_FINE = [
  'group',
  'buffer.trainer_input.experience_buffer.name',
  'data_processor.experience_pipeline.output.name',
]

describe('names', () => {
  it.each(KEYS.flatMap((key) => BAD.map(([text, says]) => [key, text, says] as const)))(
    '%s: %s is refused',
    (...it) => {
      const [key, text, says] = it
      const set = [`${key}=${text}`]
      // when a file is read, as by `trinity log`, and when it is resolved, as by everything else
      for (const work of [() => parse(BASE, { set }), () => resolveAll(BASE, { set })]) {
        expect(errorsOf(work)).toEqual([
          expect.objectContaining({ code: 'name', key, message: expect.stringMatching(says) }),
        ])
      }
    },
  )

  it.each(EMPTY_IS_FINE)('%s: only an empty one stands for something else', (key) => {
    expect(() => resolve(BASE, { set: [`${key}=""`] })).not.toThrow()
    for (const [text] of BAD.slice(1)) {
      expect(errorsOf(() => resolve(BASE, { set: [`${key}=${text}`] })).map((one) => one.key)).toContain(key)
    }
  })

  it('of auxiliary buffers are checked too, where they stand as keys as well', () => {
    expect(errorsOf(() => parse(BASE, { set: [`${AUXILIARY}.a={path: x, name: ../y}`] }))[0].key).toBe(
      `${AUXILIARY}.a.name`,
    )
    const text = `${BASE}\ndata_processor: {experience_pipeline: {inputs: {a/b: {path: x}}}}`
    expect(errorsOf(() => parse(text))[0].key).toBe('data_processor.experience_pipeline.inputs.a/b')
  })

  it.each(BAD)('a stage named %s is refused', (text, says) => {
    const work = () => resolveAll(`${BASE}stages: [{stage_name: ${text}}]`)
    expect(errorsOf(work)).toContainEqual(
      expect.objectContaining({ key: 'stages[0].stage_name', message: expect.stringMatching(says) }),
    )
  })

  it('of a stage are named with the stage', () => {
    const text = `${BASE}stages: [{stage_name: a}, {stage_name: b, explorer: {name: ../x}}]`
    expect(errorsOf(() => parse(text)).map((one) => one.key)).toEqual(['stages[1].explorer.name'])
  })

  it('that come from a variable which is not set name the variable', () => {
    const text = 'project: ${oc.env:PROJECT_NAME,}\nname: "${oc.env:RUN_NAME,}"\n' + BASE
    const errors = errorsOf(() => parse(text))
    expect(errors.map(({ key, hint }) => [key, hint])).toEqual([
      ['project', expect.stringContaining('set PROJECT_NAME')],
      ['name', expect.stringContaining('set RUN_NAME')],
    ])
    expect(errorsOf(() => parse(`name: \${project}\nproject: \${oc.env:P,}\n${BASE}`))[0].hint).toContain('set P,')
    expect(parse(text, { env: { PROJECT_NAME: 'p', RUN_NAME: 'r' } }).stages[0].config).toMatchObject({ name: 'r' })
    expect(errorsOf(() => parse(text, { env: { PROJECT_NAME: 'p', RUN_NAME: '..' } }))[0].hint).toContain('RUN_NAME')
  })

  it('may be anything that is one folder', () => {
    for (const name of ['a b', 'ünï', '.hidden', '..a', 'a..', '-x', '2024', 'n'.repeat(MAX_NAME_BYTES)]) {
      expect(withKeys({ name: JSON.stringify(name) }).checkpoint_job_dir).toBe(`/w/Trinity-RFT/${name}`)
    }
  })

  it.each(['global_step_3', 'global_step_3.tmp-1-0123abcd', 'Global_Step_3', '.trinity'])(
    '%s is what a run calls a folder of its own',
    (name) => {
      for (const key of ['project', 'group', 'name']) {
        expect(errorsOf(() => parse(BASE, { set: [`${key}=${name}`] })).map((one) => one.key)).toEqual([key])
      }
    },
  )

  it.each(['log', 'buffer', 'monitor', 'bench', 'run_meta.json', 'LOG'])(
    '%s is refused where it could lie in the folder of another run',
    (name) => {
      const stage = () => parse(`${BASE}stages: [{stage_name: ${name}}]`)
      expect(errorsOf(stage).map((one) => one.key)).toEqual(['stages[0].stage_name'])
      expect(errorsOf(() => parse(BASE, { set: ['group=g', `name=${name}`] })).map((one) => one.key)).toEqual(['name'])
      expect(() => parse(BASE, { set: [`project=${name}`, `name=${name}`] })).not.toThrow()
    },
  )

  it('cover everything that a run has in its folder', () => {
    const { log, monitor, buffer } = withKeys({})
    const folders = [log.save_dir, monitor.cache_dir, buffer.cache_dir].map((path) => basename(String(path)))
    const files = [LATEST_FULL, LATEST_WEIGHTS, JOB, BEST_EVAL, metaName('run'), STAGE_META, lockName('trainer')]
    for (const name of [...folders, BENCH, ...files, MARKS, stepName(3), asideName(stepName(3), 'damaged')]) {
      expect(layoutFault(name, true), name).toBeDefined()
    }
  })
})

it('a home folder that only a shell knows is no root', () => {
  for (const root of ['~', '~/runs', '~me/runs']) {
    const set = [`checkpoint_root_dir=${JSON.stringify(root)}`]
    expect(errorsOf(() => parse(BASE, { set }))).toEqual([
      expect.objectContaining({ key: 'checkpoint_root_dir', hint: expect.stringContaining('oc.env:HOME') }),
    ])
  }
  expect(withKeys({ checkpoint_root_dir: './~' }).checkpoint_root_dir).toBe('/w/~')
})

describe('an explorer', () => {
  const explorer =
    (name: string, trainer = 'trainer') =>
    () =>
      parse(BASE, { set: [`explorer.name=${name}`, `trainer.name=${trainer}`] })

  it.each(['run', 'Run', 'trainer', 'stage', 'explorer_run'])('is not called %s: its files would be others', (name) => {
    expect(errorsOf(explorer(name))).toMatchObject([{ code: 'name', key: 'explorer.name' }])
  })

  it('and a trainer have different names', () => {
    expect(errorsOf(explorer('same', 'same'))).toMatchObject([{ message: 'the name is that of the trainer, too' }])
    expect(explorer('runner', 'other')).not.toThrow()
  })
})
