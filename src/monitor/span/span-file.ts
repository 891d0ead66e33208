import { appendFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../base/file/make-folder.js'
import { SPAN_KINDS, type Span, type SpanKind, type SpanLane } from './span.js'

/** What a process that is killed loses. */
const FLUSH_MS = 1000

/** Nobody sees what is shorter. */
const SHORTEST_S = 1e-4

/** Below the folder of the monitors: one file for each process of a run. */
export const SPANS = 'spans'

/**
 * `<job>/monitor/spans/<role>.jsonl`: who did what when, one line for each span, in the order of their ends. It is there for
 * people who look at a run: no run reads it, so one that cannot be written is nobody's concern.
 */
export class SpanFile {
  readonly #path: string
  #lines: string[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  lane(lane: string): SpanLane {
    return {
      done: (kind, label, begun, step, ended = performance.now()) => {
        const begin = (performance.timeOrigin + begun) / 1000
        this.#add({ lane, kind, label, begin, seconds: (ended - begun) / 1000, step })
      },
    }
  }

  async close(): Promise<void> {
    this.#flush()
    await this.#writing
  }

  #add(span: Span): void {
    if (span.seconds < SHORTEST_S) return
    this.#lines.push(lineOf(span))
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#lines.splice(0).join('')
    if (text === '') return
    this.#writing = this.#writing
      .then(() => makeFolder(dirname(this.#path)))
      .then(() => appendFile(this.#path, text))
      .catch(() => {})
  }
}

function lineOf({ lane, kind, label, begin, seconds, step }: Span): string {
  const numbers = [Math.round(begin * 1e5) / 1e5, Math.round(seconds * 1e6) / 1e6]
  return `${JSON.stringify([lane, kind, label, ...numbers, ...(step === undefined ? [] : [step])])}\n`
}

/** Undefined: the line was cut, or another program wrote it. */
export function readSpan(line: string): Span | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!Array.isArray(value)) return undefined
  const [lane, kind, label, begin, seconds, step] = value as unknown[]
  if (typeof lane !== 'string' || typeof label !== 'string' || !SPAN_KINDS.includes(kind as SpanKind)) return undefined
  if (typeof begin !== 'number' || typeof seconds !== 'number') return undefined
  return { lane, kind: kind as SpanKind, label, begin, seconds, step: typeof step === 'number' ? step : undefined }
}
