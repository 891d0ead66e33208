import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { hasTasks, runTaskPipeline } from './task-pipeline.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-tasks-'))
let server: Server | undefined
afterEach(async () => {
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  rmSync(folder, { recursive: true, force: true })
})

/** A service that notes what it is asked, and writes its output when it is told to. */
async function start(calls: unknown[][], writes: boolean): Promise<string> {
  let output = ''
  server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const body = text ? JSON.parse(text) : undefined
    calls.push([request.url, body])
    output = body?.output_dir ?? output
    if (request.url === '/process_task' && writes) {
      mkdirSync(output, { recursive: true })
      writeFileSync(join(output, 'output.jsonl'), '{}\n')
    }
    const answers: Record<string, unknown> = {
      '/create': { session_id: 's' },
      '/process_task': { metrics: { sample_num: 3, note: 'x' } },
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[request.url!] ?? {}))
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server!.address() as AddressInfo).port}`
}

describe('the task pipeline', () => {
  const config = {
    operators: [{ name: 'llm_difficulty_score_filter', args: { api_or_hf_model: 'm' } }],
    inputs: ['tasks.jsonl'],
    output: { path: join(folder, 'out') },
    priority_weights: { difficulty: -0.7 },
    top_k: 100,
  }

  it('has the service work on the files', async () => {
    const calls: unknown[][] = []
    const metrics = await runTaskPipeline(config, { server_url: await start(calls, true) })
    expect(metrics).toEqual({ sample_num: 3 })
    expect(calls).toEqual([
      ['/health', undefined],
      [
        '/create',
        {
          pipeline_type: 'task',
          operators: [{ llm_difficulty_score_filter: { api_or_hf_model: 'm' } }],
          np: 4,
          config_path: null,
          inputs: ['tasks.jsonl'],
          target_fields: [],
          output_dir: join(folder, 'out'),
          priority_weights: { difficulty: -0.7 },
          top_k: 100,
        },
      ],
      ['/process_task', { session_id: 's' }],
      ['/close', { session_id: 's' }],
    ])
  })

  it('does not believe a service that has written nothing', async () => {
    const calls: unknown[][] = []
    const run = runTaskPipeline(config, { server_url: await start(calls, false) })
    await expect(run).rejects.toMatchObject({ code: 'data-juicer/answer' })
    expect(calls.at(-1)?.[0]).toBe('/close')
  })

  it('says what is missing', async () => {
    const nowhere = runTaskPipeline({ ...config, output: null }, {})
    await expect(nowhere).rejects.toMatchObject({ path: 'data_processor.task_pipeline.output.path' })
    const nothing = runTaskPipeline({ ...config, inputs: [] }, {})
    await expect(nothing).rejects.toMatchObject({ path: 'data_processor.task_pipeline.inputs' })
    await expect(runTaskPipeline(config, null)).rejects.toMatchObject({ path: 'service.data_juicer.server_url' })
  })

  it('makes its tasks once, and writes to no folder that holds something else', () => {
    const [out, other] = [join(folder, 'once'), join(folder, 'other')]
    expect(hasTasks(out)).toBe(false)
    mkdirSync(out, { recursive: true })
    expect(hasTasks(out)).toBe(false)
    writeFileSync(join(out, 'output.jsonl'), '{}\n')
    expect(hasTasks(out)).toBe(true)
    mkdirSync(other, { recursive: true })
    writeFileSync(join(other, 'train.jsonl'), '{}\n')
    expect(() => hasTasks(other)).toThrowError(expect.objectContaining({ code: 'config/task-pipeline' }))
  })
})
