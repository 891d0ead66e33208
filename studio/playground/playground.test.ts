import { afterEach, expect, it, vi } from 'vitest'
import { beforeAndAfter, modelNames } from './model-names.js'
import { shadeOf } from './reply-tokens.js'
import { Side } from './side.js'

afterEach(() => vi.unstubAllGlobals())

const HOW = { system: 'Be brief.', isPlain: false, sampling: { temperature: 0 } }
const answering = (lines: object[]) => {
  const bodies: { messages: { role: string; content: string }[] }[] = []
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    bodies.push(JSON.parse(body))
    return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  })
  return bodies
}

it('what is said belongs to what is asked next', async () => {
  const reply = { text: 'yes', tokens: [], end: 'stop', seconds: 1 }
  const bodies = answering([{ part: { note: 'loading' } }, { part: { text: 'ye' } }, { result: reply }])
  const side = new Side('m')
  await side.ask('really?', HOW)
  await side.ask('sure?', HOW)
  expect(side.said.value.map(({ text }) => text)).toEqual(['really?', 'yes', 'sure?', 'yes'])
  expect(bodies[1].messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  expect(side.busy.value).toBeUndefined()
})

it('a question that was not answered has not been asked', async () => {
  answering([{ part: { text: 'ye' } }, { error: { code: 'x', message: 'no memory', hint: 'use less' } }])
  const side = new Side('m')
  await side.ask('really?', HOW)
  expect([side.said.value, side.problem.value?.message]).toEqual([[], 'no memory'])
  answering([])
  await side.ask('really?', HOW)
  expect(side.problem.value?.message).toContain('broke off')
})

it('what is unlikely stands out', () => {
  expect([shadeOf(1), shadeOf(0.5), shadeOf(0.01), shadeOf(0)]).toEqual(['', 'h1', 'h7', 'h8'])
})

it('a model says which run it is of, a run of the same name which folder', () => {
  const runs = new Map(['a', 'b'].map((id) => [id, `p/n (${id})`]))
  const models = [
    { path: '1', name: 'step 4', run: 'a', step: 4, isBest: true },
    { path: '2', name: 'step 4', run: 'b', step: 4, isOpen: true },
    { path: '3', name: 'quickstart/model', run: 'a' },
    { path: '4', name: 'models/own' },
  ]
  expect(modelNames(models, runs).map(({ label, group }) => [label, group])).toEqual([
    ['p/n (a) · step 4 · best', 'p/n (a)'],
    ['p/n (b) · step 4 · in memory', 'p/n (b)'],
    ['quickstart/model · before p/n (a)', 'Before training'],
    ['models/own', 'Models'],
  ])
  expect(beforeAndAfter(models)).toEqual({ a: '3', b: '1' })
  expect(beforeAndAfter(models.slice(0, 2))).toBeUndefined()
})
