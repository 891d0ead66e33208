import { readFileSync, writeFileSync } from 'node:fs'
import { fixture } from '../support/test-data.js'
import type { Seen, Trace } from './trace.js'

const path = fixture('alfworld-traces.json')

/** Most commands are possible again and again: the file writes each once. */
interface Packed extends Omit<Trace, 'start' | 'steps'> {
  readonly commands: readonly string[]
  readonly start: PackedSeen
  readonly steps: readonly (PackedSeen & Omit<Trace['steps'][number], 'admissible'>)[]
}

interface PackedSeen {
  readonly observation: string
  readonly possible: readonly number[]
}

/** Traces of the real textworld in the houses of house.fixture.ts. */
export function goldenTraces(): Trace[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as Packed[]).map(({ id, commands, start, steps }) => {
    const unpack = <T extends PackedSeen>({ possible, ...rest }: T) => ({
      ...rest,
      admissible: possible.map((one) => commands[one]),
    })
    return { id, start: unpack(start), steps: steps.map(unpack) }
  })
}

export function writeGoldenTraces(traces: readonly Trace[]): void {
  const packed = traces.map(({ id, start, steps }): Packed => {
    const commands = [...new Set([start, ...steps].flatMap(({ admissible }) => admissible))].sort()
    const pack = <T extends Seen>({ admissible, ...rest }: T) => ({
      ...rest,
      possible: admissible.map((one) => commands.indexOf(one)),
    })
    return { id, commands, start: pack(start), steps: steps.map(pack) }
  })
  writeFileSync(path, `[\n${packed.map((trace) => JSON.stringify(trace)).join(',\n')}\n]\n`)
}
