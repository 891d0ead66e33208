import { isJsonObject } from '../../base/file/json-file.js'
import { jsonIn } from '../../base/json-text.js'

/** Characters at the end: a program may print without end, and its reward stands last. */
const LOOKED_AT = 1 << 16

/** The reward in what a program printed: its last line that is JSON and tells one; undefined: there is none. */
export function outputReward(output: string): unknown {
  const lines = output.slice(-LOOKED_AT).trimEnd().split('\n')
  for (let i = lines.length - 1; i >= 0; i--) {
    const text = lines[i].trim()
    if (!/^["[{\d-]/.test(text)) continue
    const value = jsonIn(text)
    if (typeof value === 'number') return value
    if (isJsonObject(value)) return value.reward ?? value.rewards
    // other lines may follow the reward only if they are no JSON
    if (value !== undefined) return undefined
  }
  return undefined
}
