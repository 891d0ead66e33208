import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createExperience } from '../../experience/create.js'
import { pythonHaving } from '../../machine/python/having.js'
import { dataJuicer } from '../operators/data-juicer.js'
import { runTaskPipeline } from '../task-pipeline.js'
import { DataJuicerClient } from './client.js'
import { OwnDataJuicer } from './own-service.js'

/** The real package: see docs/buffers.md for its environment. */
const python = pythonHaving('data_juicer')
if (!python) console.log('skipped: no Python with py-data-juicer (set TRINITY_DATA_JUICER_PYTHON)')

describe.skipIf(!python)('the real Data-Juicer', { timeout: 300_000 }, () => {
  let service: OwnDataJuicer
  let dir: string
  const log: string[] = []
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'juicer-slow-'))
    service = await OwnDataJuicer.start({ port: 0, log: (line) => log.push(line) })
  }, 300_000)
  afterAll(async () => {
    await service?.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const where = () => ({ server_url: service.url, auto_start: true, port: null })

  it('measures and filters experiences, whose tokens stay', async () => {
    const { args, create } = dataJuicer
    const operators = [{ words_num_filter: { lang: 'en', min_num: 3 } }, { name: 'alphanumeric_filter', args: {} }]
    const operator = await create(args.parse({ operators, service_config: where() }) as never, {})
    const make = (responseText: string, reward: number) =>
      createExperience({ tokens: [1, 2, 3], promptText: 'q', responseText, reward })
    const sent = [make('no', 0), make('four words are here', 1), make('and éven five 日本 !!!', 0.5)]
    const { experiences, metrics, dropped } = await operator.process(sent)
    expect(experiences.map(({ responseText, reward }) => [responseText, reward])).toEqual([
      ['four words are here', 1],
      ['and éven five 日本 !!!', 0.5],
    ])
    expect(experiences[0].tokens).toBe(sent[1].tokens)
    expect(experiences[0].info).toMatchObject({ num_words: 4 })
    expect(experiences[0].info.alnum_ratio).toBeCloseTo(16 / 19)
    expect(metrics).toMatchObject({ input_count: 3, output_count: 2 })
    expect(dropped).toEqual({ 'Data-Juicer': 1 })
    // nothing is left
    expect((await operator.process([make('x', 0)])).experiences).toEqual([])
    await operator.close?.()
  })

  it('scores, orders and cuts tasks', async () => {
    const rows = ['!!! ???', 'a good question', 'x', 'a b !! c !! d']
    writeFileSync(join(dir, 'raw.jsonl'), rows.map((q) => `${JSON.stringify({ q, n: 1 })}\n`).join(''))
    const config = {
      inputs: [join(dir, 'raw.jsonl')],
      output: { path: join(dir, 'made') },
      operators: [
        { name: 'alphanumeric_filter', args: {} },
        { name: 'text_length_filter', args: { min_len: 2 } },
      ],
      target_fields: ['q'],
      priority_weights: { quality: 1 },
      top_k: 2,
    }
    const metrics = await runTaskPipeline(config as never, where())
    expect(metrics).toMatchObject({ input_count: 4, written_count: 2 })
    const made = readFileSync(join(dir, 'made', 'output.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row))
    expect(made.map(({ q }) => q)).toEqual(['a good question', 'a b !! c !! d'])
    expect(made[0]).toMatchObject({ n: 1, quality_score: expect.closeTo(13 / 15) })
  })

  it('says what is wrong with operators, files and sessions', async () => {
    const create = (given: object) => new DataJuicerClient(where()).create({ pipeline_type: 'task', ...given })
    const refused = (given: object, words: RegExp) =>
      expect(create(given)).rejects.toMatchObject({
        code: 'data-juicer/refused',
        message: expect.stringMatching(words),
      })
    await refused(
      { operators: [{ words_num_filtr: {} }] },
      /no operator 'words_num_filtr': did you mean 'words_num_filter'/,
    )
    await refused({ operators: [] }, /there are no operators/)
    await refused({ config_path: join(dir, 'none.yaml') }, /cannot read the Data-Juicer configuration/)
    const session = await create({
      operators: [{ alphanumeric_filter: {} }],
      inputs: [join(dir, 'no.jsonl')],
      output_dir: dir,
    })
    await expect(session.processTasks()).rejects.toMatchObject({ message: expect.stringMatching(/there is no file/) })
  })

  it('ends with the process that has started it, however that ends', async () => {
    const script = `
      import { OwnDataJuicer } from ${JSON.stringify(fileURLToPath(new URL('../../../dist/pipeline/data-juicer/own-service.js', import.meta.url)))}
      const service = await OwnDataJuicer.start({ port: 0 })
      console.log(service.pid)
      setInterval(() => {}, 1000)`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const pid = Number(
      await new Promise<string>((resolve) => owner.stdout.once('data', (text) => resolve(String(text)))),
    )
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    owner.kill('SIGKILL')
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 5000 }).toBe(false)
  })
})
