import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Config } from '../config/index.js'
import { Closers } from './closers.js'
import { withDataJuicer } from './data-juicer.js'

/** Stands for Python: says yes to every package, and where it serves. */
const PYTHON = `#!/bin/sh
[ "$1" = -I ] && exit 0
echo from the service >&2
printf '{"port": 4711, "version": "1.2"}\\n'
cat > /dev/null
`
let dir: string
let closers: Closers
let notes: string[]
let lines: string[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'juicer-run-'))
  closers = new Closers()
  notes = []
  lines = []
  const python = join(dir, 'python')
  writeFileSync(python, PYTHON)
  chmodSync(python, 0o755)
  process.env.TRINITY_DATA_JUICER_PYTHON = python
})
afterEach(async () => {
  delete process.env.TRINITY_DATA_JUICER_PYTHON
  await closers.close()
  rmSync(dir, { recursive: true, force: true })
})

const config = (service: object | null, operators: object[], mode = 'both') =>
  ({
    mode,
    service: { data_juicer: service },
    data_processor: { experience_pipeline: { operators } },
  }) as unknown as Config
const ready = (given: Config, tasksDue = false) => {
  const logger = { debug() {}, warn() {}, error() {}, info: (line: string) => void lines.push(line) }
  const logs = { logger: () => logger, close: async () => {} }
  const { signal } = new AbortController()
  return withDataJuicer(given, tasksDue, { logs, closers, signal, note: (text) => notes.push(text) })
}
const START = { auto_start: true, server_url: null, port: null }
const USES = [{ name: 'reward_filter' }, { name: 'data_juicer', args: { np: 2, service_config: START } }]

it('starts the service once, and tells everybody where it is', async () => {
  const found = await ready(config(START, USES))
  const service = { ...START, server_url: 'http://127.0.0.1:4711' }
  expect(found.service.data_juicer).toEqual(service)
  expect(found.data_processor.experience_pipeline.operators).toEqual([
    { name: 'reward_filter' },
    { name: 'data_juicer', args: { np: 2, service_config: service } },
  ])
  expect(notes).toEqual(['Data-Juicer 1.2 was started at http://127.0.0.1:4711'])
  await expect.poll(() => lines).toEqual(['from the service'])
})

it('starts nothing that nobody asks for, or that runs already', async () => {
  for (const given of [
    config(null, USES),
    config({ ...START, auto_start: false }, USES),
    config({ ...START, server_url: 'http://there' }, USES),
    config(START, []),
    config(START, USES, 'train'),
  ]) {
    expect(await ready(given)).toBe(given)
  }
  expect(notes).toEqual([])
  await ready(config(START, [], 'train'), true)
  expect(notes).toHaveLength(1)
})
