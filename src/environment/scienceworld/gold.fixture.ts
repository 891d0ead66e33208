import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { testData } from '../../../test/support/test-data.js'

/** An episode that was recorded by others, with the real package. */
export interface Recorded {
  readonly task: string
  readonly variation: number
  readonly description: string
  readonly steps: readonly { action: string; observation: string; score: number }[]
}

interface Log {
  readonly history: {
    readonly taskName: string
    readonly variationIdx: number
    readonly taskDescription: string
    readonly history: readonly { action: string; observation: string; score: string }[]
  }
}

export const goldLogs = testData('scienceworld/oracle_log')

/** Every recorded episode. The first of its actions is the look around that every episode begins with. */
export function recordedEpisodes(): Recorded[] {
  const files = readdirSync(goldLogs.path).filter((name) => name.endsWith('.json.gz'))
  return files.flatMap((name) => {
    const text = gunzipSync(readFileSync(join(goldLogs.path, name))).toString()
    return Object.values(JSON.parse(text) as Record<string, Log>).map(({ history }) => ({
      task: history.taskName,
      variation: history.variationIdx,
      description: history.taskDescription,
      steps: history.history.map(({ action, observation, score }) => ({ action, observation, score: Number(score) })),
    }))
  })
}
