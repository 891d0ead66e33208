import * as vitest from 'vitest'
import { fixture, tinyModels } from '../../../test/support/test-data.js'
import { describeEngine } from '../../testing/engine.js'
import { NativeEngine } from './engine.js'

for (const name of tinyModels) {
  describeEngine(vitest, `native, ${name}`, async () => ({ engine: new NativeEngine(), path: fixture(name) }))
}
