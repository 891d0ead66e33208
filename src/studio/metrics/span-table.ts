import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readSpan, SPANS } from '../../monitor/span/span-file.js'
import type { Lane, Span } from '../api.js'
import { Tail } from '../log/tail.js'
import type { FoundRun } from '../run/find.js'
import { inside } from '../run/inside.js'

const KINDS = ['explorer', 'sampler', 'trainer', 'synchronizer'] as const

/** What the processes of a run have recorded of their work; read once, and then only what is new. */
export class SpanTable {
  readonly #tails = new Map<string, Tail>()
  readonly #lanes = new Map<string, Span[]>()

  /** In order of lanes; none: the run has recorded nothing. */
  async read({ path, root }: FoundRun): Promise<Lane[]> {
    const dir = join(path, 'monitor', SPANS)
    for (const name of await readdir(dir).catch(() => [])) {
      if (!name.endsWith('.jsonl')) continue
      const file = await inside(root, join(dir, name)).catch(() => undefined)
      if (file === undefined) continue
      const tail = this.#tails.get(name) ?? new Tail(file, 0)
      this.#tails.set(name, tail)
      await this.#take(tail)
    }
    const lanes = [...this.#lanes].map(([name, spans]): Lane => ({ name, kind: kindOf(name), spans }))
    const rank = ({ kind }: Lane) => KINDS.indexOf(kind)
    return lanes.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en', { numeric: true }))
  }

  async #take(tail: Tail): Promise<void> {
    for (;;) {
      const { restarted, lines } = await tail.read()
      if (restarted) this.#lanes.clear()
      if (lines.length === 0) return
      for (const { text } of lines) {
        const span = readSpan(text)
        if (!span) continue
        const { lane, begin, seconds, kind, label, step } = span
        const spans = this.#lanes.get(lane) ?? []
        this.#lanes.set(lane, spans)
        spans.push({ begin, end: begin + seconds, kind, label, step })
      }
    }
  }
}

/** An explorer may have any name. */
function kindOf(lane: string): Lane['kind'] {
  const [word] = lane.split(' ')
  return KINDS.find((kind) => kind === word) ?? 'explorer'
}
