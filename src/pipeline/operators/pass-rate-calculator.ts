import { z } from 'zod'
import type { Experience } from '../../experience/experience.js'
import { hasReward, operator, type SelectorFeedback } from '../operator.js'

/** Bounds of the published metrics: one sixteenth away from never and from always. */
const LOW = 1 / 16 + 1e-3
const HIGH = 15 / 16 - 1e-3

export const passRateCalculator = operator({
  doc: 'Tells the task selectors the mean reward of every task of the batch.',
  args: z.strictObject({}),
  create: () => ({
    process(experiences) {
      const tasks = new Map<string, { taskset: string; index: number; sum: number; count: number }>()
      for (const experience of experiences) {
        const index = taskIndex(experience)
        // what is only imitated says nothing of how often the task is solved
        if (index === undefined || !hasReward(experience) || experience.info.is_expert === true) continue
        const key = `${index.taskset}/${index.index}`
        const task = tasks.get(key) ?? { ...index, sum: 0, count: 0 }
        tasks.set(key, task)
        task.sum += experience.reward
        task.count++
      }
      const feedback: SelectorFeedback = {}
      const rates: number[] = []
      for (const { taskset, index, sum, count } of tasks.values()) {
        feedback[taskset] ??= { indices: [], values: [] }
        feedback[taskset].indices.push(index)
        feedback[taskset].values.push(sum / count)
        rates.push(sum / count)
      }
      return { experiences: [...experiences], feedback, metrics: selectionMetrics(rates) }
    },
  }),
})

/** Where the explorer says which task of which task set an experience belongs to. */
function taskIndex({ info }: Experience): { taskset: string; index: number } | undefined {
  const at = info.task_index as { taskset_id?: unknown; index?: unknown } | undefined
  if (typeof at !== 'object' || at === null || typeof at.index !== 'number') return undefined
  return { taskset: String(at.taskset_id ?? 0), index: at.index }
}

function selectionMetrics(rates: readonly number[]): Record<string, number> {
  if (rates.length === 0) return {}
  const share = (test: (rate: number) => boolean) => rates.filter(test).length / rates.length
  return {
    'selection/valid_ratio': share((rate) => rate > 0 && rate < 1),
    'selection/strict_valid_ratio': share((rate) => rate > LOW && rate < HIGH),
    'selection/<1_ratio': share((rate) => rate < 1),
    'selection/>0_ratio': share((rate) => rate > 0),
    'selection/<15_16_ratio': share((rate) => rate < HIGH),
    'selection/>1_16_ratio': share((rate) => rate > LOW),
  }
}
