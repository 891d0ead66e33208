import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, parse, resolve, resolveAll, withKeys } from '../../test/config-kit.js'
import { MAX_NAME_BYTES } from './name.js'

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
})
