import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NativeEngine } from '../../dist/engine/native/engine.js'
import { defineLoss } from '../../dist/graph/index.js'
import { format, median, printTable } from '../lib.mjs'
import { startPeer } from '../peer/peer.mjs'
import { models } from './models.mjs'
import { measurePeak } from './peak.mjs'

const prompt = 32
const fresh = 32

export async function sample(addon, torch, { rounds, matches, dtype }) {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const rows = []
  try {
    const { big, small } = await models(folder)
    for (const one of [
      { name: '26M, 64 requests', path: big, batch: 64, faster: 4 },
      { name: '26M, one request', path: big, batch: 1, faster: 5 },
      { name: '26M, one request, after a training step', path: big, batch: 1, trained: true },
      { name: '3M, 256 requests', path: small, batch: 256, faster: 2.5 },
    ])
      if (matches(one.name)) rows.push(await measure(addon, { ...one, dtype }, torch, rounds))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(
    `\nSampling: ${prompt} + ${fresh} tokens, temperature 1, log-probs of every token, no prefix cache, products in ${dtype}`,
  )
  printTable(rows)
}

async function measure(addon, { name, path, batch, faster, trained, dtype }, torch, rounds) {
  const engine = new NativeEngine({ dtype })
  const peer = torch ? startPeer('generate.py') : undefined
  try {
    let seq = 0
    const call = () => ({ seq: ++seq, deadlineMs: 1e9 })
    const model = await engine.openSample({ path, prefixCaching: false }, call())
    if (trained) await handOver(engine, path, model, call)
    const { vocabSize, parameters } = model.info
    const request = () => ({
      prompt: Int32Array.from({ length: prompt }, () => Math.floor(Math.random() * vocabSize)),
      n: 1,
      params: { temperature: 1, maxTokens: fresh, ignoreEos: true },
    })
    const once = async () => {
      const start = performance.now()
      await Promise.all(Array.from({ length: batch }, () => model.sample(request(), call())))
      return (performance.now() - start) / 1000
    }
    const ask = async (logprobs) => (await peer.call({ cmd: 'run', batch, prompt, new: fresh, logprobs })).seconds
    await peer?.call({ cmd: 'open', model: path, threads: addon.threads(), dtype })
    await once()
    if (peer) await ask(false)
    const speeds = []
    const shares = []
    const ratios = []
    const scored = []
    for (let i = 0; i < rounds; i++) {
      const peak = await measurePeak(addon)
      const seconds = await once()
      speeds.push((batch * fresh) / seconds)
      shares.push((100 * 2 * parameters * batch * (prompt + fresh)) / seconds / peak)
      if (peer) ratios.push((await ask(false)) / seconds)
      if (peer) scored.push((await ask(true)) / seconds)
    }
    return {
      work: name,
      'tokens/s': format(median(speeds)),
      '% of peak': format(median(shares)),
      ...(peer && {
        '× generate': format(median(ratios)),
        'target ×': faster ? `≥ ${faster} ${median(ratios) >= faster ? 'met' : 'MISSED'}` : '',
        '× generate with log-probs': format(median(scored)),
      }),
    }
  } finally {
    peer?.close()
    await engine.close()
  }
}

/** Weights as training leaves them: they need all of their 32 bits. */
async function handOver(engine, path, sampler, call) {
  const model = await engine.openTrain({ path }, call())
  const tokens = Int32Array.from({ length: 16 }, (_, i) => i + 5)
  const row = { id: 'a', tokens, start: 1, mask: new Uint8Array(15).fill(1), temperature: 1, columns: {} }
  const loss = defineLoss((g) => g.logprob.neg().total())
  await model.forwardBackward({ rows: [row], tokenBudget: 16 }, loss, call())
  await model.optimStep({ lr: 1e-5, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, gradClip: 1 }, call())
  await model.handOver([sampler], 1, 'finish', call())
  await model.close()
}
