import { calculate } from './agents/calculate.mjs'

/** Whether a call is the one that was needed: the same item, or a sum of the same value. */
function isSame({ tool, given }, need) {
  if (tool !== need.tool) return false
  return tool === 'price'
    ? given.item === need.given.item
    : calculate(given.expression) === calculate(need.given.expression)
}

/**
 * What a rollout is worth: 1 for the right answer after the right calls and no others (`solved`), and a little for each call
 * that was needed (`calls`), so that there is something to begin with.
 */
export function rewardOf({ truth, needs }, { text, calls }) {
  const made = needs.filter((need) => calls.some((call) => isSame(call, need)))
  const all = made.length === needs.length
  const answered = text.match(/-?\d+(?:\.\d+)?/g)?.at(-1) === truth
  const solved = answered && all && calls.length === needs.length
  return { solved: solved ? 1 : 0, calls: (0.3 * made.length) / needs.length + (answered && all ? 0.1 : 0) }
}
