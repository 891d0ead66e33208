import type { RolloutRow } from '../../src/studio/api.js'
import { linkTo } from '../base/place.js'
import { RolloutCard } from './rollout-card.js'

interface Props {
  /** The run and the store that they are from. */
  readonly id: string
  readonly store: string
  readonly rows: readonly RolloutRow[]
  /** The reward that fills a bar. */
  readonly most: number
  readonly headOf: (row: RolloutRow) => string
  readonly withPrompt?: boolean
}

/** Rollouts beside each other, each a link to itself. */
export function RolloutCards({ id, store, rows, most, headOf, withPrompt }: Props) {
  return (
    <ol class="attempts">
      {rows.map((row) => (
        <RolloutCard
          key={row.id}
          row={row}
          most={most}
          head={headOf(row)}
          href={linkTo(['runs', id, 'rollout'], { store, id: row.id })}
          withPrompt={withPrompt}
        />
      ))}
    </ol>
  )
}
