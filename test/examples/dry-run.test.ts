import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { trinity } from '../run/cli-kit.js'
import { dryRuns, exampleFiles, PLUGINS, root } from './kit.js'

/** r3l.gate.test.ts has all files of the study. */
const files = exampleFiles().filter((file) => !/^R3L\/\w+\/.*B\.yaml$/.test(file) || file.endsWith('/opmd_R3L_7B.yaml'))

/** Files that are told where things are by the environment, or have their workflow from a plugin with packages of its own. */
const environment: Record<string, string[]> = {
  'agents/headline/headline.yaml': ['buffer.explorer_input.default_workflow_type=synthetic_workflow'],
  'quickstart/warmup.yaml': ['model.model_path=examples/quickstart/model', 'checkpoint_root_dir=./checkpoints'],
}

/** Where files have their plugins, if not with the others. */
const plugins: Record<string, string> = { 'smollm_tasks/sorting.yaml': join(root, 'examples/smollm_tasks/code') }

const dir = mkdtempSync(join(tmpdir(), 'trinity-long-model-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** In place of the large models that examples are for: a dry run reads how long their sequences may be. */
function longModel(): string {
  const config = JSON.parse(readFileSync(join(root, 'examples/quickstart/model/config.json'), 'utf8'))
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...config, max_position_embeddings: 131_072 }))
  return dir
}

describe('every example', { timeout: 60_000 }, () => {
  it('has a line in examples/README.md', () => {
    const page = readFileSync(join(root, 'examples/README.md'), 'utf8')
    // files that a script makes have one together
    const told = (file: string) => page.includes(file) || page.includes(`${dirname(file)}/*.yaml`)
    expect(exampleFiles().filter((file) => !told(file))).toEqual([])
  })

  it('passes a dry run', () => {
    const argsOf = (file: string) => {
      const set = (environment[file] ?? []).flatMap((pair) => ['--set', pair])
      return ['run', '-c', `examples/${file}`, '--plugin-dir', plugins[file] ?? PLUGINS, '--dry-run', ...set]
    }
    const ended = dryRuns(files.map(argsOf), {
      TRINITY_SFT_DATASET_PATH: join(root, 'examples/offline/answers.jsonl'),
      TRINITY_MODEL_PATH: longModel(),
    })
    for (const [i, file] of files.entries()) {
      const { code, text } = ended[i]
      expect(text, file).toContain('Nothing was run')
      expect(code, file).toBe(0)
    }
  })

  it('finds its data and its model from any folder', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'trinity-elsewhere-'))
    try {
      const file = join(root, 'examples/quickstart/quickstart.yaml')
      const ended = await trinity(elsewhere, ['run', '-c', file, '--dry-run'])
      expect(ended.stdout).toContain('4000 rows')
      const { model_path } = (parse(ended.stdout) as { model: { model_path: string } }).model
      expect(existsSync(resolve(elsewhere, model_path))).toBe(true)
    } finally {
      rmSync(elsewhere, { recursive: true, force: true })
    }
  })

  it('plugins are short', () => {
    for (const name of ['soft_clip.ts', 'second_chance.ts', 'guess_number.ts']) {
      expect(readFileSync(join(PLUGINS, name), 'utf8').split('\n').length, name).toBeLessThanOrEqual(40)
    }
  })
})
