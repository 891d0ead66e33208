// Takes the best rate of every arm of rates-sweep.yaml, by the mean of its evaluations, and puts it into algorithms-sweep.yaml.
//
//   npx trinity sweep examples/algorithms/rates-sweep.yaml && node examples/algorithms/choose.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const file = join(dirname(fileURLToPath(import.meta.url)), 'algorithms-sweep.yaml')
const results = process.argv[2] ?? 'checkpoints/algorithm_rates/results.json'

const best = {}
for (const { arm, curve } of JSON.parse(readFileSync(results, 'utf8')).runs) {
  const [, name, lr] = /^(.+) lr=(.+)$/.exec(arm)
  const trained = curve.filter(({ x }) => x > 0).map(({ y }) => y)
  const mean = trained.reduce((sum, y) => sum + y, 0) / trained.length
  console.log(`${name.padEnd(16)} ${lr.padEnd(7)} mean ${mean.toFixed(3)}  last ${trained.at(-1).toFixed(3)}`)
  if (mean > (best[name]?.mean ?? 0)) best[name] = { mean, lr }
}

let arm = ''
const lines = readFileSync(file, 'utf8').split('\n')
const chosen = lines.map((line) => {
  arm = /^ {2}(\S[^:]*):/.exec(line)?.[1] ?? arm
  return line.replace(/(algorithm\.optimizer\.lr: ).*/, (all, key) => (best[arm] ? key + best[arm].lr : all))
})
writeFileSync(file, chosen.join('\n'))
