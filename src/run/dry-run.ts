import type { Facts, PlanLine, Resolved } from '../config/index.js'
import { planOf } from '../config/plan.js'
import type { Card } from '../engine/description.js'
import { engineLookup } from '../engine/registry.js'
import { memoryOf } from './memory.js'
import { warningsOf } from './warnings.js'

/** What a run would do, in words. */
export interface DryRun {
  readonly stages: readonly { readonly name: string | null; readonly lines: readonly PlanLine[] }[]
  readonly warnings: readonly string[]
}

/** The plan of every stage, its memory compared with a GPU where one is known. */
export async function dryRun(
  resolved: Resolved,
  facts: Facts,
  card: Card | undefined,
  isFresh = false,
): Promise<DryRun> {
  const memory = await Promise.all(resolved.stages.map(({ config }) => memoryOf(config, card)))
  return {
    stages: resolved.stages.map((stage, i) => ({
      name: stage.name,
      lines: planOf(stage, facts, engineLookup, { memory: memory[i].lines, isFresh }),
    })),
    warnings: [...warningsOf(resolved), ...memory.flatMap(({ warnings }) => warnings)],
  }
}
