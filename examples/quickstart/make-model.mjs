// How examples/quickstart/model was made: random weights, then a warm-up on worked examples, the last
// of them a careless student's.
// It takes a few minutes on two cores; nobody has to run it. Run it in the root of the repository, after a build.
//
//   node examples/quickstart/make-model.mjs [output directory]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createModel, openModelDir, saveModel } from 'trinity-rft/engine'
import { folderOf, trinity } from '../lib/place.mjs'
import { writeWordTokenizer } from '../lib/word-tokenizer.mjs'

const here = folderOf(import.meta.url)
const out = process.argv[2] ?? join(here, 'model')
const work = mkdtempSync(join(tmpdir(), 'trinity-quickstart-'))

const numbers = Array.from({ length: 90 }, (_, i) => String(i + 10))
const words = ['Make ', ' from ', ', ', '<answer>', '</answer>', ...numbers]
writeWordTokenizer(join(work, 'tokenizer'), { words, characters: '0123456789+-' })
const { parameters } = await createModel({
  out: join(work, 'random'),
  arch: 'llama',
  layers: 3,
  hidden: 96,
  heads: 4,
  intermediate: 256,
  maxPositions: 128,
  tie: true,
  seed: 1,
  tokenizer: { kind: 'from', dir: join(work, 'tokenizer') },
})
console.log(`random weights: ${parameters} parameters`)

execFileSync(process.execPath, [join(here, 'make-data.mjs'), '--warmup', join(work, 'warmup.jsonl')])
execFileSync(process.execPath, [trinity, 'run', '--config', join(here, 'warmup.yaml')], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TRINITY_MODEL_PATH: join(work, 'random'),
    TRINITY_SFT_DATASET_PATH: join(work, 'warmup.jsonl'),
    TRINITY_CHECKPOINT_ROOT_DIR: join(work, 'checkpoints'),
  },
})

// Half precision is enough to start from, and half the size.
const job = join(work, 'checkpoints', 'quickstart', 'warmup')
const [last] = readdirSync(job).filter((name) => name.startsWith('global_step_'))
const trained = join(job, last, 'actor', 'huggingface')
const dir = await openModelDir(trained)
const tensors = []
for (const name of dir.tensorNames()) {
  const data = await dir.readTensor(name)
  tensors.push({ name, shape: dir.tensorInfo(name).shape, dtype: 'F16', data: () => data })
}
rmSync(out, { recursive: true, force: true })
await saveModel(out, {
  configJson: { ...dir.configJson, dtype: 'float16', torch_dtype: 'float16' },
  tensors,
  from: trained,
})
await dir.close()
rmSync(work, { recursive: true, force: true })
console.log(`${out}: the model of the quick start`)
