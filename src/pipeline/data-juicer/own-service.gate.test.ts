import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const built = fileURLToPath(new URL('../../../dist/pipeline/data-juicer/own-service.js', import.meta.url))

it('a process with nothing else to do waits for its service to end', () => {
  const dir = mkdtempSync(join(tmpdir(), 'juicer-gate-'))
  const python = join(dir, 'python')
  writeFileSync(python, '#!/bin/sh\nsleep 0.5\nprintf \'{"port": 1, "version": "1"}\\n\'\ncat > /dev/null\nsleep 0.5\n')
  chmodSync(python, 0o755)
  const script = `
    import { OwnDataJuicer } from ${JSON.stringify(built)}
    const service = await OwnDataJuicer.start({ port: 0, python: ${JSON.stringify(python)} })
    await service.close()
    console.log('closed')`
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  rmSync(dir, { recursive: true, force: true })
  // Node ends with 13 where it has run out of things to wait for
  expect([ended.stdout.trim(), ended.status]).toEqual(['closed', 0])
})
