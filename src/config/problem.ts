import { TrinityError } from '../base/error.js'
import { redact } from '../base/secret/index.js'
import { type Mark, markText } from './node.js'

export type Severity = 'error' | 'warning' | 'note'

/** One finding about a configuration: what, at which key, at which place, and what to do. */
export interface Problem {
  readonly severity: Severity
  /** Machine-readable, without the area: `unknown-key`, `type`, `gpu-split`. */
  readonly code: string
  readonly key: string
  readonly message: string
  readonly hint?: string
  readonly mark?: Mark
}

/** Collects the findings of a file, each once. */
export class Problems {
  readonly all: Problem[] = []
  readonly #seen = new Set<string>()

  /** What it says is printed and kept: a secret in it is hidden. */
  add(found: Problem): void {
    const problem = { ...found, message: redact(found.message), hint: found.hint && redact(found.hint) }
    const id = JSON.stringify([problem.code, problem.key, problem.message, problem.mark])
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    this.all.push(problem)
  }

  error(code: string, key: string, message: string, at?: Mark, hint?: string): void {
    this.add({ severity: 'error', code, key, message, mark: at, hint })
  }

  warn(code: string, key: string, message: string, at?: Mark, hint?: string): void {
    this.add({ severity: 'warning', code, key, message, mark: at, hint })
  }

  note(code: string, key: string, message: string, at?: Mark): void {
    this.add({ severity: 'note', code, key, message, mark: at })
  }

  get errors(): Problem[] {
    return this.all.filter((problem) => problem.severity === 'error')
  }

  /** Warnings and notes. */
  get remarks(): Problem[] {
    return this.all.filter((problem) => problem.severity !== 'error')
  }

  throwIfErrors(file: string): void {
    if (this.errors.length > 0) throw new ConfigError(file, this.all)
  }
}

/** Longest key in a message: the text of a damaged file may become one key. */
const LONGEST_KEY = 300

export function problemText(problem: Problem): string {
  const where = problem.mark ? `${markText(problem.mark)} ` : ''
  const key = problem.key ? `${problem.key.slice(0, LONGEST_KEY)}: ` : ''
  return `${where}${key}${problem.message}${problem.hint ? ` (${problem.hint})` : ''}`
}

/** All problems of a configuration at once. */
export class ConfigError extends TrinityError {
  /** Errors first, then the warnings and notes that were found on the way. */
  readonly problems: readonly Problem[]

  constructor(file: string, problems: readonly Problem[]) {
    const errors = problems.filter((problem) => problem.severity === 'error')
    const head = errors.length === 1 ? '1 problem' : `${errors.length} problems`
    super('config/invalid', `${head} in ${file}\n${errors.map((e) => `  ${problemText(e)}`).join('\n')}`, {
      path: errors[0]?.mark ? markText(errors[0].mark) : file,
    })
    this.problems = [...errors, ...problems.filter((problem) => problem.severity !== 'error')]
  }

  override toJSON() {
    return { ...super.toJSON(), problems: this.problems }
  }
}
