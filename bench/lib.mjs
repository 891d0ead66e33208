// Measuring on a machine that others use too: absolute times mean little, so runs are interleaved and ratios printed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath, pathToFileURL } from 'node:url'

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Milliseconds that `work` takes. */
export async function time(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * Times several pieces of work side by side: A B C, A B C, … in an order that turns from round to round, so that a busy
 * moment or a rising clock hits all of them alike. `cases`: name → function. Gives name → { median, min, times } in ms.
 */
export async function interleave(cases, { rounds = 15, warmup = 1 } = {}) {
  const names = Object.keys(cases)
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -warmup; round < rounds; round++) {
    const turn = ((round % names.length) + names.length) % names.length
    for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
      const ms = await time(cases[name])
      if (round >= 0) times[name].push(ms)
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, { median: median(times[name]), min: Math.min(...times[name]), times: times[name] }]),
  )
}

/**
 * The ratio of two interleaved measurements as the median of the ratios within each round: what slows a whole round
 * cancels out. More than 1: `name` is slower than `base`.
 */
export function ratio(results, name, base) {
  return median(results[name].times.map((ms, round) => ms / results[base].times[round]))
}

/** Rows for `printTable`: the base first, then each case with its ratio to it. */
export function ratioRows(results, base, targets = {}) {
  return Object.keys(results).map((name) => {
    const value = ratio(results, name, base)
    const target = targets[name]
    return {
      case: name,
      'median ms': format(results[name].median),
      'min ms': format(results[name].min),
      [`× ${base}`]: format(value),
      ...(Object.keys(targets).length > 0 && {
        target: target === undefined ? '' : `≤ ${target} ${value <= target ? 'met' : 'MISSED'}`,
      }),
    }
  })
}

/** Three significant digits, without exponents. */
export function format(value) {
  if (!Number.isFinite(value)) return String(value)
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(digits, 6))
}

/** Rows are objects with the same keys; numbers and times stand right. */
export function printTable(rows, print = console.log) {
  if (rows.length === 0) return
  const keys = Object.keys(rows[0])
  const width = keys.map((key) => Math.max(key.length, ...rows.map((row) => String(row[key]).length)))
  const numeric = keys.map((key) => rows.every((row) => /^[-\d.]*$/.test(String(row[key]))))
  const line = (cells) =>
    cells.map((cell, i) => (numeric[i] ? String(cell).padStart(width[i]) : String(cell).padEnd(width[i]))).join('  ')
  print(line(keys).trimEnd())
  for (const row of rows) print(line(keys.map((key) => row[key])).trimEnd())
}

/** One line that says where the numbers come from. */
export function machineLine() {
  return `${cpus()[0]?.model ?? process.arch}, ${availableParallelism()} usable cores, Node ${process.versions.node}, ${process.platform}`
}

/**
 * Starts to watch the host: the function it gives says what share of the processors' time it has taken away from this
 * machine since (a virtual machine on a busy host). Undefined where that is not known.
 */
export function watchHost() {
  const before = processorTimes()
  return () => {
    const after = processorTimes()
    if (!before || !after) return undefined
    const spent = after.map((ticks, i) => ticks - before[i])
    return spent[STEAL] / spent.slice(0, STEAL + 1).reduce((sum, ticks) => sum + ticks, 0)
  }
}

/** user, nice, system, idle, iowait, irq, softirq, steal */
const STEAL = 7

function processorTimes() {
  if (!existsSync('/proc/stat')) return undefined
  return readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/ +/).slice(1).map(Number)
}

const LAG_MS = 5
/** Nanoseconds that this thread has run. */
const THREAD = '/proc/thread-self/schedstat'

/**
 * Starts to watch this process: the function it gives ends that, and says what was seen. Lag is how late a timer is. On a
 * machine that others use too, most of it may be time in which this process did not run at all; so the processor time that
 * was used between two turns of the timer is measured as well (`own`): what the lag would be with a core of its own. On
 * Linux it is that of the loop's thread; elsewhere that of all threads, so a little more.
 */
export function watchLoop() {
  const lag = monitorEventLoopDelay({ resolution: LAG_MS })
  const stretches = []
  let rss = 0
  const cpuMs = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const first = cpuMs()
  const threadMs = existsSync(THREAD) ? () => Number(readFileSync(THREAD, 'utf8').split(' ')[0]) / 1e6 : cpuMs
  let before = threadMs()
  const watch = setInterval(() => {
    const now = threadMs()
    stretches.push(Math.max(0, now - before - LAG_MS))
    before = now
    rss = Math.max(rss, process.memoryUsage.rss())
  }, LAG_MS)
  lag.enable()
  const begun = performance.now()
  return () => {
    const ms = performance.now() - begun
    lag.disable()
    clearInterval(watch)
    stretches.sort((a, b) => a - b)
    const of = (ns) => Math.max(0, ns / 1e6 - LAG_MS)
    return {
      ms,
      cpu: cpuMs() - first,
      p99: of(lag.percentile(99)),
      max: of(lag.max),
      own: stretches[Math.floor(stretches.length * 0.99)] ?? 0,
      ownMax: stretches.at(-1) ?? 0,
      rss: rss / 2 ** 20,
    }
  }
}

/** Runs a program to its end without output; throws when it fails, so that nothing is measured that did not work. */
export function runOnce(file, args) {
  const { status, stderr, error } = spawnSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  if (error) throw error
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}: ${stderr}`)
}

/** Everything that these files of `src` export, as one module: a benchmark needs no build. */
export async function loadSources(folder, files) {
  return import(pathToFileURL(await bundleSources(folder, files)).href)
}

/** The file of that module, in the folder: for processes that load it themselves. */
export async function bundleSources(folder, files) {
  const { build } = await import('esbuild')
  const outfile = join(folder, 'sources.mjs')
  await build({
    stdin: {
      contents: files.map((file) => `export * from './src/${file}.ts'`).join('\n'),
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  return outfile
}
