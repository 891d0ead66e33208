// What HTTP costs between an agent and its model: many streamed conversations at once through the gateway, with clients in
// another process, against the same by the in-process client. --sessions=N at once (1000), --turns=N (4), --tokens=N (32).
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { format, loadSources, printTable } from './lib.mjs'

export const title = 'Gateway: many streamed conversations at once'
export const about =
  'time to first token, memory and CPU time of HTTP against the in-process client, on the mock engine'

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
async function talk(ask, { turns, tokens }) {
  const messages = []
  const first = []
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
  const watch = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), 20)
  const first = (await work()).flat().sort((a, b) => a - b)
  clearInterval(watch)
  return { first, ms: performance.now() - begun, cpu: cpuMs() - cpu, rss: rss / 2 ** 20 }
}

/** The clients' process: told of sessions, it talks in all of them and sends the times back. */
if (process.send && process.argv[2] === '--client') {
  process.once('message', async ({ sessions, size }) => {
    const all = await Promise.all(sessions.map((one) => talk((body, onFirst) => askHttp(one, body, onFirst), size)))
    process.send(all, () => process.exit())
  })
}

export async function run(args) {
  const number = (name, fallback) => Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
  const size = { sessions: number('sessions', 1000), turns: number('turns', 4), tokens: number('tokens', 32) }
  const folder = mkdtempSync(fileURLToPath(new URL('../node_modules/.trinity-bench-', import.meta.url)))
  const api = await loadSources(folder, SOURCES).finally(() => rmSync(folder, { recursive: true, force: true }))
  const text = textOf(api)
  const { vocabSize, eosId } = text.tokenizer
  const engine = new api.MockEngine({ vocabSize, eos: eosId, maxModelLen: 1 << 16 })
  const sampler = await engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })
  const models = () =>
    Array.from({ length: size.sessions }, (_, i) => {
      const limits = { maxModelLen: 1 << 16 }
      return new api.RolloutModel({ sampler, text, limits, seedOf: (call) => i * 100 + call, deadlineMs: 600_000 })
    })
  const gateway = await api.Gateway.open()
  const here = () =>
    Promise.all(models().map((model) => talk((body, onFirst) => askHere(model.openai(), body, onFirst), size)))
  const http = async () => {
    const sessions = models().map((model) => gateway.session({ model }))
    const child = fork(fileURLToPath(import.meta.url), ['--client'])
    const times = await new Promise((resolve, reject) => {
      child.once('message', resolve).once('error', reject)
      child.once('exit', (code) => reject(new Error(`the clients ended with ${code}`)))
      child.send({ sessions: sessions.map(({ baseURL, apiKey }) => ({ baseURL, apiKey })), size })
    })
    const calls = sessions.flatMap(({ calls }) => calls.filter(({ finished }) => finished))
    if (calls.length !== size.sessions * size.turns) throw new Error(`${calls.length} calls were recorded`)
    for (const session of sessions) session.close()
    return times
  }
  try {
    // Code is compiled while it is first used.
    await measured(here)
    await measured(http)
    const rows = { 'in process': await measured(here), 'over HTTP': await measured(http) }
    console.log(`${size.sessions} conversations at once, ${size.turns} turns of ${size.tokens} tokens, streamed`)
    const at = ({ first }, share) => first[Math.floor(first.length * share)]
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
    const [a, b] = Object.values(rows)
    console.log(`CPU time of the server's process against the in-process client: ${format(b.cpu / a.cpu)} ×`)
    console.log(
      `added to the first token: p50 ${format(at(b, 0.5) - at(a, 0.5))} ms, p99 ${format(at(b, 0.99) - at(a, 0.99))} ms`,
    )
    const open = models().slice(0, 1)
    const before = process.memoryUsage().heapUsed
    const many = Array.from({ length: 10_000 }, () => gateway.session({ model: open[0] }))
    console.log(`10,000 open sessions: ${format((process.memoryUsage().heapUsed - before) / 2 ** 20)} MB`)
    for (const session of many) session.close()
  } finally {
    await gateway.close()
  }
}
