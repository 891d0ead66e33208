/** What tests of engines and environments share: the promises of both, as suites for any test runner. */

export { describeEngine } from './engine.js'
export { describeEnvironment, type EnvironmentUnderTest } from './environment.js'
export type { TestRunner } from './runner.js'
