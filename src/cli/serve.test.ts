import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { root } from '../../test/support/doc-blocks.js'
import { tempDir } from '../../test/support/temp-dir.js'
import { createModel } from '../model/index.js'
import { type ServeOptions, type ServeWorld, serve } from './serve.js'

const model = join(root, 'examples/quickstart/model')

beforeAll(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true))
afterAll(() => void vi.restoreAllMocks())

async function start(name?: string, dir = model, more: ServeOptions = {}) {
  const control = new AbortController()
  const options = { port: '0', apiKeyEnv: 'KEY', name, ...more }
  let ended: Promise<number> | undefined
  const said = await new Promise<string>((print, fail) => {
    ended = serve(dir, options, { env: { KEY: 'k' }, print, signal: control.signal })
    ended.catch(fail)
  })
  const url = /http:\S+/.exec(said)?.[0]
  const ask = (key: string, temperature: number, more: object = {}) =>
    fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: name,
        temperature,
        max_tokens: 12,
        messages: [{ role: 'user', content: 'Make 22 from 5, 20, 3' }],
        ...more,
      }),
    })
  return { control, url, ended, ask }
}

it('serves a model until it is told to stop', async () => {
  const { control, url, ended, ask } = await start('small')
  expect((await ask('other', 0)).status).toBe(401)
  const answer = async () => ((await (await ask('k', 0)).json()) as Chat).choices[0].message.content
  expect(await answer()).toBe('<answer>5+20-3</answer>')
  // nobody's conversation goes on with another's
  expect(await answer()).toBe('<answer>5+20-3</answer>')
  const models = await fetch(`${url}/models`, { headers: { authorization: 'Bearer k' } })
  expect(await models.json()).toMatchObject({ data: [{ id: 'small' }] })
  control.abort()
  expect(await ended).toBe(0)
  await expect(fetch(`${url}/models`)).rejects.toThrow()
})

it('answers the next request after a chat template that runs too long', async () => {
  const dir = join(await tempDir(), 'model')
  await cp(model, dir, { recursive: true })
  const endless = '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}'
  const template = `{% if 'hang' in messages[-1].content %}${endless}{% endif %}{{ messages[-1].content }}`
  await writeFile(join(dir, 'chat_template.jinja'), template)
  const { control, ended, ask } = await start('small', dir)
  const content = (text: string) => ({ messages: [{ role: 'user', content: text }] })
  for (const more of [{}, { stream: true }]) {
    const refused = await ask('k', 0, { ...content('hang'), ...more })
    expect(refused.status).toBe(500)
    expect(await refused.json()).toMatchObject({ error: { code: 'template/limit' } })
    const answered = await ask('k', 0, content('2'))
    expect(answered.status).toBe(200)
    expect(((await answered.json()) as Chat).choices).toHaveLength(1)
  }
  control.abort()
  expect(await ended).toBe(0)
})

it('a reply that has begun comes to its end before the server does', async () => {
  const { control, ended, ask } = await start()
  const response = await ask('k', 1, {
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 60,
    min_tokens: 60,
  })
  control.abort()
  const text = await response.text()
  expect(text).toContain('"completion_tokens":60')
  expect(text).toContain('"finish_reason":"length"')
  expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
  expect(await ended).toBe(0)
})

it('a model that was given no name has that of its folder', async () => {
  const { control, url, ended, ask } = await start()
  const models = await fetch(`${url}/models`, { headers: { authorization: 'Bearer k' } })
  expect(await models.json()).toMatchObject({ data: [{ id: 'model', object: 'model' }] })
  for (const more of [{}, { model: 'model' }])
    expect(await (await ask('k', 0, more)).json()).toMatchObject({ model: 'model' })
  expect(await (await ask('k', 0, { stream: true })).text()).toContain('"model":"model"')
  control.abort()
  expect(await ended).toBe(0)
})

it('ignores unknown request fields and says so once, or refuses them with --strict', async () => {
  const written = vi.mocked(process.stderr.write)
  const open = await start()
  for (let i = 0; i < 2; i++) expect((await open.ask('k', 0, { client_metadata: {} })).status).toBe(200)
  const notes = () => written.mock.calls.filter(([text]) => String(text).includes('"client_metadata"'))
  expect(notes()).toHaveLength(1)
  open.control.abort()
  const strict = await start(undefined, model, { strict: true })
  const refused = await strict.ask('k', 0, { client_metadata: {} })
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'client_metadata' } }])
  expect((await strict.ask('k', 0)).status).toBe(200)
  strict.control.abort()
  expect([await open.ended, await strict.ended]).toEqual([0, 0])
})

interface Chat {
  choices: { message: { content: string } }[]
}

it.each<[ServeOptions, RegExp]>([
  [{ port: 'x' }, /--port is 'x'/],
  [{ apiKeyEnv: 'NOT_SET' }, /NOT_SET holds no key/],
  [{ port: '99999' }, /--port is '99999'; expected a whole number from 0 to 65535/],
  [{ host: '0.0.0.0', port: '0' }, /--host 0\.0\.0\.0 lets others in: a key is needed/],
])('%j is refused', async (options, message) => {
  const world: Partial<ServeWorld> = { env: {}, print() {}, signal: new AbortController().signal }
  await expect(serve(model, options, world)).rejects.toThrow(message)
})

it('shows tools to a model whose template has no place for them, and notes it once', async () => {
  const dir = await tempDir()
  await createModel({ out: dir, layers: 1, hidden: 16, heads: 2, maxPositions: 2048, tokenizer: { kind: 'bytes' } })
  const stderr = vi.mocked(process.stderr.write)
  stderr.mockClear()
  const { control, ended, ask } = await start('small', dir)
  const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]
  const promptTokens = async (more: object) =>
    ((await (await ask('k', 0, more)).json()) as { usage: { prompt_tokens: number } }).usage.prompt_tokens
  const without = await promptTokens({})
  const shown = await promptTokens({ tools })
  expect(shown).toBeGreaterThan(without + JSON.stringify(tools[0]).length)
  expect(await promptTokens({ tools })).toBe(shown)
  control.abort()
  expect(await ended).toBe(0)
  const notes = stderr.mock.calls.filter(([text]) => String(text).includes('has no place for tools'))
  expect(notes).toHaveLength(1)
  expect(String(notes[0][0])).toContain(dir)
})
