import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { Roster } from '../machine/ground/roster.js'
import { linesOf, status } from './status.js'

const worker = { name: 'trainer_0_0', node: '10.0.0.7', gpus: [3], pid: 7, since: 0, line: 'rank 0 of 2' }
const processes = [{ role: 'explorer', pid: 5, host: 'head' }]
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors
const plain = (lines: string[]) => lines.join('\n').replace(/\u001b\[\d+m/g, '')

it('says of each worker where it is, what it does and since when', () => {
  const workers = [
    { ...worker, state: 'ready', doing: ['forwardBackward'] },
    { ...worker, name: 'rollout_0_0', gpus: [], state: 'ready', doing: [], line: '' },
  ]
  const text = plain(linesOf({ dir: '/job', processes, workers }, 4000))
  expect(text).toContain('/job  runs: explorer (process 5 on head)')
  expect(text).toMatch(/trainer_0_0 {2}10\.0\.0\.7 {2}3 {4}forwardBackward {8}4 s {2}rank 0 of 2/)
  expect(text).toMatch(/rollout_0_0 {2}10\.0\.0\.7 {2}- {4}waits for trainer_0_0 {2}4 s$/)
  const idle = workers.map((one) => ({ ...one, doing: [] }))
  expect(plain(linesOf({ dir: '/job', processes, workers: idle }, 4000))).not.toContain('waits for')
  const apart = [{ ...processes[0], waitsFor: 'waits for the weights of step 4' }]
  expect(plain(linesOf({ dir: '/job', processes: apart, workers }, 0))).toContain(
    '\n  explorer: waits for the weights of step 4\n',
  )
})

it('does not show workers of a run that is gone as if they worked', () => {
  const state = { dir: '/job', processes: [], workers: [{ ...worker, state: 'ready', doing: ['sample'] }] }
  expect(plain(linesOf(state, 0))).toMatch(/nobody works on it[\s\S]*gone with its run/)
  const ended = { ...state, workers: [{ ...worker, state: 'ended: torch worker 0 was lost with node n', doing: [] }] }
  expect(plain(linesOf(ended, 0))).toContain('was lost with node n')
})

it('reads the folder of a run', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-status-'))
  for (const who of [undefined, 'an/other']) {
    const roster = new Roster(join(dir, 'log'), who)
    roster.add('rollout_0_0', 'n')
    roster.close()
  }
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  expect(await status({ jobDir: dir, json: true })).toBe(0)
  expect(JSON.parse(String(out.mock.calls[0][0]))).toMatchObject([
    { processes: [], workers: [{ name: 'an/other/rollout_0_0' }, { name: 'rollout_0_0' }] },
  ])
  out.mockRestore()
  await rm(dir, { recursive: true })
  await expect(status({ jobDir: dir })).rejects.toMatchObject({ code: 'cli/no-run' })
  await expect(status({})).rejects.toMatchObject({ code: 'cli/usage' })
})
