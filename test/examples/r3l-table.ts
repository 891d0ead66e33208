import { readFileSync } from 'node:fs'
import { fixture } from '../support/test-data.js'

export const WORLDS = ['alfworld', 'webshop', 'scienceworld', 'dapo', 'countdown'] as const
export const ALGORITHMS = ['grpo', 'opmd', 'RAFT', 'opmd_reweight_adv', 'opmd_R3L'] as const
export const SIZES = ['1.5B', '7B'] as const
export type World = (typeof WORLDS)[number]

const COLUMNS =
  'env stem algorithm workflow repeat kl loss lossArgs response sequenceParallel tokens seed engines runners filter warmup args'.split(
    ' ',
  )

/** What the table of the study says of one file. */
export type StudyRow = Readonly<Record<string, string>>

/** The rows of the study's table by `<env>/<stem>_<size>`. */
export function studyTable(): Map<string, StudyRow> {
  const lines = readFileSync(fixture('r3l_yaml_table.txt'), 'utf8').trim().split('\n').slice(1)
  return new Map(
    lines.map((line) => {
      const [left, right] = line.split(' <= ')
      const values = left.split('|')
      const [size, model] = right.split(':')
      const row = Object.fromEntries(COLUMNS.map((name, i) => [name, values[i]]))
      return [`${row.env}/${row.stem}_${size}`, { ...row, model }]
    }),
  )
}
