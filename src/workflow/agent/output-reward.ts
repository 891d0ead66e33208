import { isJsonObject } from '../../base/file/json-file.js'

/** The reward in what a program printed: its last line that is JSON and tells one; undefined: there is none. */
export function outputReward(output: string): unknown {
  for (const line of output.trimEnd().split('\n').reverse()) {
    const text = line.trim()
    if (text === '') continue
    const value = parsed(text)
    if (typeof value === 'number') return value
    if (isJsonObject(value)) return value.reward ?? value.rewards
    // other lines may follow the reward only if they are no JSON
    if (value !== undefined) return undefined
  }
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
