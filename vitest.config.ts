import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: './test/temporary-folder.ts',
    reporters: ['default', './test/summary-reporter.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    // some machines that run tests ask for colors (CI=1); tests read plain text
    env: { NO_COLOR: '1' },
    // many tests wait for processes and clocks: two at a time keep two cores busy
    maxWorkers: 2,
  },
})
