import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { testData } from '../support/test-data.js'
import type { Asked } from './trace.js'

/** A game of the data set. */
export interface GameRow extends Asked {
  readonly walkthrough: readonly string[]
}

export function gamesIn(split: string): GameRow[] {
  const packed = readFileSync(testData(`alfworld/games/${split}.jsonl.gz`).path)
  return gunzipSync(packed)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
