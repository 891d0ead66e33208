import type { ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ended, trinity } from './cli-kit.js'

/** A run of the kill test's bench whose 40th rollout does something; `seen` is told what the run prints. */
export async function blockedRun(
  dir: string,
  name: string,
  deed: string,
  keys: readonly string[] = [],
  seen?: (text: string, child: ChildProcess) => void,
): Promise<Ended & { plugin: string; job: string }> {
  const folder = join(dir, `plugins of ${name}`)
  mkdirSync(folder)
  const plugin = join(folder, 'count.mjs')
  const source = readFileSync(join(dir, 'plugins', 'count.mjs'), 'utf8')
  const changed = source.replace('const experiences', `if (++globalThis.calls === 40) { ${deed} }\n  const experiences`)
  writeFileSync(plugin, `${changed}\nglobalThis.calls = 0\n`)
  const out = join(dir, name)
  const all = [`checkpoint_root_dir=${out}`, 'trainer.save_interval=1000', ...keys]
  const set = all.flatMap((key) => ['--set', key])
  const ended = await trinity(dir, ['run', '-c', 'offset0.yaml', '--plugin-dir', folder, ...set], seen)
  return { ...ended, plugin, job: join(out, 'kill', 'job') }
}
