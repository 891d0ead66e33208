import type { RolloutRow } from '../../src/studio/api.js'
import { Reward } from './reward.js'
import { withoutFrames } from './task-words.js'

interface Props {
  readonly row: RolloutRow
  /** The reward that fills a bar. */
  readonly most: number
  readonly head: string
  readonly href: string
  readonly withPrompt?: boolean
}

/** A rollout beside others. */
export function RolloutCard({ row, most, head, href, withPrompt }: Props) {
  return (
    <li>
      <a href={href}>
        <span class="muted">{head}</span>
        <Reward reward={row.reward} most={most} />
        {withPrompt && <p class="said muted">{withoutFrames(row.prompt ?? '')}</p>}
        <p class="said">{row.response}</p>
        {row.failure !== undefined && <small class="tag bad">{row.failure.replaceAll('_', ' ')}</small>}
      </a>
    </li>
  )
}
