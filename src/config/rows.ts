import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TasksetConfig } from './section/config.js'

/** Rows of a local JSONL file, counted by its lines; undefined for everything else. */
export function localRows(set: TasksetConfig, cwd: string): number | undefined {
  if (set.storage_type !== 'file' || !set.path) return undefined
  const path = resolve(cwd, set.path)
  const file = [path, join(path, `${set.split}.jsonl`)].find(
    (one) => one.endsWith('.jsonl') && existsSync(one) && statSync(one).isFile(),
  )
  return file === undefined ? undefined : countLines(file)
}

function countLines(file: string): number {
  const chunk = Buffer.alloc(1 << 20)
  const handle = openSync(file, 'r')
  let lines = 0
  let inLine = false
  try {
    for (let size = readSync(handle, chunk); size > 0; size = readSync(handle, chunk)) {
      for (let i = 0; i < size; i++) {
        if (chunk[i] === 10) {
          if (inLine) lines++
          inLine = false
        } else if (chunk[i] !== 13 && chunk[i] !== 32) inLine = true
      }
    }
  } finally {
    closeSync(handle)
  }
  return inLine ? lines + 1 : lines
}
