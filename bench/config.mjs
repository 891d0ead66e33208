// What checking a configuration of 300 lines costs: cold, as a command does it, against Node itself; and warm, by part.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { interleave, printTable, ratioRows, runOnce } from './lib.mjs'

export const title = 'Configuration'
export const about = 'load, check and resolve a file of 300 lines, against node -e 0'
export const quick = true

const dist = fileURLToPath(new URL('../dist/', import.meta.url))

/** An ordinary file made long: 22 evaluation sets, as studies have them. */
export function longConfig(lines = 300) {
  const text = [
    'project: bench',
    'name: long',
    'algorithm: {algorithm_type: grpo, repeat_times: 8, optimizer: {lr: 1e-6}}',
    'model:',
    '  model_path: ${oc.env:NO_SUCH_VARIABLE,Qwen/Qwen2.5-1.5B-Instruct}',
    '  max_response_tokens: 1024',
    '  max_model_len: 2048',
    'cluster: {node_num: 1, gpu_per_node: 8}',
    'explorer: {runner_per_model: 16, rollout_model: {engine_num: 2}}',
    'buffer:',
    '  batch_size: 96',
    '  explorer_input:',
    '    default_workflow_type: math_workflow',
    '    taskset: {name: train, path: openai/gsm8k, format: {prompt_key: question, response_key: answer}}',
    '    eval_tasksets:',
  ]
  for (let i = 0; text.length < lines; i++) {
    text.push(
      `      - name: eval_${i}`,
      '        storage_type: file',
      `        path: data/set_${i}`,
      '        split: test',
      '        repeat_times: 4',
      '        format:',
      '          prompt_key: question',
      '          response_key: answer',
      '          system_prompt: "Think step by step, then answer."',
      '        rollout_args:',
      '          temperature: 0.4',
      '          max_tokens: ${model.max_response_tokens}',
      '        default_reward_fn_type: math_reward',
    )
  }
  return `${text.slice(0, lines).join('\n')}\n`
}

export async function run() {
  if (!existsSync(join(dist, 'config', 'index.js'))) throw new Error('dist/ is not built: npm run build')
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  try {
    const file = join(folder, 'long.yaml')
    writeFileSync(file, longConfig())
    await cold(folder, file)
    await warm(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function cold(folder, file) {
  const script = (name, text) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, text)
    return path
  }
  const from = (module) => JSON.stringify(pathToFileURL(join(dist, module)).href)
  const node = (...args) => runOnce(process.execPath, args)
  const keys = script('keys', `await import(${from('config/section/config.js')})`)
  const load = script(
    'load',
    `const { loadConfig } = await import(${from('config/load.js')}); loadConfig(${JSON.stringify(file)})`,
  )
  const results = await interleave(
    {
      'node -e 0': () => node('-e', '0'),
      'import every key': () => node(keys),
      'import, load and check': () => node(load),
      'trinity config check': () => node(join(dist, 'cli', 'main.js'), 'config', 'check', file),
    },
    { rounds: 15 },
  )
  printTable(ratioRows(results, 'node -e 0', { 'import every key': 1.5 }))
}

async function warm(file) {
  const { loadCatalog, loadConfig, machineFacts, printConfig, resolveConfig } = await import(
    pathToFileURL(join(dist, 'config', 'index.js')).href
  )
  const { parseYaml } = await import(pathToFileURL(join(dist, 'config', 'yaml.js')).href)
  const { readFileSync } = await import('node:fs')
  const text = readFileSync(file, 'utf8')
  const catalog = await loadCatalog()
  const facts = machineFacts()
  const resolved = resolveConfig(loadConfig(file), facts, catalog).stages[0].config
  const results = await interleave(
    {
      'read YAML': () => parseYaml(text, file),
      'read, check': () => loadConfig(file),
      'read, check, resolve': () => resolveConfig(loadConfig(file), facts, catalog),
      print: () => printConfig(resolved),
    },
    { rounds: 31, warmup: 5 },
  )
  console.log('')
  printTable(ratioRows(results, 'read YAML'))
}
