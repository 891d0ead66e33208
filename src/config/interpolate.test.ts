import { describe, expect, it } from 'vitest'
import { errorsOf } from '../../test/config-kit.js'
import { interpolate } from './interpolate.js'
import { plain } from './node.js'
import { Problems } from './problem.js'
import { escapeTemplate, parseTemplate } from './template.js'
import { parseYaml } from './yaml.js'

function read(text: string, env: Record<string, string> = {}): Record<string, unknown> {
  const problems = new Problems()
  const tree = interpolate(parseYaml(text, 'f.yaml'), env, problems)
  problems.throwIfErrors('f.yaml')
  return plain(tree) as Record<string, unknown>
}
const x = (text: string, env?: Record<string, string>) =>
  read(`x: ${text}\nn: 5\nt: [a, b, {c: deep}]\ns: text\nf: 1.50\nb: true\nnothing: null`, env).x
const problem = (text: string) => errorsOf(() => read(text))[0]

describe('references', () => {
  it.each([
    ['${n}', 5],
    ['${s}', 'text'],
    ['${nothing}', null],
    ['${t}', ['a', 'b', { c: 'deep' }]],
    ['${t[2].c}', 'deep'],
    ['${t.1}', 'b'],
    ['"<${n}|${s}|${b}|${f}|${nothing}>"', '<5|text|True|1.50|None>'],
    ['${oc.env:A}', 'from a'],
    ['${oc.env:NO,fall back}', 'fall back'],
    ['${oc.env:NO, padded }', 'padded'],
    ['${oc.env:NO,5}', '5'],
    ['${oc.env:NO,null}', null],
    ['${oc.env:NO,"null"}', 'null'],
    ["${oc.env:NO,'a, b'}", 'a, b'],
    ['${oc.env:NO,}', ''],
    ['${oc.env:NO,${oc.env:A}}', 'from a'],
    ['${oc.env:NO,${oc.env:NOT,${n}}}', 5],
    ['${oc.env:NO,./checkpoints}/sub', './checkpoints/sub'],
    ['${oc.env:${oc.env:WHICH}}', 'from a'],
    ['${oc.decode:${oc.env:NUMBER}}', 42],
    ['${oc.decode:"[1, 2.5, {a: true}]"}', [1, 2.5, { a: true }]],
    ['${oc.decode:${oc.env:NO,false}}', false],
    ['${oc.decode:${oc.env:NO,null}}', null],
    ['${oc.select:no.such.key,7}', 7],
    ['${oc.select:n}', 5],
    ['${config.dir:data/x.jsonl}', './data/x.jsonl'],
    ['${config.dir:model}', './model'],
    ['${config.dir:.}', '.'],
    ['${oc.env:NO,${config.dir:../${s}}}', '../text'],
    ['\\${n}', '${n}'],
    ['a\\${n}b${n}', 'a${n}b5'],
    ['\\\\${n}', '\\5'],
    ['$n {n} $', '$n {n} $'],
    ['${oc.env:A}${oc.env:A}', 'from afrom a'],
    ["it's ${s}", "it's text"],
    ["${oc.env:NO,it's fine}", "it's fine"],
    ['${t.${oc.env:INDEX}}', 'b'],
  ])('%s', (text, value) => {
    expect(
      x(JSON.stringify(text).startsWith('"\\"') ? text : `'${text.replaceAll("'", "''")}'`, {
        A: 'from a',
        WHICH: 'A',
        NUMBER: '42',
        INDEX: '1',
      }),
    ).toEqual(typeof value === 'string' && text.startsWith('"<') ? value : value)
  })

  it('are relative with dots', () => {
    expect(read('a: {b: {c: "${.d}", d: 1, e: "${..f}"}, f: 2, l: [x, "${.0}", "${..f}"]}')).toEqual({
      a: { b: { c: 1, d: 1, e: 2 }, f: 2, l: ['x', 'x', 2] },
    })
  })

  it('go through references, in any order', () => {
    expect(read('a: ${b}\nb: ${c.d}\nc: ${e}\ne: {d: 9}')).toMatchObject({ a: 9, b: 9, c: { d: 9 } })
  })

  it('see the defaults of known keys', () => {
    expect(read('x: ${trainer.save_interval}-${model.top_k}\ntrainer: {grad_clip: 1}').x).toBe('0--1')
  })
})

describe('problems of references', () => {
  it.each([
    ['a: ${a}', 'refers to itself: a → a'],
    ['a: ${b}\nb: x${c}\nc: ${a}', 'refers to itself: a → b → c → a'],
    ['a: {b: "${a}"}', 'refers to itself: a → a.b → a'],
    ['a: ${no}', 'there is no key no'],
    ['a: ${oc.env:NO}', 'environment variable NO is not set'],
    ['a: ${oc.nope:x}', 'unknown resolver oc.nope'],
    ['a: "${oc.env:A"', "'${' without a closing '}'"],
    ['a: "${}"', "'${}' is empty"],
    ['a: "x${b}"\nb: [1]', 'a list or map cannot be part of a text'],
    ['a: "${oc.env:}"', 'oc.env takes a name and a default'],
  ])('%s', (text, message) => expect(errorsOf(() => read(text)).map((one) => one.message)).toContain(message))

  it('stand where the text stands, with a way out', () => {
    expect(problem('a: 1\nbb:\n  c: ${oc.env:NO}')).toMatchObject({
      key: 'bb.c',
      mark: { line: 3, column: 6 },
      hint: 'set it, or write ${oc.env:NO,default}',
    })
    expect(problem('a: {name: 1, b: "${a.nam}"}').hint).toBe('did you mean a.name?')
  })

  it('are all reported at once, each once', () => {
    expect(errorsOf(() => read('a: ${no}\nb: ${oc.env:NO}\nc: ${a}')).map((one) => one.key)).toEqual(['a', 'b', 'c'])
  })

  it('ends on references that multiply and nest', () => {
    const many = Array.from({ length: 40 }, (_, i) => `a${i}: [${'"${a' + (i + 1) + '}",'}${'"${a' + (i + 1) + '}"'}]`)
    expect(errorsOf(() => read(`${many.join('\n')}\na40: x`))[0].message).toBe('references expand without end')
    const doubled = Array.from({ length: 40 }, (_, i) => `a${i}: "\${a${i + 1}}\${a${i + 1}}"`)
    expect(errorsOf(() => read(`${doubled.join('\n')}\na40: x`))[0].message).toBe('references expand without end')
    expect(errorsOf(() => read(`a: "${'${'.repeat(500)}${'}'.repeat(500)}"`))[0].message).toBe('nested too deeply')
  })
})

describe('escapes', () => {
  it.each(['${a}', '\\${a}', '\\\\${a}', 'a$b', '${', 'x${y}${z}', '\\'])('%s survives', (text) => {
    expect(parseTemplate(escapeTemplate(text))).toEqual([{ text }])
  })
})
