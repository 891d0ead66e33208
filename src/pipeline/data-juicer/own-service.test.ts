import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OwnDataJuicer } from './own-service.js'

/** What stands for Python: a script with the same way of starting. */
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'juicer-test-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function python(name: string, script: string): string {
  const path = join(dir, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}
const start = (name: string, script: string, more = {}) =>
  OwnDataJuicer.start({ port: 0, python: python(name, script), ...more })
const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('trinity-juicer-'))

describe('a Data-Juicer service of a run', () => {
  it('says where it is, has its log read, and ends when it is closed', async () => {
    const before = left()
    const log: string[] = []
    const script = 'echo "loading $4" >&2; printf \'{"port": 4711, "version": "9.9"}\\n\'; cat > /dev/null'
    const service = await start('good', script, { log: (line: string) => log.push(line) })
    expect([service.url, service.version]).toEqual(['http://127.0.0.1:4711', '9.9'])
    await expect.poll(() => log).toEqual(['loading 0'])
    await service.close()
    expect(() => process.kill(service.pid as number, 0)).toThrow()
    expect(left()).toEqual(before)
  })

  it('that does not start gives one error, with its last words and what to do', async () => {
    await expect(start('bad', 'echo "No module named x" >&2; exit 3')).rejects.toMatchObject({
      code: 'data-juicer/start',
      message: 'the Data-Juicer service ended at once (3): No module named x',
      hint: expect.stringContaining('pip install py-data-juicer'),
    })
    await expect(start('slow', 'exec sleep 60', { startMs: 100 })).rejects.toThrow(/not ready within 0.1 s/)
    await expect(OwnDataJuicer.start({ port: 0, python: join(dir, 'nowhere') })).rejects.toMatchObject({
      code: 'data-juicer/start',
      message: expect.stringContaining('could not be started'),
    })
    const mine = new AbortController()
    const waiting = start('wait', 'exec sleep 60', { signal: mine.signal })
    setTimeout(() => mine.abort(), 50)
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  })
})
