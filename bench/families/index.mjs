// Families of models on the native engine, the torch sampler and the torch trainer, against Transformers in float32.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NativeEngine } from '../../dist/engine/native/engine.js'
import { TorchEngine } from '../../dist/engine/torch/engine.js'
import { defineLoss } from '../../dist/graph/index.js'
import { printTable } from '../lib.mjs'
import { startPeer } from '../peer/peer.mjs'
import { models } from './models.mjs'

export const title = 'Families'
export const about = 'largest error of log-probs and gradients against Transformers, family by family [--only=Phi-3]'

const python = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url))
const meanLoss = defineLoss((g) => {
  const tokens = g.norm('tokens', (rows) => rows.reduce((sum, row) => sum + row.mask.length, 0))
  return g.logprob.neg().total().div(tokens)
})
const still = { lr: 0, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, gradClip: 1 }
const STEPS = 16

export async function run(options) {
  const only = options.find((one) => one.startsWith('--only='))?.slice(7) ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const peer = startPeer('../families/reference.py')
  const engines = { native: new NativeEngine(), torch: new TorchEngine({ python, device: 'cpu', dtype: 'float32' }) }
  const table = []
  try {
    for (const model of models(folder)) {
      if (model.name.includes(only)) table.push({ model: model.name, ...(await compared(peer, engines, model)) })
    }
  } finally {
    peer.close()
    for (const engine of Object.values(engines)) await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log('\nLargest difference of a log-prob; relative difference of the length of the gradient; 16 greedy tokens')
  printTable(table)
}

async function compared(peer, { native, torch }, { path, long }) {
  // Some beyond windows; those of stretched rotations beyond the original length of the model.
  const rows = (long ? [100, 90] : [5, 30, 60]).map((length, i) => tokensOf(length, i))
  const prompt = tokensOf(long ? 60 : 20, 9)
  const wanted = await peer.call({ cmd: 'run', model: path, rows, prompt, steps: STEPS })
  const given = { path, rows, prompt, wanted, maxModelLen: long ? 128 : 96 }
  return {
    ...named('native', await trained(native, given)),
    ...named('native sampler', await sampled(native, given)),
    ...named('torch trainer', await trained(torch, given)),
    ...named('torch sampler', await sampled(torch, given)),
  }
}

const named = (name, values) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`${name}: ${key}`, value]))

async function trained(engine, { path, rows, wanted, maxModelLen }) {
  const model = await engine.openTrain({ path, seed: 1, maxModelLen }, call())
  const batch = { rows: rows.map(rowOf), tokenBudget: 4096 }
  const scores = await model.forward(batch, { scores: ['logprob'] }, call())
  await model.forwardBackward(batch, meanLoss, call())
  const { gradNorm } = await model.optimStep(still, call())
  await model.close()
  return {
    'log-prob': furthest(scores, wanted.logprobs).toExponential(0),
    gradient: (Math.abs(gradNorm - wanted.gradient) / wanted.gradient).toExponential(0),
  }
}

async function sampled(engine, { path, rows, prompt, wanted, maxModelLen }) {
  const model = await engine.openSample({ path, seed: 1, maxModelLen }, call())
  const scores = await model.score(rows.map(rowOf), call())
  const params = { temperature: 0, maxTokens: STEPS, ignoreEos: true }
  const [{ tokens }] = await model.sample({ prompt: Int32Array.from(prompt), n: 1, params }, call())
  await model.close()
  return {
    'log-prob': furthest(scores, wanted.logprobs).toExponential(0),
    greedy: String([...tokens]) === String(wanted.greedy) ? 'equal' : 'DIFFERENT',
  }
}

let seq = 0
const call = () => ({ seq: ++seq, deadlineMs: 300_000 })

/** The fixtures know 88 tokens. */
const tokensOf = (length, seed) => Array.from({ length }, (_, i) => 6 + ((i * i * 7 + i * (seed + 3) + seed * 31) % 80))

const rowOf = (tokens, i) => ({
  id: String(i),
  tokens: Int32Array.from(tokens),
  start: 1,
  mask: new Uint8Array(tokens.length - 1).fill(1),
  temperature: 1,
  columns: {},
})

function furthest(scores, wanted) {
  let most = 0
  for (const [row, { logprob }] of scores.entries()) {
    for (let i = 0; i < logprob.length; i++) most = Math.max(most, Math.abs(logprob[i] - wanted[row][i]))
  }
  return most
}
