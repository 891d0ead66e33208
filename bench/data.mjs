// Task sets from disk: what a large JSON-lines file costs in memory and time, against reading it whole.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { printTable } from './lib.mjs'

export const title = 'Data sets'
export const about = 'memory and time of a large JSON-lines file (--mb=1024)'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The sources as one module, so that the benchmark needs no build; inside the package, where its dependencies are. */
async function bundle(folder) {
  const { build } = await import('esbuild')
  const outfile = join(folder, 'dataset.mjs')
  const entryPoints = [join(root, 'src', 'task', 'source', 'dataset.ts')]
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' })
  return pathToFileURL(outfile).href
}

/** Each case runs in a process of its own, so that the largest resident size is its own. */
const CASES = {
  'bytes only': `const h = await open(path); const b = Buffer.allocUnsafe(1 << 20); while ((await h.read(b)).bytesRead); await h.close()`,
  'open and index': `const d = await openDataset({ path }); await d.close()`,
  '1000 random rows': `const d = await openDataset({ path }); for (let i = 0; i < 1000; i++) await d.row((i * 7919) % d.length); await d.close()`,
  'all rows, one after the other': `const d = await openDataset({ path }); for await (const row of d.scan()) if (!row) break; await d.close()`,
  'all rows at once (JSON.parse of every line, kept)': `const h = await open(path); const all = []; for await (const line of h.readLines()) all.push(JSON.parse(line))`,
}

function measure(code, path, source) {
  const script = `import { open } from 'node:fs/promises'; import { openDataset } from ${JSON.stringify(source)}
const path = ${JSON.stringify(path)}; const start = performance.now(); ${code}
console.log(JSON.stringify({ ms: performance.now() - start, peak: process.resourceUsage().maxRSS * 1024 }))`
  const child = spawnSync(process.execPath, ['--max-old-space-size=8192', '--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  if (child.status !== 0) throw new Error(child.stderr)
  return JSON.parse(child.stdout)
}

export async function run(args) {
  const mb = Number(args.find((arg) => arg.startsWith('--mb='))?.slice(5) ?? 1024)
  mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, 'node_modules', '.cache', 'trinity-bench-'))
  const path = join(folder, 'data.jsonl')
  try {
    const file = openSync(path, 'w')
    const text = 'Natalia sold clips to 48 of her friends in April. '.repeat(20)
    for (let written = 0, i = 0; written < mb * 2 ** 20; ) {
      let block = ''
      for (; block.length < 1 << 20; i++)
        block += `${JSON.stringify({ id: i, question: text, answer: String(i % 997) })}\n`
      written += writeSync(file, block)
    }
    closeSync(file)
    const source = await bundle(folder)
    const empty = measure('await 0', path, source)
    const results = Object.entries(CASES).map(([name, code]) => [name, measure(code, path, source)])
    const base = results[0][1]
    printTable(
      results.map(([name, { ms, peak }]) => ({
        case: name,
        'time / bytes only': (ms / base.ms).toFixed(2),
        'memory / file': ((peak - empty.peak) / (mb * 2 ** 20)).toFixed(3),
        ms: ms.toFixed(0),
      })),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
