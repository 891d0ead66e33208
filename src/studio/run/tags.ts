import { join } from 'node:path'
import { writeJsonFile } from '../../base/file/atomic-file.js'
import { readJsonObject } from '../../base/file/json-file.js'
import { TAGS } from '../../checkpoint/job-mark.js'
import { MARKS } from '../../checkpoint/layout.js'

/** Words that a person has given a run, in its own folder: whoever looks at it sees them. */
export async function readTags(dir: string): Promise<string[]> {
  const tags = (await readJsonObject(join(dir, MARKS, TAGS)))?.tags
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}

export async function writeTags(dir: string, tags: readonly string[]): Promise<string[]> {
  const kept = [...new Set(tags.map((tag) => tag.trim()).filter(Boolean))]
  await writeJsonFile(join(dir, MARKS, TAGS), { tags: kept })
  return kept
}
