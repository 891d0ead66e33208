import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytes } from '../../base/bytes.js'
import { TrinityError } from '../../base/error.js'
import { createModel } from '../../model/index.js'
import type { Row } from '../contract.js'
import { TorchEngine } from './engine.js'
import type { TorchOptions } from './options.js'

/** Starts a worker and lets it score a few tokens with a model of a few thousand parameters. Says what it ran on. */
export async function verify(options: TorchOptions): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-setup-'))
  const engine = new TorchEngine(options)
  try {
    const path = join(dir, 'model')
    await createModel({ out: path, layers: 1, hidden: 16, heads: 2, maxPositions: 16, tokenizer: { kind: 'bytes' } })
    const { versions, device } = await engine.start({ seq: 0, deadlineMs: 300_000 })
    const model = await engine.openScore({ path }, { seq: 1, deadlineMs: 300_000 })
    const want = { scores: ['logprob'] as const }
    const [{ logprob }] = await model.forward({ rows: [ROW], tokenBudget: 16 }, want, { seq: 2, deadlineMs: 300_000 })
    if (!logprob?.every((value) => Number.isFinite(value) && value < 0)) {
      throw new TrinityError('setup/verify', `a small model gives ${logprob?.join(', ')} instead of log-probs`, {
        hint: 'this build of torch does not work on this machine: try --cpu, or another driver',
      })
    }
    const memory = device.memory > 0 ? `, ${bytes(device.memory)}` : ''
    return `torch ${versions.torch}, transformers ${versions.transformers} on ${device.type} (${device.name}${memory})`
  } finally {
    await engine.close()
    await rm(dir, { recursive: true, force: true })
  }
}

const ROW: Row = {
  id: 'setup',
  tokens: Int32Array.of(1, 2, 3, 4),
  start: 1,
  mask: new Uint8Array(3).fill(1),
  temperature: 1,
  columns: {},
}
