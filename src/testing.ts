/**
 * For tests: an engine that needs no model, and what every engine and every environment must do.
 * @module
 */

export { MockEngine, type MockOptions } from './engine/mock/engine.js'
export { describeEngine } from './testing/engine.js'
export { describeEnvironment, type EnvironmentUnderTest } from './testing/environment.js'
export type { TestRunner } from './testing/runner.js'
