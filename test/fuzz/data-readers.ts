import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import Libsql from 'libsql'
import { reading } from '../../src/base/file/system-error.js'
import { ExperienceView, openBuffer } from '../../src/buffer/index.js'
import { readConfig, resolveConfig } from '../../src/config/index.js'
import { createExperience } from '../../src/experience/create.js'
import { toJsonLine } from '../../src/experience/jsonl.js'
import { importVerlText } from '../../src/import-verl/import.js'
import { openDataset, type RowSource } from '../../src/task/index.js'
import { SqlSource } from '../../src/task/source/sql.js'
import { catalog, facts } from '../config-kit.js'
import type { Form } from './mutate.js'
import type { FileReader } from './run-files.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const values = (name: string) => here(`../../src/task/source/fixture/values/${name}`)

/** Rows as task sets have them: texts, numbers, nested messages, empty values. */
const ROWS = [
  { id: 1, question: 'What is 1 + 1?', answer: '2', score: 0.5, messages: [{ role: 'user', content: 'hi' }] },
  { id: 2, question: 'naïve 🙂 "quoted", \\ and\nlines', answer: '', score: -1e-3, messages: [] },
  { id: 9007199254740993n, question: 'big', answer: null, score: 1e300, messages: [{ role: 'tool', content: null }] },
].map((row) => ({ ...row, id: String(row.id) }))

/** Reads rows of a source from both ends: in order, and by position. */
async function readRows(source: RowSource): Promise<void> {
  try {
    let count = 0
    for await (const _ of source.scan()) if (++count > 1000) break
    for (let row = 0; row < Math.min(5, source.length); row++) await source.row(row)
    await source.where(source.length - 1)
  } finally {
    await source.close()
  }
}

const readDataset = async (path: string): Promise<void> => readRows(await openDataset({ path }))

function dataFile(name: string, content: string | Uint8Array | (() => Promise<Uint8Array>), form: Form): FileReader {
  return {
    name,
    sample: async (dir) => writeFile(join(dir, name), typeof content === 'function' ? await content() : content),
    forms: [[/./, form]],
    read: (dir) => readDataset(join(dir, name)),
  }
}

const JSON_LINES = ROWS.map((row) => `${JSON.stringify(row)}\n`).join('')
const CSV = 'id,question,answer\n1,"a ""quoted"" one, with\nlines",2\n2,naïve,\n3,"",4\n'
const COLUMNAR = [
  'values.parquet',
  'lz4.parquet',
  'values.feather',
  'lz4.feather',
  'zstd.feather',
  'grown.arrow',
  'replaced.arrow',
]

const CONFIG = `
project: p
name: \${oc.env:NAME,job}
mode: both
checkpoint_root_dir: ./checkpoints
extends: base.yaml
algorithm: {algorithm_type: grpo, repeat_times: 8, optimizer: {lr: 1.0e-6}}
model: &model
  model_path: ./model
  max_prompt_tokens: 24
  max_response_tokens: 6
stages:
  - stage_name: warmup
    mode: train
    buffer: {trainer_input: {experience_buffer: {name: sft, path: sft.jsonl, storage_type: file}}}
  - stage_name: rl
    mode: both
monitor: {monitor_type: jsonl, monitor_args: {}}
`
const BASE_CONFIG = `
buffer:
  batch_size: 2
  total_epochs: 2
  explorer_input:
    taskset: {path: tasks.jsonl, default_workflow_type: math_workflow, format: {prompt_key: q, response_key: a}}
    eval_tasksets: []
explorer: {eval_interval: 3, runner_per_model: 4, rollout_model: {engine_type: native, engine_num: 1}}
synchronizer: {sync_method: checkpoint, sync_interval: 2, sync_timeout: 1200}
trainer: {save_interval: 4, total_steps: 10}
`
const VERL = `
data: {train_files: [a.parquet], val_files: b.parquet, train_batch_size: 256, max_prompt_length: 512}
actor_rollout_ref:
  model: {path: Qwen/Qwen2.5-0.5B-Instruct}
  actor:
    optim: {lr: 1e-6}
    ppo_mini_batch_size: \${data.train_batch_size}
  rollout: {name: vllm, n: 8, temperature: 1.0, tensor_model_parallel_size: 2}
algorithm: {adv_estimator: grpo, kl_ctrl: {kl_coef: 0.001}}
trainer: {nnodes: 1, n_gpus_per_node: 8, total_epochs: 2, logger: [console, wandb], project_name: p}
`

const experience = (task: number) =>
  createExperience({
    eid: { batch: 1, task, run: 0, step: 0, suffix: 'abcdef' },
    tokens: [1, 2, 3, task],
    promptLength: 2,
    reward: 0.5,
    logprobs: [-0.5, -1],
    promptText: 'What is 1 + 1?',
    responseText: 'Two.',
    messages: [{ role: 'user', content: 'hi' }],
    metrics: { a: 1 },
    info: { b: ['c'] },
  })

async function takeAll(place: { storage_type: string; path: string }): Promise<void> {
  const buffer = await openBuffer({ name: 'b', max_read_timeout: 0.05, ...place })
  try {
    await buffer.take(3)
  } finally {
    await buffer.close()
  }
}

/** Readers of data sets, configurations, experiences and launch scripts. */
export const DATA_READERS: readonly FileReader[] = [
  dataFile('rows.jsonl', JSON_LINES, 'json lines'),
  dataFile('rows.json', JSON.stringify(ROWS), 'json'),
  dataFile('rows.csv', CSV, 'text'),
  dataFile('rows.tsv', CSV.replaceAll(',', '\t'), 'text'),
  dataFile('rows.jsonl.gz', gzipSync(JSON_LINES), 'binary'),
  ...COLUMNAR.map((name) => dataFile(name, () => readFile(values(name)), 'binary')),
  {
    name: 'saved data set',
    sample: (dir) => cp(here('../../src/task/source/fixture/saved'), dir, { recursive: true }),
    forms: [
      [/\.json$/, 'json'],
      [/\.arrow$/, 'binary'],
    ],
    read: readDataset,
  },
  {
    name: 'data card',
    sample: async (dir) => {
      const card = `---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: train*.jsonl\n  - split: test\n    path: [test.jsonl]\n  default: true\n---\n# Rows\n`
      await writeFile(join(dir, 'README.md'), card)
      for (const name of ['train-0.jsonl', 'test.jsonl']) await writeFile(join(dir, name), JSON_LINES)
    },
    forms: [[/README/, 'text']],
    read: readDataset,
  },
  {
    name: 'SQL task set',
    sample: async (dir) => {
      const db = new Libsql(join(dir, 'tasks.db'))
      db.exec('CREATE TABLE tasks (id INTEGER PRIMARY KEY, raw_task TEXT)')
      for (const row of ROWS) db.prepare('INSERT INTO tasks (raw_task) VALUES (?)').run(JSON.stringify(row))
      db.close()
    },
    forms: [[/tasks\.db$/, 'database']],
    read: async (dir) => readRows(await SqlSource.open(`sqlite:///${join(dir, 'tasks.db')}`, 'tasks')),
    writes: true,
  },
  {
    name: 'configuration',
    sample: async (dir) => {
      await writeFile(join(dir, 'job.yaml'), CONFIG)
      await writeFile(join(dir, 'base.yaml'), BASE_CONFIG)
    },
    forms: [[/\.yaml$/, 'text']],
    read: async (dir) => {
      resolveConfig(readConfig('job.yaml', { cwd: dir, env: {} }), facts({ cwd: dir }), catalog)
    },
  },
  ...['dynamic-sampling.sh', 'reward-model.sh', 'verl.yaml'].map(
    (name): FileReader => ({
      name: `veRL ${name}`,
      sample: (dir) =>
        name === 'verl.yaml'
          ? writeFile(join(dir, name), VERL)
          : cp(here(`../../src/import-verl/fixtures/${name}`), join(dir, name)),
      forms: [[/./, 'text']],
      read: async (dir) => importVerlText(await reading(readFile(join(dir, name), 'utf8'), dir), { name }),
    }),
  ),
  {
    name: 'experience file',
    sample: (dir) =>
      writeFile(join(dir, 'b.jsonl'), [1, 2, 3].map((task) => `${toJsonLine(experience(task))}\n`).join('')),
    forms: [[/./, 'json lines']],
    read: (dir) => takeAll({ storage_type: 'file', path: join(dir, 'b.jsonl') }),
    // A last line that was cut off is removed.
    writes: true,
  },
  {
    name: 'experience database',
    sample: async (dir) => {
      const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path: `sqlite:///${join(dir, 'b.db')}` })
      await buffer.put([1, 2, 3].map(experience))
      await buffer.close()
    },
    forms: [[/b\.db$/, 'database']],
    read: async (dir) => {
      const path = `sqlite:///${join(dir, 'b.db')}`
      const view = await ExperienceView.open(path)
      try {
        for (const table of await view.tables()) await view.query(table)
      } finally {
        await view.close()
      }
      await takeAll({ storage_type: 'sql', path })
    },
    writes: true,
  },
]
