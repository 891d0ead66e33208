import { shortPath } from '../../base/file/short-path.js'
import { countLines } from '../run-counts.js'
import type { RunSummary } from '../view.js'
import { duration, figure } from './number.js'

const MOST_CHANGES = 8

/** The last words of a run as lines: how it ended, what it reached, where the weights are, what to do now. */
export function summaryLines(summary: RunSummary): { label: string; text: string }[] {
  const { ok, stopped, isOld, changed = [], steps, now, seconds, firstEval, bestEval, checkpoint, next = [] } = summary
  const { partial, counts } = summary
  const label = !ok ? 'failed' : stopped ? 'stopped' : partial === undefined ? 'done' : 'partial'
  const text = isOld
    ? `nothing to do: this run already finished after ${stepsOf(steps)}`
    : partial !== undefined
      ? `ended ${partial}`
      : steps === 0 && label !== 'done'
        ? `before a step was done, after ${duration(seconds)}`
        : `${stepsOf(steps)}${ofThemNow(steps, now)} in ${duration(seconds)}`
  const lines = [{ label, text }]
  const shown = changed.length > MOST_CHANGES ? [...changed.slice(0, MOST_CHANGES), '…'] : changed
  shown.forEach((change, i) => void lines.push({ label: i === 0 ? 'changed' : '', text: change }))
  if (counts) lines.push(...countLines(counts))
  if (bestEval) {
    const first = firstEval && firstEval.metric === bestEval.metric ? firstEval : undefined
    const from = first ? `first ${figure(first.score)} (step ${first.step}), ` : ''
    lines.push({
      label: 'eval',
      text: `${bestEval.metric}: ${from}best ${figure(bestEval.score)} (step ${bestEval.step})`,
    })
  }
  if (checkpoint !== undefined) lines.push({ label: 'weights', text: shortPath(checkpoint) })
  next.forEach((command, i) => void lines.push({ label: i === 0 ? 'next' : '', text: command }))
  return lines
}

function stepsOf(count: number): string {
  return `${figure(count)} ${count === 1 ? 'step' : 'steps'}`
}

/** An earlier run has done the others. */
function ofThemNow(steps: number, now = steps): string {
  return now < steps ? `, ${now === 0 ? 'none' : figure(now)} of them now,` : ''
}
