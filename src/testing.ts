/**
 * For tests: an engine that needs no model, and what every engine and every environment must do.
 * @module
 */

export { MockEngine, type MockOptions } from './engine/mock/engine.js'
export { describeEngine, describeEnvironment, type EnvironmentUnderTest, type TestRunner } from './testing/index.js'
