import type { Reporter, TestModule, Vitest } from 'vitest/node'

/** Ends every run with one plain line of counts that any log reader understands. */
export default class SummaryReporter implements Reporter {
  #some = false

  onInit({ config }: Vitest): void {
    this.#some = config.exclude.some((pattern) => pattern.includes('python'))
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
      if (module.state() === 'failed' && module.errors().length > 0) count.failed++
    }
    if (this.#some)
      console.log(
        'not run: npm run test:gate (installs, kills), test:python (needs Python), test:nightly and test:slow (minutes each)',
      )
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
  }
}
