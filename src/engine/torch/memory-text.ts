import { bytes } from '../../base/bytes.js'
import type { Card } from '../description.js'
import { type MemoryItem, total } from './memory-model.js'
import { cacheOn, type MemoryPlan, phasesOf } from './memory-plan.js'

/** The plan in words, and how it compares with a device. */
export function memoryText(plan: MemoryPlan, card: Card | undefined): string[] {
  const { standing, training, rollout, cache } = plan
  const lines = [`always ${sum(standing)}`]
  if (training.length > 0) lines.push(`training + ${sum(training)}`)
  else if (plan.scoring > 0) lines.push(`scoring + ${bytes(plan.scoring)}`)
  if (cache) {
    const { perToken, least, most } = cache
    const range = `${bytes(least)} (one sequence) to ${bytes(most)} (a full batch)`
    lines.push(`rollout + ${sum(rollout)} + keys and values, ${bytes(perToken)} a token: ${range}`)
  }
  return [...lines, ...(card ? [comparison(plan, card)] : [])]
}

function comparison(plan: MemoryPlan, card: Card): string {
  const needs = phasesOf(plan).map((phase) => `${phase.name} ${bytes(phase.bytes)}`)
  const said = `of ${bytes(card.bytes)} (${card.name}): ${needs.join(', ')}`
  const cache = cacheOn(plan, card.bytes)
  if (!plan.cache || !cache || misfits(plan, card).length > 0) return said
  const tokens = Math.floor(cache.bytes / plan.cache.perToken)
  const turns = plan.turns && plan.training.length > 0
  const when = !turns
    ? ''
    : cache.stays
      ? ', which stays while the trainer computes'
      : ', whose memory the trainer gets while it computes'
  return `${said}; a cache of ${bytes(cache.bytes)} = ${tokens.toLocaleString('en')} tokens${when}`
}

/** Phases that do not fit into the device. */
export function misfits(plan: MemoryPlan, card: Card): { phase: ReturnType<typeof phasesOf>[number]; text: string }[] {
  return phasesOf(plan)
    .filter((phase) => phase.bytes > card.bytes * phase.share)
    .map((phase) => {
      const limit = phase.share < 1 ? `, of which ${Math.round(phase.share * 100)} % may be used` : ''
      const text = `${phase.name} needs about ${bytes(phase.bytes)} of GPU memory; the GPU has ${bytes(card.bytes)}${limit}`
      return { phase, text }
    })
}

function sum(items: readonly MemoryItem[]): string {
  const parts = items.map(({ what, bytes: size }) => `${what} ${bytes(size)}`)
  return items.length === 1
    ? `${bytes(total(items))} (${items[0].what})`
    : `${bytes(total(items))} = ${parts.join(' + ')}`
}
