import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { cli, trinity } from './cli-kit.js'

let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-folders-'))
  await makeBench(dir, { cli })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !isSo(); await sleep(20)) {
    if (performance.now() > end) throw new Error(`${what}: not within a minute`)
  }
}

describe('a folder that vanishes from a running job', { timeout: 180_000 }, () => {
  it.each([
    ['buffer', ['--set', 'buffer.trainer_input.experience_buffer={storage_type: sql}']],
    ['log', []],
  ])('fails the run, which resumes when the folder is back: %s', async (name, keys) => {
    rmSync(join(dir, 'out'), { recursive: true, force: true })
    const hold = join(dir, 'hold')
    writeFileSync(hold, '')
    const args = ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', '--set', 'checkpoint_root_dir=out', ...keys]
    let printed = ''
    const running = trinity(dir, args, (text) => (printed = text), { KILL_TEST_HOLD: hold })
    const folder = join(dir, 'out', 'kill', 'job', name)
    await until('the run waits in its fourth step', () => printed.includes('trainer  step 3') && existsSync(folder))
    renameSync(folder, `${folder}.away`)
    rmSync(hold)
    const { code, stdout, stderr } = await running
    expect(code, stdout).toBe(1)
    expect(stderr + stdout).toContain(`moved or deleted while the run used it: ${folder}`)
    expect(stdout).not.toMatch(/^done/m)

    rmSync(folder, { recursive: true, force: true })
    renameSync(`${folder}.away`, folder)
    const again = await trinity(dir, args)
    expect(again.code, again.stderr).toBe(0)
    expect(again.stdout).toMatch(/done +8 steps/)
  })
})
