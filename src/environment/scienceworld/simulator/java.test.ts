import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../../../test/support/temp-dir.js'
import { connectTo, deathOf, javaCommand, startJava } from './java.js'

/** A program in the place of Java. */
async function program(script: string): Promise<string> {
  const path = join(await tempDir(), 'java')
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
}
const settings = { jar: '/some/where.jar', heapMb: 300 }

it('is that of JAVA_HOME, or that of PATH', () => {
  expect(javaCommand({ JAVA_HOME: '/opt/jdk' })).toBe('/opt/jdk/bin/java')
  expect(javaCommand({ JAVA_HOME: ' ' })).toBe('java')
})

it('gets bounded memory, the file, and an order that never changes', async () => {
  const java = startJava(settings, await program('echo "$@" >&2; exit 1'))
  await expect(connectTo(java)).rejects.toMatchObject({ code: 'environment/simulator-died' })
  await expect.poll(() => java.log.last().join()).toContain('-Xmx300m')
  expect(java.log.last().join()).toMatch(/-XX:hashCode=2 .*-cp \/some\/where\.jar py4j\.GatewayServer/)
  expect(String(deathOf(java).cause)).toContain('-Xmx300m')
})

it('says that there is no Java, and how to get it', async () => {
  await expect(connectTo(startJava(settings, '/no/such/java'))).rejects.toMatchObject({
    code: 'environment/java-missing',
    hint: expect.stringContaining('JAVA_HOME'),
  })
})

it('says when nobody listens where it should', async () => {
  const java = startJava(settings, await program('echo 1; sleep 20'))
  await expect(connectTo(java)).rejects.toThrow('ECONNREFUSED')
  java.kill()
})
