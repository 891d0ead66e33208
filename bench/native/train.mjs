import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NativeEngine } from '../../dist/engine/native/engine.js'
import { defineLoss } from '../../dist/graph/index.js'
import { format, median, printTable } from '../lib.mjs'
import { startPeer } from '../peer/peer.mjs'
import { models } from './models.mjs'
import { measurePeak } from './peak.mjs'

/** Mean negative log-prob, as the peer trains. */
const crossEntropy = defineLoss((g) => {
  const tokens = g.norm('tokens', (rows) => rows.reduce((sum, row) => sum + row.mask.length, 0))
  return g.logprob.neg().total().div(tokens)
})
const step = { lr: 1e-5, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, gradClip: 1 }

async function work(folder) {
  const { big, small } = await models(folder)
  return [
    { name: '26M, 16 × 128', path: big, batch: 16, length: 128, share: 50, faster: 1.2 },
    { name: '3M, 64 × 64', path: small, batch: 64, length: 64, share: 40, faster: 1.3 },
  ]
}

function randomRows(batch, length, vocab) {
  return Array.from({ length: batch }, (_, i) => ({
    id: String(i),
    tokens: Int32Array.from({ length }, () => Math.floor(Math.random() * vocab)),
    start: 1,
    mask: new Uint8Array(length - 1).fill(1),
    temperature: 1,
    columns: {},
  }))
}

export async function train(addon, torch, { rounds, matches }) {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const rows = []
  try {
    for (const one of await work(folder)) if (matches(one.name)) rows.push(await measure(addon, one, torch, rounds))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log('\nTraining: forward, loss, backward, clipping, AdamW; 6 operations per parameter and token')
  printTable(rows)
}

async function measure(addon, { name, path, batch, length, share, faster }, torch, rounds) {
  const engine = new NativeEngine()
  const peer = torch ? startPeer('train.py') : undefined
  try {
    let seq = 0
    const call = () => ({ seq: ++seq, deadlineMs: 1e9 })
    const model = await engine.openTrain({ path }, call())
    await peer?.call({ cmd: 'open', model: path, threads: addon.threads() })
    const { parameters, vocabSize } = model.info
    const once = async () => {
      const start = performance.now()
      const batchOfRows = { rows: randomRows(batch, length, vocabSize), tokenBudget: batch * length }
      await model.forwardBackward(batchOfRows, crossEntropy, call())
      await model.optimStep(step, call())
      return (performance.now() - start) / 1000
    }
    await once()
    await peer?.call({ cmd: 'run', batch, length, steps: 1 })
    const shares = []
    const speeds = []
    const ratios = []
    for (let i = 0; i < rounds; i++) {
      const peak = await measurePeak(addon)
      const seconds = await once()
      shares.push((100 * 6 * parameters * batch * length) / seconds / peak)
      speeds.push((batch * length) / seconds)
      if (peer) ratios.push((await peer.call({ cmd: 'run', batch, length, steps: 1 })).seconds / seconds)
    }
    const { weights, gradients, optimizer, activations } = model.memory()
    return {
      model: name,
      'tokens/s': format(median(speeds)),
      '% of peak': format(median(shares)),
      target: `≥ ${share} ${median(shares) >= share ? 'met' : 'MISSED'}`,
      ...(peer && {
        '× PyTorch': format(median(ratios)),
        'target ×': `≥ ${faster} ${median(ratios) >= faster ? 'met' : 'MISSED'}`,
      }),
      'bytes/parameter': format((weights + gradients + optimizer) / parameters),
      'activations MB': format(activations / 2 ** 20),
    }
  } finally {
    peer?.close()
    await engine.close()
  }
}
