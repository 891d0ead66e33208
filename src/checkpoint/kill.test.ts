import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { bundle } from '../../test/bundle.js'
import { tempDir } from '../../test/trainer/kit.js'
import { Checkpoints } from './checkpoints.js'

const KILLS = 12

function ended(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
}

it(`a job directory opens to a complete checkpoint after each of ${KILLS} kills`, { timeout: 120_000 }, async () => {
  const work = await tempDir()
  const dir = join(work, 'job')
  const script = await bundle(join(import.meta.dirname, '../../test/trainer/writer.ts'))
  let reached = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [script, dir, String(20_000 + 90_000 * (kill % 3))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const begun = await new Promise<string>((resolve) => child.stdout!.once('data', (data) => resolve(String(data))))
    // It takes over the lock of the killed one, and goes on where the newest complete checkpoint is.
    expect(Number(begun.split(' ')[1])).toBeGreaterThanOrEqual(reached)
    const end = ended(child)
    await sleep(15 + ((kill * 37) % 190))
    child.kill('SIGKILL')
    expect(await end).toBe('SIGKILL')

    const warnings: string[] = []
    const looking = await Checkpoints.open({ dir, warn: (text) => warnings.push(text) })
    const latest = await looking.latest()
    // a checkpoint that the killed one had not come to name counts, and one is told; none is damaged
    expect(warnings.filter((text) => !text.includes('is complete: it is taken'))).toEqual([])
    if (!latest) continue
    expect(latest.step).toBeGreaterThanOrEqual(reached)
    reached = latest.step
    expect(latest.state).toEqual({ step: reached })
    const bytes = await readFile(join(latest.folder('actor')!, 'huggingface', 'weights.bin'))
    expect(bytes.every((byte) => byte === reached % 251)).toBe(true)
    const weights = await looking.latestWeights()
    expect(JSON.parse(await readFile(join(weights!.path, 'more.json'), 'utf8')).step).toBe(weights!.step)
    const best = await looking.bestEval()
    expect(best === undefined || best.best.score >= best.last.score).toBe(true)
  }
  // How far it got is the machine's business; that it got on, and never back, is ours.
  expect(reached).toBeGreaterThan(0)
  const last = await Checkpoints.open({ dir, roles: ['trainer'] })
  expect((await readdir(dir)).filter((name) => name.includes('.tmp-') || name.includes('.old-'))).toEqual([])
  await last.close()
})
