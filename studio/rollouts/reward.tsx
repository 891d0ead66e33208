import type { RolloutRow } from '../../src/studio/api.js'
import { number } from '../base/format.js'

type Value = RolloutRow['reward']

/** The reward that fills a bar: the greatest there is, and not less than 1, so that a table of failures looks like one. */
export const mostOf = (rows: readonly { readonly reward?: Value }[]) =>
  rows.reduce((most, { reward }) => (typeof reward === 'number' ? Math.max(most, Math.abs(reward)) : most), 1)

/** A reward as number and bar: 0.1 and 1 look as different as they are. */
export function Reward({ reward, most }: { reward: Value; most: number }) {
  const share = typeof reward === 'number' ? Math.min(1, Math.abs(reward) / most) : 0
  return (
    <span class="reward-value figure">
      {number(reward)}
      <i class={typeof reward === 'number' && reward < 0 ? 'below' : ''} aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </i>
    </span>
  )
}
