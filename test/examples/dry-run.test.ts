import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { trinity } from '../run/cli-kit.js'
import { exampleFiles, PLUGINS, root } from './kit.js'

/** Files that are told where things are by the environment. */
const environment: Record<string, string[]> = {
  'quickstart/warmup.yaml': ['model.model_path=examples/quickstart/model', 'checkpoint_root_dir=./checkpoints'],
}

describe('every example', { timeout: 60_000 }, () => {
  it('has a line in examples/README.md', () => {
    const page = readFileSync(join(root, 'examples/README.md'), 'utf8')
    for (const file of exampleFiles()) expect(page, file).toContain(file)
  })

  it.each(exampleFiles())('%s passes a dry run', async (file) => {
    process.env.TRINITY_SFT_DATASET_PATH ??= join(root, 'examples/offline/answers.jsonl')
    process.env.TRINITY_MODEL_PATH ??= join(root, 'examples/quickstart/model')
    const set = (environment[file] ?? []).flatMap((pair) => ['--set', pair])
    const ended = await trinity(root, ['run', '-c', `examples/${file}`, '--plugin-dir', PLUGINS, '--dry-run', ...set])
    expect(ended.stderr + ended.stdout).toContain('Nothing was run')
    expect(ended.code).toBe(0)
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
