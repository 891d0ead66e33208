import { format, median, printTable } from '../lib.mjs'
import { measurePeak } from './peak.mjs'

/** m, n, k of the products: the smallest that must be fast, square ones, and those of a 26M model on 2,048 tokens. */
const shapes = [
  [128, 128, 128],
  [256, 256, 256],
  [512, 512, 512],
  [2048, 768, 512],
  [2048, 512, 512],
  [2048, 2816, 512],
  [2048, 512, 1408],
]

export async function gemm(addon, _torch, { rounds, matches }) {
  const rows = []
  for (const [m, n, k] of shapes) {
    const name = `${m} × ${n} × ${k}`
    if (!matches(name)) continue
    const repeat = Math.max(1, Math.round(4e9 / (2 * m * n * k)))
    const shares = { forward: [], inputGrad: [], weightGrad: [] }
    for (let i = 0; i < rounds; i++) {
      const peak = await measurePeak(addon)
      const rates = await addon.product(m, n, k, repeat)
      for (const kind of Object.keys(shares)) shares[kind].push((100 * rates[kind]) / peak)
    }
    rows.push({
      'm × n × k': name,
      'product, % of peak': format(median(shares.forward)),
      'input gradient': format(median(shares.inputGrad)),
      'weight gradient': format(median(shares.weightGrad)),
      target: `≥ 80 ${median(shares.forward) >= 80 ? 'met' : 'MISSED'}`,
    })
  }
  console.log('\nMatrix products')
  printTable(rows)
}
