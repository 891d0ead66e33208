import { describe, expect, it } from 'vitest'
import { runs } from '../../test/support/processes.js'
import { OwnedProcess, type OwnedProcessSettings } from './owned-process.js'

const start = (script: string, settings: Partial<OwnedProcessSettings> = {}) =>
  new OwnedProcess({ command: 'sh', args: ['-c', script], ...settings })

describe('OwnedProcess', () => {
  it('has our variables or those it is given, and keeps what it says', async () => {
    const lines: string[] = []
    const started = start('echo "$WORD"; echo error >&2; exit 3', {
      env: { ...process.env, WORD: 'given' },
      log: (line) => lines.push(line),
    })
    expect(await started.exited).toEqual({ code: 3, signal: null })
    await expect.poll(() => lines.length).toBe(2)
    expect(started.log.last().sort()).toEqual(['error', 'given'])
  })

  it('leaves standard output to its reader, and ends when its input ends', async () => {
    const started = start('cat', { output: 'data' })
    started.input.write('over and back')
    started.keepsAlive(true)
    const said = await new Promise<string>((resolve) => started.output.once('data', (data) => resolve(String(data))))
    expect(said).toBe('over and back')
    expect(started.log.last()).toEqual([])
    started.leave()
    expect(await started.exited).toEqual({ code: 0, signal: null })
  })

  it('ends with all that it started', async () => {
    const started = start('sleep 100 & echo $!; wait')
    await expect.poll(() => started.log.last().length).toBe(1)
    const child = Number(started.log.last()[0])
    started.kill()
    expect(await started.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await expect.poll(() => runs(child)).toBe(false)
  })

  it('says when there is no such program', async () => {
    const { exited } = new OwnedProcess({ command: '/no/such/program', args: [] })
    expect((await exited).error?.code).toBe('ENOENT')
  })
})
