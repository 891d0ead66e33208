import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { keepsItsPromises, releasesTakes } from './contract.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-buffer-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0

keepsItsPromises('queue in memory', () => ({ name: 'b', storage_type: 'queue' }))
keepsItsPromises('queue with JSONL', () => ({
  name: 'b',
  storage_type: 'queue',
  path: join(folder, `${made++}.jsonl`),
}))
keepsItsPromises('queue with SQLite', () => ({
  name: 'b',
  storage_type: 'queue',
  path: `sqlite:///${folder}/${made++}.db`,
}))
const sqlite = () => ({ name: 'b', storage_type: 'sql', path: `sqlite:///${folder}/${made++}.db` })
keepsItsPromises('SQLite', sqlite)
releasesTakes('SQLite', sqlite)
