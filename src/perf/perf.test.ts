import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { parseGpus } from './gpu.js'
import { parseStat, treeUsage } from './process-tree.js'
import { readReport } from './read-report.js'
import { Resources } from './resources.js'
import { timingOf } from './timing.js'

describe('what a run uses', () => {
  it('is read from lines of /proc, whatever a program calls itself', () => {
    const rest = 'S 41 1 1 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 100 1000000 2048 18446744073709551615'
    expect(parseStat(`42 (a) b (c)) ${rest}`)).toEqual({ pid: 42, parent: 41, ticks: 300, pages: 2048 })
    expect(parseStat('')).toBeUndefined()
  })

  it.runIf(process.platform === 'linux')('counts what it has started', async () => {
    const before = await treeUsage()
    // 60 MB that are really there
    const child = spawn(process.execPath, [
      '-e',
      'const b = Buffer.alloc(6e7, 1); console.log(1); setInterval(() => b, 1e5)',
    ])
    await once(child.stdout, 'data')
    const during = await treeUsage()
    child.kill()
    expect(during.rssBytes - before.rssBytes).toBeGreaterThan(6e7)
    expect(during.cpuSeconds).toBeGreaterThanOrEqual(before.cpuSeconds)
  })

  it('has GPUs where nvidia-smi says so, and asks only once where it does not', async () => {
    const csv = '0, NVIDIA H200, 87, 1024, 143771\n1, NVIDIA H200, [N/A], 5, 143771\n\n'
    expect(parseGpus(csv)).toEqual([
      { gpu_id: 0, name: 'NVIDIA H200', gpu_util_percent: 87, gpu_memory_used_mb: 1024, gpu_memory_total_mb: 143771 },
      { gpu_id: 1, name: 'NVIDIA H200', gpu_util_percent: 0, gpu_memory_used_mb: 5, gpu_memory_total_mb: 143771 },
    ])
    let asked = 0
    const exec = async () => {
      asked++
      return { status: 'missing', stdout: '', stderr: '' } as never
    }
    const resources = new Resources(0.01, { exec })
    await expect.poll(() => resources.samples.length).toBeGreaterThan(2)
    await resources.close()
    expect(asked).toBe(1)
    expect(resources.samples[0].memory_rss_mb).toBeGreaterThan(10)
    expect(resources.samples.every(({ cpu_percent: cpu }) => cpu >= 0)).toBe(true)
  })
})

describe('a report', () => {
  it('has rates over the whole execution, and none without numbers', () => {
    const row = (count: number, prompt: number, response: number) => ({
      'experience_pipeline/experience_count': count,
      'rollout/prompt_length/mean': prompt,
      'rollout/response_length/mean': response,
    })
    expect(timingOf(3, 2, [row(10, 5, 2), row(20, 5, 4)])).toMatchObject({
      total_time_sec: 5,
      prompt_tokens_per_second: 75,
      response_tokens_per_second: 50,
      api_call_prompt_tokens_per_second: null,
    })
    expect(timingOf(1, 1, []).prompt_tokens_per_second).toBeNull()
  })

  it('is told from other files', async () => {
    const dir = await tempDir()
    const path = join(dir, 'output.json')
    const hint = expect.stringContaining('perf run')
    await expect(readReport(path)).rejects.toMatchObject({ message: `there is no report ${path}`, path, hint })
    await expect(readReport(dir)).rejects.toMatchObject({ code: 'perf/report', hint })
    await writeFile(path, '{')
    await expect(readReport(path)).rejects.toMatchObject({ code: 'perf/report', hint })
    await writeFile(path, '{"timing": 1}')
    await expect(readReport(path)).rejects.toThrow('is no report')
    await writeFile(path, '{"run_meta": {}, "timing": {}, "status": {}, "resource_timeline": [], "step_metrics": []}')
    expect(await readReport(path)).toMatchObject({ step_metrics: [] })
  })
})
