import { basename } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { Answers } from './answers.js'
import { besides } from './besides.js'
import { columnsOf } from './columns.js'
import { checkRows, type DataFile, readDataFile } from './data-file.js'
import { modelLength, modelPath } from './model-path.js'
import { readme } from './readme.js'

/** A file of a project: what it holds, or the file or folder of this package that it is a copy of. */
export type ProjectFile = { readonly path: string } & ({ readonly text: string } | { readonly from: string })

export interface ProjectPlace {
  readonly dir: string
  /** How the project asks for this package. */
  readonly dependency: string
}

/**
 * Packages of an SDK, at the versions that its agent was tried with. Packages that name each other as peers are held to these:
 * a newer one may ask for a version of another that is not out yet, and then npm installs none of them.
 */
const PACKAGES: Readonly<Record<Answers['sdk'], Readonly<Record<string, string>>>> = {
  none: {},
  openai: { openai: '^7.53.0' },
  'ai-sdk': { ai: '~7.0.170', '@ai-sdk/openai-compatible': '~3.0.90' },
  'openai-agents': { '@openai/agents': '^0.20.0', zod: '^4.0.0' },
  anthropic: { '@anthropic-ai/sdk': '^1.8.0' },
  // 1.4.18 and later want a core that the registry does not have
  langgraph: { '@langchain/core': '~1.2.13', '@langchain/langgraph': '1.4.17', '@langchain/openai': '~1.4.7' },
  mastra: { '@mastra/core': '^1.71.0' },
}

/** Rows of an evaluation: fewer say little, more take long. */
const LEAST_HELD_OUT = 10
const MOST_HELD_OUT = 200

/** The files of a small project that trains at once. */
export async function projectFiles(answers: Answers, { dir, dependency }: ProjectPlace): Promise<ProjectFile[]> {
  const { have, sdk, where, data, model } = answers
  if (model === undefined && (where === 'gpu' || data !== undefined)) {
    throw new TrinityError('init/model', 'the small model that comes with a project can only do sums', {
      path: '--model',
      hint: `${where === 'gpu' ? 'for training on a GPU' : 'for your own data'}, choose a model that can already answer some of the questions: --model DIR, or an id on a hub`,
    })
  }
  if (have === 'data' && data === undefined) {
    throw new TrinityError('init/data', '--have data needs a file with questions and answers', {
      path: '--data',
      hint: 'add --data FILE (.jsonl, .csv, .parquet, …), or leave out --have data to start with sums',
    })
  }
  if (have === 'data' && sdk !== 'none') {
    const hint = 'leave out --sdk, or say --have agent'
    throw new TrinityError('init/answer', 'a data project does not use an SDK', { path: '--sdk', hint })
  }
  if (data === undefined && (answers.promptKey ?? answers.responseKey) !== undefined) {
    throw new TrinityError('init/data', '--prompt-key and --response-key only work with --data', { path: '--data' })
  }
  const file = data === undefined ? undefined : await readDataFile(data)
  const name =
    basename(dir)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replaceAll(/^[._-]+|-+$/g, '') || 'project'
  const plugin = have === 'data' ? 'reward.ts' : 'agent.ts'
  const graded = data === undefined ? 'countdown' : 'text'
  const manifest = {
    name,
    private: true,
    type: 'module',
    scripts: {
      train: `trinity run -c trinity.yaml --plugin-dir ${plugin}`,
      check: `trinity config check trinity.yaml --plugin-dir ${plugin}`,
      test: 'node --import tsx --test grade.test.ts',
      chat: 'trinity chat trinity.yaml',
    },
    dependencies: { ...PACKAGES[sdk], 'trinity-rft': dependency },
    devDependencies: { '@types/node': '^20.0.0', tsx: '^4.20.0', typescript: '^5.9.0' },
  }
  return [
    { path: 'package.json', text: `${JSON.stringify(manifest, null, 2)}\n` },
    { path: 'README.md', text: readme(name, answers) },
    { path: 'tsconfig.json', from: 'templates/project/tsconfig.json' },
    { path: '.gitignore', from: 'templates/project/gitignore' },
    { path: 'trinity.yaml', text: await yaml(answers, name, dir, file) },
    { path: 'grade.ts', from: `templates/${graded}/grade.ts` },
    { path: 'grade.test.ts', from: `templates/${graded}/grade.test.ts` },
    have === 'data'
      ? { path: plugin, from: 'templates/data/reward.ts' }
      : { path: plugin, from: `templates/agent/${sdk}.ts` },
    ...(data === undefined ? [{ path: 'tasks', from: 'examples/quickstart/countdown' }] : []),
    ...(model === undefined ? [{ path: 'model', from: 'examples/quickstart/model' }] : []),
  ]
}

async function yaml(answers: Answers, name: string, dir: string, file?: DataFile): Promise<string> {
  const { have, model } = answers
  const path = `path: ${JSON.stringify(file ? besides(dir, file.path, '--data') : '${config.dir:tasks}')}`
  // an agent gets rows as they are
  const format = have === 'data' && file ? `, ${formatOf(answers, file)}` : ''
  const held = file ? heldOut(file.length) : { train: undefined, test: 'test' }
  const split = (name: string | undefined) => (name === undefined ? '' : `, split: ${word(name)}`)
  const lines = [
    `project: ${JSON.stringify(name)}`,
    'name: solve',
    'checkpoint_root_dir: ./checkpoints',
    'algorithm:',
    ...(have === 'data'
      ? ['  algorithm_type: grpo']
      : ['  algorithm_type: multi_step_grpo # conversations of several calls too', '  sample_strategy: whole_step']),
    '  repeat_times: 8 # answers to each task, which are compared',
    '  kl_loss_fn: none',
    `  optimizer: { lr: ${model === undefined ? '2e-4' : '1e-5'} }`,
    'model:',
    `  model_path: ${model === undefined ? `\${config.dir:model}` : JSON.stringify(modelPath(model, dir))}`,
    `  max_model_len: ${model === undefined ? 64 : await modelLength(model)}`,
    'buffer:',
    `  batch_size: ${model === undefined ? 16 : 8} # tasks in a step`,
    '  total_steps: 100',
    '  explorer_input:',
    `    default_workflow_type: ${have === 'data' ? 'simple_workflow' : 'solve # agent.ts'}`,
    ...(have === 'data' ? ['    default_reward_fn_type: grade # reward.ts'] : []),
    `    taskset: { ${path}${split(held?.train)}${format} }`,
    ...(held ? [`    eval_tasksets: [{ name: held-out, ${path}${split(held.test)}${format} }]`] : []),
    ...(held ? ['explorer: { eval_interval: 25 }'] : []),
  ]
  return `${lines.join('\n')}\n`
}

/** The last tenth of a file is not trained on, to see what was learned; of a short file that would be too few to tell. */
function heldOut(length: number): { train: string; test: string } | undefined {
  const rows = Math.min(Math.floor(length / 10), MOST_HELD_OUT)
  return rows < LEAST_HELD_OUT ? undefined : { train: `train[:-${rows}]`, test: `train[-${rows}:]` }
}

function formatOf({ promptKey, responseKey }: Answers, file: DataFile): string {
  const columns = columnsOf(file, { prompt: promptKey, response: responseKey })
  checkRows(file, columns)
  return `format: { prompt_key: ${word(columns.prompt)}, response_key: ${word(columns.response)} }`
}

/** As YAML reads it: as text. */
function word(text: string): string {
  return /^[a-z_]\w*$/i.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text) ? text : JSON.stringify(text)
}
