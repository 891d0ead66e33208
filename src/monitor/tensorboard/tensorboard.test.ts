import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { crc32c } from './crc32c.js'
import { TensorBoardMonitor } from './tensorboard.js'

const root = mkdtempSync(join(tmpdir(), 'trinity-tb-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A reader of its own: protocol buffer fields as [number, value]. */
function fields(data: Buffer): [number, number | bigint | Buffer][] {
  const found: [number, number | bigint | Buffer][] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = data[at++]
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < data.length) {
    const key = Number(varint())
    const field = key >> 3
    if ((key & 7) === 0) found.push([field, varint()])
    else if ((key & 7) === 1) {
      found.push([field, data.readDoubleLE(at)])
      at += 8
    } else if ((key & 7) === 5) {
      found.push([field, data.readFloatLE(at)])
      at += 4
    } else {
      const length = Number(varint())
      found.push([field, data.subarray(at, at + length)])
      at += length
    }
  }
  return found
}

/** CRC-32C bit by bit, from the polynomial. */
function slowCrc(data: Buffer): number {
  let crc = 0xffffffff
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return ~crc >>> 0
}
const unmask = (masked: number) => {
  const rotated = (masked - 0xa282ead8) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0
}

interface Event {
  time: number
  step: number
  version?: string
  start?: boolean
  values: Record<string, number>
}

function readEvents(file: string): Event[] {
  const bytes = readFileSync(file)
  const events: Event[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at))
    expect(unmask(bytes.readUInt32LE(at + 8))).toBe(slowCrc(bytes.subarray(at, at + 8)))
    const data = bytes.subarray(at + 12, at + 12 + length)
    expect(unmask(bytes.readUInt32LE(at + 12 + length))).toBe(slowCrc(data))
    at += 16 + length
    const event: Event = { time: 0, step: 0, values: {} }
    for (const [field, value] of fields(data)) {
      if (field === 1) event.time = value as number
      if (field === 2) event.step = Number(BigInt.asIntN(64, value as bigint))
      if (field === 3) event.version = value.toString()
      if (field === 7) event.start = fields(value as Buffer)[0][1] === 1n
      if (field !== 5) continue
      for (const [, one] of fields(value as Buffer)) {
        const parts = new Map(fields(one as Buffer))
        event.values[String(parts.get(1))] = parts.get(2) as number
      }
    }
    events.push(event)
  }
  return events
}

describe('TensorBoardMonitor', () => {
  let dir: string
  let count = 0
  beforeEach(() => {
    dir = join(root, String(count++))
  })
  const files = () => readdirSync(dir).sort()

  it('knows the check value of CRC-32C', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  })

  it('writes events that can be read back', async () => {
    const monitor = new TensorBoardMonitor(dir, () => 1_700_000_000_500)
    monitor.log({ 'actor/loss': 0.5, 'réward@4': Number.NaN, big: 1e300 }, 3)
    monitor.log({}, 4)
    monitor.log({ a: -2 }, 2 ** 40)
    await monitor.close()
    expect(files()[0]).toMatch(/^events\.out\.tfevents\.1700000000\./)
    expect(readEvents(join(dir, files()[0]))).toEqual([
      { time: 1_700_000_000.5, step: 0, version: 'brain.Event:2', values: {} },
      { time: 1_700_000_000.5, step: 3, values: { 'actor/loss': 0.5, 'réward@4': Number.NaN, big: Infinity } },
      { time: 1_700_000_000.5, step: 2 ** 40, values: { a: -2 } },
    ])
  })

  it('leaves no file when there is nothing to say', async () => {
    const monitor = new TensorBoardMonitor(dir)
    monitor.rewind(-1)
    await monitor.close()
    expect(existsSync(dir)).toBe(false)
  })

  it('begins a file for each start, later in name, and voids what is made again', async () => {
    await run(10_000_000, undefined, [1, 2, 3])
    await run(9_000_000, 2, [3, 4])
    expect(files()).toHaveLength(2)
    const events = readEvents(join(dir, files()[1]))
    expect(events[1]).toMatchObject({ step: 3, start: true })
    expect(events.slice(2).map(({ step }) => step)).toEqual([3, 4])
  })

  /** What TensorBoard shows of a tag: a session's start voids what earlier files have from its step on. */
  function shown(tag: string): [number, number][] {
    const points: [number, number][] = []
    for (const file of files()) {
      for (const { step, start, values } of readEvents(join(dir, file))) {
        if (start) points.splice(0, points.length, ...points.filter(([at]) => at < step))
        if (tag in values) points.push([step, values[tag]])
      }
    }
    return points
  }

  it('shows the evaluation of the step that a killed run goes on from once, and loses nothing of that step', async () => {
    const first = new TensorBoardMonitor(dir, () => 10_000_000)
    first.log({ 'rollout/reward/mean': 0.25 }, 1)
    first.log({ 'rollout/reward/mean': 0.5 }, 2)
    first.log({ 'eval/held/reward/mean@1': 0.5, 'eval/other/reward/mean@1': 0.75, 'time/eval': 1 }, 2)
    first.log({ 'rollout/reward/mean': 0.75 }, 3)
    // killed: nothing is closed
    const second = new TensorBoardMonitor(dir, () => 11_000_000)
    second.rewind(2)
    second.log({ 'eval/held/reward/mean@1': 0.625, 'time/eval': 2 }, 2)
    second.log({ 'rollout/reward/mean': 1 }, 3)
    await second.close()
    await first.close()
    expect(shown('eval/held/reward/mean@1')).toEqual([[2, 0.625]])
    expect(shown('eval/other/reward/mean@1')).toEqual([[2, 0.75]])
    expect(shown('time/eval')).toEqual([[2, 2]])
    expect(shown('rollout/reward/mean')).toEqual([
      [1, 0.25],
      [2, 0.5],
      [3, 1],
    ])
  })

  async function run(now: number, rewind: number | undefined, steps: number[]): Promise<void> {
    const monitor = new TensorBoardMonitor(dir, () => now)
    if (rewind !== undefined) monitor.rewind(rewind)
    for (const step of steps) monitor.log({ 'critic/score/mean': step / 10 + (rewind ?? 0) }, step)
    await monitor.close()
  }
})
