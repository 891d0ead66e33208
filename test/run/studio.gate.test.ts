import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { RolloutPage, RunList, StoreList } from '../../src/studio/api.js'
import { trinity } from './cli-kit.js'

const config = fileURLToPath(new URL('../../examples/quickstart/quickstart.yaml', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'trinity-studio-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Waits for something that a process is about to do. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('Studio as a person starts it', () => {
  it('shows a run of another process while it goes on, and stops nothing when it ends', async () => {
    let printed = ''
    let stop = () => {}
    const studio = trinity(dir, ['studio', '--port', '0', '.'], (text, child) => {
      printed = text
      stop = () => child.kill('SIGINT')
    })
    const url = await until(async () => /http:\S+token=[\w-]+(?=\s)/.exec(printed)?.[0])
    const entry = await fetch(url, { redirect: 'manual' })
    const cookie = entry.headers.get('set-cookie')?.split(';')[0] ?? ''
    const get = async <T>(path: string) => {
      const response = await fetch(new URL(`/api${path}`, url), { headers: { cookie } })
      expect(response.status, path).toBe(200)
      return (await response.json()) as T
    }
    expect(await get<RunList>('/runs')).toMatchObject({ runs: [] })
    const steps = ['--set', 'buffer.total_steps=40', '--set', `checkpoint_root_dir=${dir}`]
    const run = trinity(dir, ['run', '-c', config, ...steps])
    const running = await until(async () => {
      const { runs } = await get<RunList>('/runs')
      return runs.find(({ state, progress }) => state === 'running' && progress.step > 2)
    })
    expect(running).toMatchObject({ algorithm: 'grpo', mode: 'both', progress: { total: 40 } })
    expect(running.progress.secondsLeft).toBeGreaterThan(0)
    expect(running.roles.map(({ role }) => role).sort()).toEqual(['explorer', 'trainer'])
    // the database is being written now
    const { stores } = await get<StoreList>(`/runs/${running.id}/stores`)
    const store = encodeURIComponent(stores[0].id)
    const { rows } = await get<RolloutPage>(`/runs/${running.id}/rollouts?store=${store}&order=best`)
    expect(rows.length).toBeGreaterThan(0)
    expect((await run).code).toBe(0)
    const { runs } = await get<RunList>('/runs')
    expect(runs[0]).toMatchObject({ state: 'finished', progress: { step: 40 }, problems: [] })
    expect(runs[0].evaluation?.last.step).toBe(40)
    stop()
    expect((await studio).code).toBe(0)
  }, 180_000)
})
