import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import {
  type CaseEnd,
  differences,
  type Found,
  prepareCase,
  resultOf,
  type StartedSide,
  sidesOf,
  startSide,
} from '../../scripts/kill-test.mjs'

/*
 * The crash-state method: a run is frozen at a file operation, its folder is copied, the copy is resumed, and the result is
 * compared with that of a run that was not interrupted. `freeze.c` does the freezing, so that one run yields many states:
 * before an operation, and after half of the bytes of a write.
 */

/** Time after which a resumed run counts as stuck, in milliseconds. */
const STUCK_MS = 240_000
/** Age of the files of a machine that has been switched on again, in seconds. */
const OLD_SECONDS = 7 * 24 * 3600
/** Locks and half-written folders, which must not outlast a run. Half-written files are removed when they are a minute old. */
const LITTER = /^\.lock-[a-z]+$|\.tmp-|\.old-/
/** Files whose content does not decide how a run resumes. */
const TEXT = /\/log\/|\/monitor\/spans\//

/** One operation of the plan: `<occurrence> <phase> <process> <operation> <path>`. */
export type Point = string

export interface CrashBench {
  readonly cli: string
  /** Folder made by `makeBench`. */
  readonly dir: string
  readonly library: string
}

export interface CrashState {
  readonly at: Point
  /** Time of the copy, in milliseconds since 1970. */
  readonly time: number
  readonly folder: string
}

/** Compiles the library that freezes a process. Returns its path, or undefined on systems without `LD_PRELOAD`. */
export function compileFreezer(dir: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  const library = join(dir, 'freeze.so')
  const source = join(import.meta.dirname, 'freeze.c')
  execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-fPIC', '-shared', source, '-o', library, '-ldl', '-lpthread'])
  return library
}

/** One case: its folder, the result of the run that was not interrupted, and its file operations. */
export class CrashCase {
  readonly #bench: CrashBench
  readonly name: string
  readonly expected: Found
  /** Number of times that each operation was seen. */
  readonly operations: ReadonlyMap<string, number>

  private constructor(bench: CrashBench, name: string, expected: Found, operations: ReadonlyMap<string, number>) {
    this.#bench = bench
    this.name = name
    this.expected = expected
    this.operations = operations
  }

  /** Runs a case to its end and records its file operations. */
  static async open(bench: CrashBench, name: string): Promise<CrashCase> {
    const { out, prepared } = folders(bench, name)
    const trace = `${out}.trace`
    await prepareCase(bench.cli, bench.dir, name, prepared)
    reset(prepared, out)
    await run(bench, name, out, { FREEZE_TRACE: trace })
    return new CrashCase(bench, name, resultOf(out), readOperations(trace))
  }

  /**
   * Runs the case again and copies its folder at each point. Returns the states that differ from each other. The run itself
   * must have the expected result.
   */
  async freeze(points: readonly Point[]): Promise<CrashState[]> {
    const { out, prepared } = folders(this.#bench, this.name)
    const copies = `${out}.states`
    rmSync(copies, { recursive: true, force: true })
    mkdirSync(copies)
    reset(prepared, out)
    const plan = `${out}.plan`
    writeFileSync(plan, points.map((point) => `${point}\n`).join(''))
    await run(this.#bench, this.name, out, { FREEZE_TRACE: `${out}.trace`, FREEZE_PLAN: plan, FREEZE_OUT: copies })
    const found = differences(this.expected, resultOf(out))
    if (found.length > 0) throw new Error(`two runs of ${this.name} differ: ${found.slice(0, 5).join('; ')}`)
    return readStates(copies)
  }

  /** Resumes a state. Returns differences from the run that was not interrupted; the state is used up. */
  async resume({ folder }: CrashState): Promise<string[]> {
    const { out } = folders(this.#bench, this.name)
    rmSync(out, { recursive: true, force: true })
    renameSync(folder, out)
    const ends = await finish(sidesOf(this.name).map((side) => this.#start(out, side)))
    const failed = ends.filter(({ code }) => code !== 0)
    if (failed.length > 0)
      return failed.map(({ code, signal, output }) => `exit ${code ?? signal}: ${output.slice(-800)}`)
    const litter = existsSync(out) ? readdirSync(out, { recursive: true }).map(String) : []
    return [
      ...differences(this.expected, resultOf(out)),
      ...litter.filter((path) => LITTER.test(basename(path))).map((path) => `${path} was left behind`),
    ]
  }

  #start(out: string, side: readonly string[]): StartedSide {
    return startSide(this.#bench.cli, this.#bench.dir, this.name, out, side)
  }
}

/** Returns the number of times that each operation of a trace was seen. */
export function readOperations(trace: string): Map<string, number> {
  const operations = new Map<string, number>()
  for (const line of readFileSync(trace, 'utf8').split('\n').filter(Boolean))
    operations.set(line, (operations.get(line) ?? 0) + 1)
  return operations
}

/** Returns the states in a folder of copies, each content once. */
export function readStates(copies: string): CrashState[] {
  const seen = new Set<string>()
  const states: CrashState[] = []
  for (const note of readdirSync(copies).filter((name) => name.endsWith('.txt'))) {
    const folder = join(copies, basename(note, '.txt'))
    const hash = hashOf(folder)
    const [time, ...at] = readFileSync(join(copies, note), 'utf8').trim().split(' ')
    if (!seen.has(hash)) states.push({ at: at.join(' '), time: Number(time), folder })
    seen.add(hash)
  }
  return states
}

/** Returns all points of a run, or so many of them that `most` are left: each kind of operation before others come twice. */
export function choosePoints(
  operations: ReadonlyMap<string, number>,
  random: () => number,
  most = Number.POSITIVE_INFINITY,
): Point[] {
  const [first, second]: [Point[], Point[]] = [[], []]
  for (const [line, count] of operations) {
    const phases = line.split(' ')[1] === 'write' ? ['before', 'half'] : ['before']
    for (const phase of phases) {
      // the last operation of a kind has no later one that repairs what it left undone
      const any = 1 + Math.floor(random() * count)
      first.push(`${count} ${phase} ${line}`)
      if (any !== count) second.push(`${any} ${phase} ${line}`)
    }
  }
  return [...shuffled(first, random), ...shuffled(second, random)].slice(0, most)
}

/** Returns the point before the last operation of this kind; throws if the run had none. */
export function lastPoint(operations: ReadonlyMap<string, number>, operation: RegExp): Point {
  for (const [line, count] of operations) if (operation.test(line)) return `${count} before ${line}`
  throw new Error(`no operation matches ${operation}`)
}

/**
 * Changes the locks below a folder into those that a power failure leaves: files that were not yet on the disk, seen after
 * the machine has been switched on again. Returns false if there is no lock.
 */
export function damageLocks(folder: string, damage: 'empty' | 'half'): boolean {
  const locks = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => /^\.lock-[a-z]+$/.test(basename(path)))
  for (const lock of locks) {
    const path = join(folder, lock)
    const { length } = readFileSync(path)
    truncateSync(path, damage === 'empty' ? 0 : Math.floor(length / 2))
    const then = Date.now() / 1000 - OLD_SECONDS
    utimesSync(path, then, then)
  }
  return locks.length > 0
}

const folders = ({ dir }: CrashBench, name: string) => ({
  out: join(dir, `crash-${name}`),
  prepared: join(dir, `prepared-${name}`),
})

function reset(prepared: string, out: string): void {
  rmSync(out, { recursive: true, force: true })
  if (existsSync(prepared)) cpSync(prepared, out, { recursive: true, preserveTimestamps: true })
}

async function run(bench: CrashBench, name: string, out: string, env: Record<string, string>): Promise<void> {
  rmSync(env.FREEZE_TRACE, { force: true })
  const sides = sidesOf(name).map((side, i) => {
    const freeze = { ...env, FREEZE_ROOT: out, FREEZE_TAG: `process${i}`, LD_PRELOAD: bench.library }
    return startSide(bench.cli, bench.dir, name, out, side, freeze)
  })
  for (const { code, signal, output } of await finish(sides))
    if (code !== 0)
      throw new Error(`the run of ${name} that is not interrupted ended with ${code ?? signal}:\n${output}`)
}

/** Waits for the processes of a run; one that fails or takes too long ends the others. */
async function finish(sides: readonly StartedSide[]): Promise<CaseEnd[]> {
  const stop = () => {
    for (const { child } of sides) child.kill('SIGKILL')
  }
  const timer = setTimeout(stop, STUCK_MS)
  for (const { done } of sides) done.then(({ code }) => code !== 0 && stop())
  const ends = await Promise.all(sides.map(({ done }) => done))
  clearTimeout(timer)
  return ends
}

function hashOf(folder: string): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length)
    if (TEXT.test(name)) continue
    hash.update(`${name}\0`)
    if (entry.isFile()) hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
