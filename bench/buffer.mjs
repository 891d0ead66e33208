// What a buffer costs: experiences per second in and out, and bytes on disk, for every kind, against appending the same
// bytes to a plain file and reading them back. --count=N experiences (100 000), --postgres=URL adds a server.
import { mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, loadSources, median, printTable } from './lib.mjs'

export const title = 'Buffers: 512 tokens per experience'
export const about = 'put and take per second and bytes per experience of every kind of buffer'

const BATCH = 500
const CHUNKS = 10

const SOURCES = ['buffer/index', 'experience/index']

/** 128 prompt tokens, 384 answer tokens, log-probs, advantages and returns, and texts of the usual length. */
function makeExperiences(createExperience, count) {
  const word = (i) => ['the', 'number', 'is', 'seven', 'because', 'four', 'plus', 'three'][i % 8]
  const text = (length, i) => Array.from({ length }, (_, k) => word(i + k)).join(' ')
  return Array.from({ length: count }, (_, i) =>
    createExperience({
      eid: { batch: Math.floor(i / BATCH), task: i % BATCH, run: i % 8 },
      tokens: Int32Array.from({ length: 512 }, (_, k) => (k * 7919 + i * 31) % 151_000),
      promptLength: 128,
      logprobs: Float32Array.from({ length: 384 }, (_, k) => -(((k * 37 + i) % 997) / 331)),
      advantages: new Float32Array(384).fill(((i % 17) - 8) / 7),
      returns: new Float32Array(384).fill(((i % 17) - 8) / 7),
      reward: (i % 3) / 2,
      modelVersion: i % 100,
      promptText: text(110, i),
      responseText: text(330, i),
      info: { task_index: { taskset_id: 0, index: i } },
      metrics: { accuracy: i % 2 },
    }),
  )
}

export async function run(options = []) {
  const option = (name) => options.find((given) => given.startsWith(`--${name}=`))?.slice(name.length + 3)
  const count = Number(option('count') ?? 100_000)
  const code = mkdtempSync(fileURLToPath(new URL('../node_modules/.trinity-bench-', import.meta.url)))
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  try {
    await measure(await loadSources(code, SOURCES), folder, count, option('postgres'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(code, { recursive: true, force: true })
  }
}

async function measure({ openBuffer, createExperience, encodeExperiences }, folder, count, postgres) {
  const pool = makeExperiences(createExperience, 1000)
  const batches = Array.from({ length: pool.length / BATCH }, (_, i) => pool.slice(i * BATCH, (i + 1) * BATCH))
  const encoded = batches.map((batch) => Buffer.from(encodeExperiences(batch)))
  const open = (storage_type, path) => openBuffer({ name: 'bench', storage_type, path, capacity: 10 * count })
  const kinds = {
    'plain file': plainFile(join(folder, 'plain.bin'), encoded),
    'queue (memory)': await open('queue'),
    'queue (JSONL)': await open('queue', join(folder, 'queue.jsonl')),
    'queue (SQLite)': await open('queue', `sqlite:///${folder}/queue.db`),
    'sql (SQLite)': await open('sql', `sqlite:///${folder}/sql.db`),
    'file (JSONL)': await open('file', join(folder, 'file.jsonl')),
    ...(postgres && { 'sql (PostgreSQL)': await open('sql', postgres) }),
  }
  const files = { 'plain file': 'plain.bin', 'queue (JSONL)': 'queue.jsonl', 'queue (SQLite)': 'queue.db' }
  Object.assign(files, { 'sql (SQLite)': 'sql.db', 'file (JSONL)': 'file.jsonl' })
  const perChunk = Math.ceil(count / CHUNKS / BATCH)
  const puts = await turns(kinds, async (buffer) => {
    for (let i = 0; i < perChunk; i++) await buffer.put(batches[i % batches.length])
  })
  const takes = await turns(kinds, async (buffer) => {
    for (let i = 0; i < perChunk; i++) {
      const taken = await buffer.take(BATCH)
      if (taken.length !== BATCH) throw new Error(`asked for ${BATCH}, got ${taken.length}`)
    }
  })
  const total = CHUNKS * perChunk * BATCH
  const rate = (times) => Math.round((perChunk * BATCH * 1000) / median(times))
  const against = (times, base) => format(median(times.map((ms, i) => ms / base[i])))
  const rows = Object.keys(kinds).map((kind) => ({
    kind,
    'put/s': rate(puts[kind]),
    '× plain': against(puts[kind], puts['plain file']),
    'take/s': rate(takes[kind]),
    '× read': against(takes[kind], takes['plain file']),
    'bytes each': files[kind] ? Math.round(size(folder, files[kind]) / total) : '',
  }))
  console.log(`${total} experiences in batches of ${BATCH}; medians of ${CHUNKS} interleaved parts`)
  printTable(rows)
  for (const buffer of Object.values(kinds)) await buffer.close()
}

/** Every kind does the same part of the work before any goes on, in an order that turns. */
async function turns(kinds, work) {
  const names = Object.keys(kinds)
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + chunk) % names.length]
      const begun = performance.now()
      await work(kinds[name])
      times[name].push(performance.now() - begun)
    }
  }
  return times
}

/** The same bytes without any buffer: appended, and read back in the same pieces. */
function plainFile(path, encoded) {
  const file = openSync(path, 'a+')
  let [next, at, turn] = [0, 0, 0]
  return {
    put: async () => writeSync(file, encoded[next++ % encoded.length]),
    take: async (length) => {
      const bytes = Buffer.allocUnsafe(encoded[turn++ % encoded.length].length)
      at += readSync(file, bytes, 0, bytes.length, at)
      return { length }
    },
    close: async () => {},
  }
}

/** With what a database keeps beside its file. */
function size(folder, name) {
  const parts = readdirSync(folder).filter((file) => file.startsWith(name))
  return parts.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
}
