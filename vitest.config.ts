import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.js'

/** What a test file says when it touches what the files of a process share: mocks, the environment, registries, secrets. */
const TOUCHES =
  /\bvi\.(mock|doMock|resetModules|stub|useFakeTimers|spyOn)|process\.(env|exitCode|argv|on\(|stdout|stderr)|s\.add\(|plugin|secret|password|api_key|postgres/i
/** Those of other commands start processes and take long anyway. */
const OTHERS = /\.(gate|nightly|python|slow)\.test\.ts$/

const files = ['src', 'studio', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .map((file) => join(folder, String(file)))
    .filter((file) => file.endsWith('.test.ts')),
)
const alone = files.filter((file) => OTHERS.test(file) || TOUCHES.test(readFileSync(file, 'utf8')))
const together = files.filter((file) => !alone.includes(file))

export default defineConfig({
  test: {
    globalSetup: './test/temporary-folder.ts',
    reporters: ['default', './test/summary-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    // some machines that run tests ask for colors (CI=1); tests read plain text
    env: { NO_COLOR: '1' },
    // many tests wait for processes and clocks: two at a time keep two cores busy
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'alone', include: alone, setupFiles: './test/property-seed.ts' } },
      // importing everything anew for each file would take longer than their tests
      {
        extends: true,
        test: {
          name: 'together',
          include: together,
          isolate: false,
          setupFiles: ['./test/property-seed.ts', './test/forget-secrets.ts'],
        },
      },
    ],
  },
})
