import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import type { PlannedRun } from './plan.js'
import { writeResults } from './results.js'

it('makes a table, a chart and a file of all curves from the folders of the runs', async () => {
  const dir = await tempDir()
  const runOf = (id: string, values: readonly number[]) => {
    const job = join(dir, id)
    mkdirSync(join(job, 'monitor'), { recursive: true })
    const rows = values.map((value, step) =>
      JSON.stringify({ step, time: step, metrics: { 'eval/x/success/mean@1': value } }),
    )
    writeFileSync(join(job, 'monitor/explorer.jsonl'), `${rows.join('\n')}\n`)
    return { id, arm: id, config: { checkpoint_job_dir: job } } as unknown as PlannedRun
  }
  const runs = [runOf('a', [0, 0.25]), runOf('b', [0, 0.5, 1])]
  const plan = { name: 's', dir, runs }
  const found = await writeResults(plan, runs, { axis: 'steps' })
  expect(found?.table.split('\n')[2]).toMatch(/^b +1 +0\.?0* +0\.500 +0\.500$/)
  expect(readFileSync(join(dir, 'chart.svg'), 'utf8')).toContain('</svg>')
  expect(readFileSync(join(dir, 'table.txt'), 'utf8')).toBe(`${found?.table}\n`)
  const all = JSON.parse(readFileSync(join(dir, 'results.json'), 'utf8'))
  expect(all).toMatchObject({ metric: 'eval/x/success/mean@1', axis: 'steps', budget: 1 })
  expect(all.runs[1].curve).toHaveLength(3)

  const wrong = writeResults(plan, runs, { axis: 'steps', metric: 'eval/x/succes/mean@1' })
  await expect(wrong).rejects.toMatchObject({ code: 'sweep/metric', hint: 'did you mean eval/x/success/mean@1?' })
  expect(
    await writeResults(plan, [{ ...runs[0], config: { checkpoint_job_dir: '/nowhere' } } as PlannedRun], {
      axis: 'steps',
    }),
  ).toBeUndefined()
})
