import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NativeEngine } from '../../dist/engine/native/engine.js'
import { packed, packedShared, sharedCounter } from '../../dist/engine/native/packed.js'
import { packRows } from '../../dist/engine/pack.js'
import { createModel } from '../../dist/model/create.js'
import { format, median, printTable } from '../lib.mjs'

const tokenBudget = 8192
const step = { lr: 1e-5, beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0.01, gradClip: 1 }
/** Tokens of a text game: the rules and the task, what is seen in a turn, what is done in it. */
const sizes = { prompt: 300, observation: 60, action: 30, turns: 8 }

function draw(length, vocab) {
  return Array.from({ length }, () => Math.floor(Math.random() * vocab))
}

/** Tokens of a whole session that goes on from others, and where each of its actions begins. */
function session(vocab, before = draw(sizes.prompt, vocab), turns = sizes.turns) {
  const tokens = [...before]
  const actions = []
  for (let turn = 0; turn < turns; turn++) {
    tokens.push(...draw(sizes.observation, vocab))
    actions.push(tokens.length)
    tokens.push(...draw(sizes.action, vocab))
  }
  return { tokens, actions }
}

function rowOf(tokens, start) {
  const mask = new Uint8Array(tokens.length - start).fill(1)
  return { id: '', tokens: Int32Array.from(tokens), start, mask, temperature: 1, columns: {} }
}

/** Each step is a row that begins with all before it. */
function stepwise(vocab) {
  const { tokens, actions } = session(vocab)
  return actions.map((at) => rowOf(tokens.slice(0, at + sizes.action), at))
}

/** A session and three that go on otherwise from its middle. */
function retries(vocab) {
  const { tokens, actions } = session(vocab)
  const pivot = tokens.slice(0, actions[sizes.turns / 2])
  const again = Array.from({ length: 3 }, () => session(vocab, pivot, sizes.turns / 2).tokens)
  return [tokens, ...again].map((all) => rowOf(all, actions[0]))
}

/** Nothing in common. */
function apart(vocab) {
  return Array.from({ length: 4 }, () => rowOf(session(vocab).tokens, sizes.prompt))
}

const shapes = {
  'step by step, 8 turns': { make: stepwise, sessions: 1 },
  'retries from the middle': { make: retries, sessions: 1 },
  'nothing shared': { make: apart, sessions: 1 },
}

/** One pass of all micro-batches, and the step. */
async function learn({ addon, handle }, packs, make) {
  const start = performance.now()
  for (const rows of packs) {
    const pack = make(rows)
    const { logprob } = await addon.forward(handle, pack, true, true)
    await addon.backward(handle, { logprob: logprob.map(() => -1 / logprob.length) })
  }
  await addon.step(handle, step)
  return (performance.now() - start) / 1000
}

export async function sessions(_addon, _torch, { rounds, matches }) {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
  const engine = new NativeEngine()
  const table = []
  try {
    const small = join(folder, 'small')
    await createModel({
      out: small,
      hidden: 256,
      layers: 4,
      heads: 4,
      intermediate: 704,
      vocab: 272,
      maxPositions: 2048,
    })
    const model = await engine.openTrain({ path: small }, { seq: 1, deadlineMs: 1e9 })
    for (const [name, { make, sessions }] of Object.entries(shapes)) {
      if (!matches(name)) continue
      const times = { whole: [], shared: [] }
      let rows
      // Both in turn: on a shared host only neighbors compare.
      for (let i = 0; i <= rounds; i++) {
        rows = Array.from({ length: sessions }, () => make(model.info.vocabSize)).flat()
        const whole = await learn(model, packRows(rows, tokenBudget), packed)
        const shared = await learn(
          model,
          packRows(rows, tokenBudget, 'row', sharedCounter),
          (some) => packedShared(some).pack,
        )
        if (i === 0) continue
        times.whole.push(whole)
        times.shared.push(shared)
      }
      const tokens = rows.reduce((sum, row) => sum + row.tokens.length - 1, 0)
      table.push({
        rows: name,
        tokens,
        computed: packedShared(rows).pack.ids.length,
        'whole tokens/s': format(tokens / median(times.whole)),
        'shared tokens/s': format(tokens / median(times.shared)),
        times: format(median(times.whole.map((seconds, i) => seconds / times.shared[i]))),
      })
    }
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log('\nTraining on sessions of a text game: each row computed whole, and what rows begin with computed once')
  printTable(table)
}
