import { join, resolve } from 'node:path'
import type { Config } from '../../config/index.js'
import type { Facts } from '../../config/resolve/facts.js'
import { parseModelConfig } from '../../model/config.js'
import { estimateMemory } from '../../model/estimate.js'

/**
 * With fewer parameters two cores are done before a GPU has been handed its work: the quick start, with 0.35 million, takes
 * a quarter of the time.
 */
const TINY = 1e6

/** Whether the job's model is one that a GPU would only slow down. One that is not here, or cannot be read, is not. */
export function isTiny({ model }: Config, { cwd, readText }: Pick<Facts, 'cwd' | 'readText'>): boolean {
  if (!model.model_path) return false
  const text = readText(join(resolve(cwd, model.model_path), 'config.json'))
  if (text === undefined) return false
  try {
    return estimateMemory(parseModelConfig(JSON.parse(text))).parameters < TINY
  } catch {
    // whoever opens it says what is wrong with it
    return false
  }
}
