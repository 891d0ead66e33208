// What HTTP costs between an agent and its model: many streamed conversations at once through the gateway, with clients in
// another process, against the same by the in-process client. --sessions=N at once (1000), --turns=N (4), --tokens=N (32),
// --latency=MS for a token where the time to the first one is measured (250), --part=load, delays or open (all).
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { format, loadSources, printTable } from './lib.mjs'

export const title = 'Gateway: many streamed conversations at once'
export const about =
  'time to first token, memory and CPU time of HTTP against the in-process client, on the mock engine'

const SETTLE_MS = 100

const QUESTION = 'what do you do next? '

const SOURCES = ['engine/mock/engine', 'model/character-tokenizer', 'model/index', 'workflow/index', 'gateway/index']

function textOf({ Tokenizer, ChatTemplate, characterTokenizer }) {
  const special = ['<|end|>', '<|unk|>', '<|user|>', '<|assistant|>']
  const tokenizer = new Tokenizer({
    path: 'letters',
    tokenizer: characterTokenizer([...'abcdefghijklmnopqrstuvwxyz.,?! '], special, '<|unk|>'),
    specialTokens: { eos_token: '<|end|>' },
  })
  const template =
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
  return { tokenizer, template: new ChatTemplate(template, tokenizer.specialTokens) }
}

/** Talks for some turns; `ask` calls back at the first token and returns the answer. Returns the times to first tokens. */
async function talk(ask, { turns, tokens, waitMs = 0 }) {
  const messages = []
  const first = []
  await sleep(waitMs)
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: QUESTION })
    const begun = performance.now()
    const body = { model: 'policy', messages, stream: true, max_tokens: tokens, ignore_eos: true }
    const content = await ask(body, () => first.push(performance.now() - begun))
    messages.push({ role: 'assistant', content })
  }
  return first
}

/** Text of a streamed chat: the first delta only says the role. */
function reader(onFirst) {
  let text = ''
  return {
    take({ choices: [choice] }) {
      if (!choice?.delta.content) return
      if (text === '') onFirst()
      text += choice.delta.content
    },
    text: () => text,
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** A small client, so that mostly the server is measured. */
function askHttp({ baseURL, apiKey }, body, onFirst) {
  return new Promise((resolve, reject) => {
    const { take, text } = reader(onFirst)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
    const asked = request(`${baseURL}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`HTTP ${response.statusCode}`))
      let rest = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        const events = (rest + chunk).split('\n\n')
        rest = events.pop()
        for (const event of events) if (event.startsWith('data: {')) take(JSON.parse(event.slice(6)))
      })
      response.on('end', () => resolve(text())).on('error', reject)
    })
    asked.on('error', reject).end(JSON.stringify(body))
  })
}

async function askHere(client, body, onFirst) {
  const { take, text } = reader(onFirst)
  for await (const chunk of await client.chat.completions.create(body)) take(chunk)
  return text()
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measured(work) {
  const [begun, cpu] = [performance.now(), cpuMs()]
  let rss = 0
  const watch = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), 200)
  const first = (await work()).flat().sort((a, b) => a - b)
  clearInterval(watch)
  return { first, ms: performance.now() - begun, cpu: cpuMs() - cpu, rss: rss / 2 ** 20 }
}

/** All conversations at once, or `atOnce` of them; they begin one after another within `spreadMs`. */
async function talkAll(asks, { spreadMs = 0, atOnce = asks.length, ...size }) {
  const all = new Array(asks.length)
  let next = 0
  const lane = async (waitMs) => {
    for (let i = next++; i < asks.length; i = next++) {
      all[i] = await talk(asks[i], { ...size, waitMs })
      waitMs = 0
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, i) => lane((spreadMs * i) / atOnce)))
  return all
}

/** The clients' process: told of sessions, it talks in all of them and sends the times back. */
if (process.send && process.argv[2] === '--client') {
  process.once('message', async ({ sessions, size }) => {
    const asks = sessions.map((one) => (body, onFirst) => askHttp(one, body, onFirst))
    process.send(await talkAll(asks, size), () => process.exit())
  })
}

async function overHttp(gateway, models, size) {
  const sessions = models.map((model) => gateway.session({ model }))
  const child = fork(fileURLToPath(import.meta.url), ['--client'])
  const times = await new Promise((resolve, reject) => {
    child.once('message', resolve).once('error', reject)
    child.once('exit', (code) => reject(new Error(`the clients ended with ${code}`)))
    child.send({ sessions: sessions.map(({ baseURL, apiKey }) => ({ baseURL, apiKey })), size })
  })
  await sleep(SETTLE_MS)
  checkAll(sessions, models, size)
  for (const session of sessions) session.close()
  return times
}

/** Every answer reached its client once, and is in its session's one experience once. */
function checkAll(sessions, models, { turns, tokens }) {
  const calls = sessions.flatMap(({ calls }) => calls)
  const ids = new Set(calls.filter(({ finished }) => finished).map(({ id }) => id))
  if (calls.length !== sessions.length * turns || ids.size !== calls.length) {
    throw new Error(`${calls.length} calls were recorded, ${ids.size} of them once and finished`)
  }
  for (const model of models) {
    const { actionMask } = model.toExperience()
    const written = actionMask.reduce((sum, one) => sum + one, 0)
    if (written !== turns * tokens) throw new Error(`an experience has ${written} sampled tokens`)
  }
}

export async function run(args) {
  const number = (name, fallback) => Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
  const size = { sessions: number('sessions', 1000), turns: number('turns', 4), tokens: number('tokens', 32) }
  const folder = mkdtempSync(fileURLToPath(new URL('../node_modules/.trinity-bench-', import.meta.url)))
  const api = await loadSources(folder, SOURCES).finally(() => rmSync(folder, { recursive: true, force: true }))
  const text = textOf(api)
  const { vocabSize, eosId } = text.tokenizer
  const modelsOf = async (count, latencyMs = 0) => {
    const engine = new api.MockEngine({ vocabSize, eos: eosId, maxModelLen: 1 << 16, latencyMs })
    const sampler = await engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })
    const limits = { maxModelLen: 1 << 16 }
    return Array.from({ length: count }, (_, i) => {
      return new api.RolloutModel({ sampler, text, limits, seedOf: (call) => i * 100 + call, deadlineMs: 600_000 })
    })
  }
  const gateway = await api.Gateway.open()
  const both = async ({ sessions, latencyMs, ...rest }) => {
    const here = async () => {
      const models = await modelsOf(sessions, latencyMs)
      return talkAll(
        models.map((model) => (body, onFirst) => askHere(model.openai(), body, onFirst)),
        rest,
      )
    }
    const http = async () => overHttp(gateway, await modelsOf(sessions, latencyMs), rest)
    const brief = async () => overHttp(gateway, await modelsOf(100), { ...rest, spreadMs: 0 })
    return { here: () => measured(here), http: () => measured(http), brief }
  }
  try {
    const part = args.find((arg) => arg.startsWith('--part='))?.slice('--part='.length)
    const wanted = (name) => part === undefined || part === name
    if (wanted('load')) await load(await both(size), size)
    const latencyMs = number('latency', 250)
    const slow = { ...size, latencyMs, spreadMs: latencyMs * size.tokens }
    if (wanted('delays')) await delays(await both(slow), slow)
    if (wanted('open')) await manyOpen(gateway, await modelsOf(10_000))
  } finally {
    await gateway.close()
  }
}

const at = ({ first }, share) => first[Math.floor(first.length * share)]

function print(rows) {
  printTable(
    Object.entries(rows).map(([what, row]) => ({
      what,
      s: format(row.ms / 1000),
      'CPU s': format(row.cpu / 1000),
      'first token p50 ms': format(at(row, 0.5)),
      'p99 ms': format(at(row, 0.99)),
      'RSS MB': format(row.rss),
    })),
  )
}

const verdict = (value, most) => `${format(value)} (at most ${most}: ${value <= most ? 'met' : 'MISSED'})`

/** As fast as it goes: what an answer costs. */
async function load({ here, http }, { sessions, turns, tokens }) {
  // Code is compiled while it is first used.
  await here()
  await http()
  const rows = { 'in process': await here(), 'over HTTP': await http() }
  console.log(`${sessions} conversations at once, ${turns} turns of ${tokens} tokens, streamed as fast as it goes`)
  print(rows)
  const [a, b] = Object.values(rows)
  console.log(`no experience lost or doubled; memory in MB: ${verdict(b.rss, 1024)}`)
  console.log(`CPU time of the server's process, in that of the in-process client: ${verdict(b.cpu / a.cpu, 1.5)}`)
  const each = (b.cpu / (sessions * turns * tokens)) * 1000
  console.log(`bound by the one thread that samples, speaks HTTP and counts: ${format(each)} µs for a token`)
}

/** With an engine that takes its time, so that the thread is not always busy: what HTTP adds to the first token. */
async function delays({ here, http, brief }, { sessions, tokens, latencyMs }) {
  await brief()
  const rows = { 'in process': await here(), 'over HTTP': await http() }
  console.log(`\nThe same with an engine that takes ${latencyMs} ms for a token; they begin within one answer's time`)
  print(rows)
  const [a, b] = Object.values(rows)
  console.log(`added to the first token, p50 in ms: ${verdict(at(b, 0.5) - at(a, 0.5), 2)}`)
  console.log(`added to the first token, p99 in ms: ${verdict(at(b, 0.99) - at(a, 0.99), 50)}`)
  const busy = (100 * b.cpu) / b.ms
  console.log(
    `${sessions} streams of ${format(1000 / latencyMs)} tokens/s keep the thread busy for ${format(busy)} % of ${tokens} tokens' time`,
  )
}

async function manyOpen(gateway, models) {
  const size = { turns: 1, tokens: 4, atOnce: 1000 }
  const before = process.memoryUsage().heapUsed
  const open = models.map((model) => gateway.session({ model }))
  console.log(`\n10,000 open sessions: ${format((process.memoryUsage().heapUsed - before) / 2 ** 20)} MB`)
  for (const session of open) session.close()
  const { rss, ms } = await measured(() => overHttp(gateway, models, size))
  console.log(`all of them call, 1000 at once: ${format(ms / 1000)} s, ${format(rss)} MB; every one was answered once`)
}
