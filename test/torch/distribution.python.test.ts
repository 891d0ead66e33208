import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextCall } from '../../src/engine/calls.js'
import type { Row, ScoreKind } from '../../src/engine/contract.js'
import { NativeEngine } from '../../src/engine/native/engine.js'
import { TorchEngine } from '../../src/engine/torch/engine.js'
import { defineLoss } from '../../src/graph/index.js'
import { createModel } from '../../src/model/create.js'
import { torchTestPython } from '../support/python.js'

const python = torchTestPython()

/** The same scores and losses in PyTorch, in float64: every number of every active token, and norms of gradients. */
const script = `
import json, sys, torch
from transformers import AutoModelForCausalLM
path, rows = sys.argv[1], json.loads(sys.argv[2])
model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float64)
scores = {kind: [] for kind in ("logprob", "sum_pi_squared", "logprob@a", "logprob@b")}
for row in rows:
    tokens, start = torch.tensor(row["tokens"]), row["start"]
    z = model(tokens[None]).logits[0, start - 1 : -1] / row["temperature"]
    logp = z.log_softmax(-1)
    active = torch.tensor(row["mask"]).bool()
    at = lambda ids: logp[active].gather(1, torch.tensor(ids)[active][:, None])[:, 0]
    scores["logprob"].append(at(row["tokens"][start:]))
    scores["sum_pi_squared"].append(logp[active].exp().square().sum(-1))
    for name in "ab":
        scores[f"logprob@{name}"].append(at(row[name]))
s = {kind: torch.cat(parts) for kind, parts in scores.items()}
losses = {
    "squares": s["sum_pi_squared"].sum(),
    "others": (s["logprob@a"] * s["logprob@b"].exp() + s["logprob"]).sum(),
    "all at once": (s["logprob@a"] * s["sum_pi_squared"]).sum().square(),
}
norms = {}
for name, loss in losses.items():
    grads = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True, allow_unused=True)
    norms[name] = float(torch.cat([g.flatten() for g in grads if g is not None]).norm())
values = {name: float(loss) for name, loss in losses.items()}
print(json.dumps({"scores": {kind: x.tolist() for kind, x in s.items()}, "losses": values, "norms": norms}))
`
const LOSSES = {
  squares: defineLoss((g) => g.sumPiSquared.total()),
  others: defineLoss((g) => g.logprobAt('a').mul(g.logprobAt('b').exp()).add(g.logprob).total()),
  'all at once': defineLoss((g) => g.logprobAt('a').mul(g.sumPiSquared).total().square()),
}
const KINDS: readonly ScoreKind[] = ['logprob', 'sum_pi_squared', 'logprob@a', 'logprob@b']

const rows = [7, 12, 5].map((length, r): Row => {
  const scored = length - 2
  const ids = (step: number) => Float32Array.from({ length: scored }, (_, i) => (11 + step * i * i + 37 * r) % 250)
  const mask = Uint8Array.from({ length: scored }, (_, i) => (i === 1 ? 0 : 1))
  const a = ids(13)
  // what stands at a masked token is never read
  a[1] = Number.NaN
  const tokens = Int32Array.from({ length }, (_, i) => (5 + 17 * i + r * i * i) % 250)
  return { id: `${r}`, tokens, start: 2, mask, temperature: r === 1 ? 0.7 : 1, columns: { a, b: ids(29) } }
})

describe.skipIf(python.absent)(`distributions as inputs of a loss, against PyTorch in float64${python.note}`, () => {
  const native = new NativeEngine()
  const torch = new TorchEngine({ python: python.path, device: 'cpu' })
  let path: string
  let theirs: Record<'scores' | 'losses' | 'norms', Record<string, never>>

  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'trinity-distribution-'))
    await createModel({ out: path, arch: 'llama', hidden: 32, layers: 2, heads: 4, kvHeads: 2, seed: 5 })
    const plain = rows.map(({ columns: { a, b }, tokens, mask, ...row }) => ({
      ...row,
      tokens: [...tokens],
      mask: [...mask],
      a: [...(a as Float32Array)].map((id) => id || 0),
      b: [...(b as Float32Array)],
    }))
    const { stdout } = await promisify(execFile)(python.path, ['-c', script, path, JSON.stringify(plain)])
    theirs = JSON.parse(stdout.trim().split('\n').at(-1)!)
  }, 120_000)
  afterAll(async () => {
    await Promise.all([native.close(), torch.close()])
    await rm(path, { recursive: true, force: true })
  })

  it.each([
    ['native', native],
    ['torch', torch],
  ])(
    '%s',
    async (_, engine) => {
      const model = await engine.openTrain({ path }, nextCall())
      const scored = await model.forward({ rows, tokenBudget: 16 }, { scores: KINDS }, nextCall())
      for (const kind of KINDS) {
        const own = scored.flatMap((row, r) => [...row[kind]!].filter((_, i) => rows[r].mask[i] === 1))
        const reference = theirs.scores[kind] as number[]
        expect(own).toHaveLength(reference.length)
        for (const [i, x] of own.entries()) expect(Math.abs(x - reference[i]), kind).toBeLessThan(1e-5)
      }
      for (const [name, loss] of Object.entries(LOSSES)) {
        for (const tokenBudget of [8, 1000]) {
          const found = await model.forwardBackward({ rows, tokenBudget }, loss, nextCall())
          // a step of nothing tells the norm of the gradient
          const still = { lr: 0, betas: [0.9, 0.99], eps: 1e-8, weightDecay: 0, gradClip: 0 } as const
          const { gradNorm } = await model.optimStep(still, nextCall())
          expect(found.loss / theirs.losses[name], name).toBeCloseTo(1, 5)
          expect(gradNorm / theirs.norms[name], name).toBeCloseTo(1, 4)
        }
      }
      const wrong = rows.map((row) => ({ ...row, columns: { ...row.columns, b: 1e6 } }))
      await expect(model.forwardBackward({ rows: wrong, tokenBudget: 8 }, LOSSES.others, nextCall())).rejects.toThrow(
        "column 'b' holds 1000000, which is no token",
      )
      await model.close()
    },
    120_000,
  )
})
