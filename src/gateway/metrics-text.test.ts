import { describe, expect, it } from 'vitest'
import { BUCKETS_MS } from './histogram.js'
import { Meter } from './meter.js'
import { prometheusText } from './metrics-text.js'

describe('metrics', () => {
  it('are in the text format of Prometheus', () => {
    const meter = new Meter()
    meter.error(404)
    for (const ms of [0.5, 3, 3, 1e9]) meter.total.add(ms)
    const text = prometheusText(meter.read([]))
    const lines = text.split('\n')
    expect(lines.pop()).toBe('')
    for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \w+ \S.*|\w+(\{\w+="[^"]+"\})? [\d.e+]+)$/)
    expect(text).toContain('trinity_gateway_errors_total{status="404"} 1\n')
    const buckets = lines.filter((line) => line.startsWith('trinity_gateway_call_seconds_bucket'))
    const counts = buckets.map((line) => Number(line.split(' ')[1]))
    expect(counts).toEqual([1, 1, ...Array(BUCKETS_MS.length - 2).fill(3), 4])
    expect(text).toContain('trinity_gateway_call_seconds_count 4\n')
    expect(text).toContain('le="0.005"')
  })
})
