import { expect } from 'vitest'
import type { TestRunner } from '../../src/testing/index.js'

/** Runs a suite by itself, beside the tests of this process, and gives the names of what failed. */
export async function failures(suite: (runner: TestRunner) => void): Promise<string[]> {
  const tests: { name: string; body: () => Promise<void> }[] = []
  const hooks = { before: [] as (() => Promise<void>)[], each: [] as (() => Promise<void>)[] }
  const after: (() => Promise<void>)[] = []
  suite({
    describe: (_, body) => body(),
    it: (name, body) => tests.push({ name, body }),
    beforeAll: (body) => hooks.before.push(body),
    afterAll: (body) => after.push(body),
    afterEach: (body) => hooks.each.push(body),
    expect,
  })
  expect(tests.length).toBeGreaterThan(5)
  const failed: string[] = []
  for (const hook of hooks.before) await hook()
  for (const { name, body } of tests) {
    await body().catch(() => failed.push(name))
    for (const hook of hooks.each) await hook()
  }
  for (const hook of after) await hook()
  return failed
}
