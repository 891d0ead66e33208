// Makes the model of sweep.yaml, into examples/R3L/small/countdown/made: the quick start's, with a few more words, taught
// what a second attempt, a report and a hint look like (teach.yaml). A minute or two on two cores. Run it in the root of the
// repository, after a build.
//
//   node examples/R3L/small/countdown/make.mjs
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pcg64 } from 'trinity-rft'
import { openModelDir, saveModel } from 'trinity-rft/engine'
import { folderOf, trinity } from '../../../lib/place.mjs'

const here = folderOf(import.meta.url)
const root = join(here, '../../../..')
const base = join(root, 'examples/quickstart/model')
const made = join(here, 'made')
const LESSONS = 40_000
const TEST = 200
/** How often the student puts the right signs; otherwise it guesses them. */
const CARE = 0.2

const HEADING = '## Previous Attempt Analysis & Guidance\n\n'
const REPORT = {
  begin: '{"trajectory_summary": "tried ',
  and: ' and ',
  advice: '", "root_cause_analysis": "wrong signs", "trajectory_outcome": "failure", "improvement_suggestion": "',
  end: '", "retry_from_step": 0}',
}
/** One token each: what is said again and again. */
const PHRASES = [
  HEADING,
  'try ',
  '\n\n',
  'Reflect.\n0: ',
  '\n1: ',
  '\n2: ',
  '\n',
  '\nFailure',
  ...Object.values(REPORT),
]

/** The tokenizer and the weights of the quick start, with a row for each phrase. */
async function withPhrases(out) {
  const dir = await openModelDir(base)
  const rows = dir.configJson.vocab_size + PHRASES.length
  const random = new Pcg64(1)
  const tensors = []
  for (const name of dir.tensorNames()) {
    const { shape } = dir.tensorInfo(name)
    const data = await dir.readTensor(name)
    if (name !== 'model.embed_tokens.weight') tensors.push({ name, shape, dtype: 'F32', data: () => data })
    else {
      const longer = new Float32Array(rows * shape[1]).map(() => 0.04 * (random.random() - 0.5))
      longer.set(data)
      tensors.push({ name, shape: [rows, shape[1]], dtype: 'F32', data: () => longer })
    }
  }
  const configJson = {
    ...dir.configJson,
    vocab_size: rows,
    max_position_embeddings: 256,
    dtype: 'float32',
    torch_dtype: 'float32',
  }
  await saveModel(out, { configJson, tensors, from: base })
  await dir.close()
  const file = join(out, 'tokenizer.json')
  const tokenizer = JSON.parse(readFileSync(file, 'utf8'))
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: false }
  const first = Object.keys(tokenizer.model.vocab).length
  PHRASES.forEach((content, i) => void tokenizer.added_tokens.push({ id: first + i, content, ...plain }))
  writeFileSync(file, `${JSON.stringify(tokenizer, null, 2)}\n`)
}

/** All ways to put signs between three numbers. */
const ways = ([a, b, c]) => ['+', '-'].flatMap((p) => ['+', '-'].map((q) => `${a}${p}${b}${q}${c}`))
const worth = (expression) =>
  [...expression.matchAll(/([+-]?)(\d+)/g)].reduce((sum, [, sign, digits]) => sum + Number(`${sign}${digits}`), 0)
const tagged = (expression) => `<answer>${expression}</answer>`
const user = (content) => ({ role: 'user', content })
const assistant = (content) => ({ role: 'assistant', content })

/** What is to be imitated: conversations of a careless student, reports on them, and the use of a hint. */
function lessons(puzzles) {
  const random = new Pcg64(2)
  const one = (list) => list[random.below(list.length - 1)]
  const attempts = (all, target, first) => {
    const tried = []
    for (let i = 0; i < 3 && !tried.some((way) => worth(way) === target); i++) {
      const right = all.filter((way) => worth(way) === target)
      tried.push(i === 0 && first ? first : one(random.random() < CARE ? right : all))
    }
    return tried
  }
  const conversation = (question, tried, hint = '') =>
    tried.flatMap((way, i) => [user(i === 0 ? hint + question : question), assistant(tagged(way))])
  return Array.from({ length: LESSONS }, (_, i) => {
    const { question, answer } = puzzles[i % puzzles.length]
    const { numbers, target } = answer
    const all = ways(numbers)
    const tried = attempts(all, target)
    if (i % 3 === 0) return { messages: conversation(question, tried) }
    const failed = tried.filter((way) => worth(way) !== target)
    const other = one(all.filter((way) => !failed.includes(way)))
    if (i % 3 === 1 || failed.length === 0) {
      const hint = `${HEADING}try ${other}\n\n`
      return { messages: conversation(question, attempts(all, target, other), hint) }
    }
    const shown = failed.map((way, step) => `${step}: ${question}\n${tagged(way)}`)
    const report = `${REPORT.begin}${failed.join(REPORT.and)}${REPORT.advice}try ${other}${REPORT.end}`
    return { messages: [user(['Reflect.', ...shown, 'Failure'].join('\n')), assistant(report)] }
  })
}

rmSync(made, { recursive: true, force: true })
mkdirSync(made, { recursive: true })
await withPhrases(join(made, 'words'))
const puzzles = (split) =>
  readFileSync(join(root, `examples/quickstart/countdown/${split}.jsonl`), 'utf8')
    .trim()
    .split('\n')
const rows = lessons(puzzles('train').map((line) => JSON.parse(line)))
writeFileSync(join(made, 'lessons.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
// enough to tell arms apart, and evaluated in seconds
writeFileSync(join(made, 'test.jsonl'), `${puzzles('test').slice(0, TEST).join('\n')}\n`)
execFileSync(process.execPath, [trinity, 'run', '-c', join(here, 'teach.yaml')], {
  stdio: 'inherit',
  env: { ...process.env, TRINITY_CHECKPOINT_ROOT_DIR: join(made, 'checkpoints') },
})
const job = join(made, 'checkpoints/r3l_countdown/teach')
const [last] = readdirSync(job).filter((name) => name.startsWith('global_step_'))
renameSync(join(job, last, 'actor/huggingface'), join(made, 'model'))
rmSync(join(made, 'checkpoints'), { recursive: true })
console.log(`${join(made, 'model')}: the model that all arms start from`)
