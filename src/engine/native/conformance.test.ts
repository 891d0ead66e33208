import * as vitest from 'vitest'
import { fixture } from '../../../test/support/test-data.js'
import { describeEngine } from '../../testing/engine.js'
import { NativeEngine } from './engine.js'

for (const name of ['tiny-llama', 'tiny-qwen2', 'tiny-qwen3']) {
  describeEngine(vitest, `native, ${name}`, async () => ({ engine: new NativeEngine(), path: fixture(name) }))
}
