import * as vitest from 'vitest'
import { describe } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { fixture } from '../../../test/support/test-data.js'
import { describeEngine } from '../../testing/engine.js'
import { TorchEngine } from './engine.js'

const python = torchTestPython()

describe.skipIf(python.absent)(`torch in float32 on the CPU${python.note}`, () => {
  for (const name of ['tiny-llama', 'tiny-qwen2', 'tiny-qwen3']) {
    const open = async () => ({ engine: new TorchEngine({ python: python.path, device: 'cpu' }), path: fixture(name) })
    describeEngine(vitest, `torch, ${name}`, open)
  }
})
