import { TrinityError } from '../base/error.js'
import { type Facts, machineFacts, type Parsed, type Problem, type Resolved, resolveConfig } from '../config/index.js'
import { loadCatalog } from './catalog.js'
import { preflight } from './preflight/problems.js'

/** A configuration to check: its name, and how it is read. */
export interface ToCheck {
  readonly file: string
  read(): Parsed
}

/** Everything that is wrong with a configuration, and what it means where nothing is. */
export interface Checked {
  readonly file: string
  readonly ok: boolean
  readonly problems: readonly Problem[]
  /** Absent: it could not be made sense of. */
  readonly resolved?: Resolved
}

/** Reads, resolves and compares with this machine. Plugins must be loaded before; nothing that a file names is run. */
export async function checkConfigs(files: readonly ToCheck[], facts: Facts = machineFacts()): Promise<Checked[]> {
  const read = files.map(({ file, read }) => ({ file, result: attempt(read) }))
  const catalog = await loadCatalog(read.flatMap(({ result }) => ('value' in result ? [result.value] : [])))
  const checked: Checked[] = []
  for (const { file, result } of read) {
    const done = 'value' in result ? attempt(() => resolveConfig(result.value, facts, catalog)) : result
    if ('value' in result && 'value' in done) {
      const problems = [...(await preflight(result.value, done.value, facts)), ...done.value.remarks]
      const ok = problems.every(({ severity }) => severity !== 'error')
      checked.push({ file, ok, problems, resolved: done.value })
    } else if ('error' in done) checked.push({ file, ok: false, problems: problemsOf(done.error, file) })
  }
  return checked
}

function attempt<T>(work: () => T): { value: T } | { error: TrinityError } {
  try {
    return { value: work() }
  } catch (error) {
    // what is wrong with the command stands in none of the files
    if (!(error instanceof TrinityError) || error.code.startsWith('cli/')) throw error
    return { error }
  }
}

/** The problems in an error of the loader, which may be a single one. */
function problemsOf(error: TrinityError, file: string): readonly Problem[] {
  if ('problems' in error) return error.problems as readonly Problem[]
  const { code, message, hint } = error
  return [{ severity: 'error', code, key: '', message, hint, mark: { file, line: 1, column: 1 } }]
}
