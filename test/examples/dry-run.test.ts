import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { cli, trinity } from '../run/cli-kit.js'
import { exampleFiles, PLUGINS, root } from './kit.js'

const FIXTURE = join(import.meta.dirname, 'dry-runs.fixture.mjs')

/** Files that are told where things are by the environment. */
const environment: Record<string, string[]> = {
  'quickstart/warmup.yaml': ['model.model_path=examples/quickstart/model', 'checkpoint_root_dir=./checkpoints'],
}

describe('every example', { timeout: 60_000 }, () => {
  it('has a line in examples/README.md', () => {
    const page = readFileSync(join(root, 'examples/README.md'), 'utf8')
    for (const file of exampleFiles()) expect(page, file).toContain(file)
  })

  it('passes a dry run', () => {
    const argsOf = (file: string) => {
      const set = (environment[file] ?? []).flatMap((pair) => ['--set', pair])
      return ['run', '-c', `examples/${file}`, '--plugin-dir', PLUGINS, '--dry-run', ...set]
    }
    const lines = execFileSync(process.execPath, [FIXTURE, join(dirname(cli), 'program.js')], {
      cwd: root,
      encoding: 'utf8',
      input: JSON.stringify(exampleFiles().map(argsOf)),
      env: {
        TRINITY_SFT_DATASET_PATH: join(root, 'examples/offline/answers.jsonl'),
        TRINITY_MODEL_PATH: join(root, 'examples/quickstart/model'),
        ...process.env,
      },
    })
      .trim()
      .split('\n')
    for (const [i, file] of exampleFiles().entries()) {
      const { code, text } = JSON.parse(lines[i]) as { code: number; text: string }
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
