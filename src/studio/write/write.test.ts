import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import type { ApiError, CheckAnswer, FileList, Form, SourceText, Started, StartedList } from '../api.js'
import { here } from '../child/serve.js'
import { runId } from '../run/find.js'
import { Visitor } from '../visitor.fixture.js'
import { deskWork } from './desk.js'
import { Starter } from './start.js'
import { Stopper } from './stop.js'

const model = resolve('examples/quickstart/model')
const tasks = resolve('examples/quickstart/countdown')
let folder: string
let outside: string
let visitor: Visitor
const yaml = (root: string) => `# mine
project: p
name: n
checkpoint_root_dir: ${root}
algorithm: {algorithm_type: grpo, repeat_times: 4}
model: {model_path: ${model}, max_model_len: 48}
explorer: {rollout_model: {engine_type: native}}
trainer: {trainer_type: native}
buffer:
  batch_size: 8
  explorer_input:
    taskset:
      path: ${tasks}
      format: {prompt_key: question, response_key: answer}
      default_workflow_type: simple_workflow
      default_reward_fn_type: countdown_reward
`

beforeAll(async () => {
  folder = await tempDir()
  outside = await tempDir()
  await symlink(outside, join(folder, 'link'))
  // says what it was started with, and ends
  const script = join(outside, 'program.mjs')
  await writeFile(script, "console.log(process.argv.slice(2).join(' '))")
  visitor = await Visitor.open({
    folders: [folder],
    desk: here(deskWork([])),
    program: [process.execPath, script],
    pluginDirs: ['/plugins'],
  })
})
afterAll(() => visitor.close())

const check = async (text: string, more: object = {}) =>
  (await visitor.act<CheckAnswer>('/check', { text, ...more })).body

describe('the form', () => {
  it('is told to the page', async () => {
    const { records, plugins } = await visitor.get<Form>('/form')
    expect(records.Config.fields.map(({ key }) => key)).toContain('buffer')
    expect(plugins).toEqual([])
  })
})

describe('a check', () => {
  it('of a sound text tells the plan and every value', async () => {
    const { ok, stages, values, problems } = await check(yaml(folder))
    expect(problems).toEqual([])
    expect(ok).toBe(true)
    expect(stages?.[0]).toMatchObject({ dir: join(folder, 'p', 'n'), isInside: true })
    expect(Object.fromEntries(stages?.[0].plan ?? []).step).toContain('8 tasks × 4 rollouts explored, 32 experiences')
    expect(values).toMatchObject({ buffer: { train_batch_size: 32 } })
  })

  it('finds faults at their keys and lines, in the words of config check', async () => {
    const { ok, problems } = await check(yaml(folder).replace('batch_size: 8', 'batch_size: -8\n  batch_sise: 3'))
    expect(ok).toBe(false)
    expect(problems).toMatchObject([
      { severity: 'error', key: 'buffer.batch_size', line: 10, message: expect.stringContaining('found') },
      { severity: 'error', key: 'buffer.batch_sise', line: 11, hint: 'did you mean batch_size?' },
    ])
    expect((await check('a: [')).problems).toMatchObject([{ severity: 'error', code: 'yaml', line: 1 }])
  })

  it('looks beside the place where the text will be', async () => {
    await mkdir(join(folder, 'deep'))
    await writeFile(join(folder, 'deep', 'base.yaml'), yaml(folder))
    const text = 'extends: base.yaml\nname: other\n'
    expect((await check(text)).problems[0].message).toContain('no file')
    const { ok, stages, yaml: whole } = await check(text, { place: { folder, path: 'deep/new.yaml' }, isFull: true })
    expect([ok, stages?.[0].dir]).toEqual([true, join(folder, 'p', 'other')])
    expect(whole).toContain('train_batch_size: 32')
  })
})

describe('texts to begin with', () => {
  it('are examples, which find what lies beside them', async () => {
    const { templates } = await visitor.get<{ templates: { name: string; doc: string }[] }>('/templates')
    expect(templates.find(({ name }) => name === 'quickstart/quickstart.yaml')?.doc).toContain('CountDown')
    const { text } = await visitor.get<SourceText>('/template', { name: 'quickstart/quickstart.yaml' })
    expect(text).toContain(model)
    expect(text).not.toContain('config.dir')
    expect((await visitor.ask('/template', { name: '../package.json' })).status).toBe(404)
  })

  it('are files below the folders, not those of runs', async () => {
    await mkdir(join(folder, 'p', 'made', '.trinity'), { recursive: true })
    await writeFile(join(folder, 'p', 'made', 'config.yaml'), 'a: 1')
    await writeFile(join(folder, 'kept.yaml'), '# kept\nname: kept\n')
    const { files } = await visitor.get<FileList>('/files')
    expect(files).toContainEqual({ folder, path: 'kept.yaml' })
    expect(files.filter(({ path }) => path.includes('made') || path.includes('link'))).toEqual([])
    expect((await visitor.get<SourceText>('/file', { folder, path: 'kept.yaml' })).text).toContain('# kept')
    expect((await visitor.ask('/file', { folder, path: '../x.yaml' })).status).toBe(403)
    expect((await visitor.ask('/file', { folder, path: 'none.yaml' })).status).toBe(404)
  })

  it('are scripts of veRL', async () => {
    const script =
      'python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=16 trainer.project_name=v'
    const { body, status } = await visitor.act<SourceText>('/import-verl', { text: script })
    expect([status, body.text.includes('algorithm_type: grpo')]).toEqual([200, true])
    expect((await visitor.act('/import-verl', { text: 'echo' })).status).toBe(400)
  })
})

describe('what is written', () => {
  const save = (path: string, more: object = {}) => visitor.act('/save', { folder, path, text: 'name: a\n', ...more })

  it('lies below the folders', async () => {
    expect((await save('new/a.yaml')).status).toBe(200)
    expect(await readFile(join(folder, 'new', 'a.yaml'), 'utf8')).toBe('name: a\n')
    for (const path of ['../a.yaml', '/tmp/a.yaml', 'link/a.yaml', 'link/b/c.yaml']) {
      expect((await save(path)).status, path).toBe(403)
    }
    expect((await save('a.yaml', { folder: outside })).status).toBe(403)
  })

  it('has a name that files can have', async () => {
    const said = async (path: string) => {
      const { status, body } = await visitor.act<ApiError>('/save', { folder, path, text: 'name: a\n' })
      expect(status, path).toBe(400)
      return body.error.message
    }
    expect(await said('')).toBe('the file needs a name')
    expect(await said('a\0.yaml')).toContain('control characters')
    expect(await said(`${'a'.repeat(300)}.yaml`)).toContain('too long for a file name')
    expect(await said('b/'.repeat(600) + 'a.yaml')).toContain('too long')
    for (const path of ['a.sh', '.yaml', 'a/']) expect(await said(path)).toContain('no name for a configuration')
  })

  it('is not put among the files of runs and of other programs', async () => {
    await mkdir(join(folder, 'p', 'run', '.trinity'), { recursive: true })
    for (const path of ['p/run/a.yaml', 'p/run/log/a.yaml', '.git/a.yaml', 'x/.git/a.yaml', 'node_modules/a.yaml']) {
      const { status, body } = await visitor.act<ApiError>('/save', { folder, path, text: 'name: a\n' })
      expect([status, body.error.code], path).toEqual([403, 'studio/taken'])
    }
    expect((await save('p/a.yaml')).status).toBe(200)
    await writeFile(join(folder, 'file'), '')
    expect((await save('file/a.yaml')).status).toBe(400)
  })

  it('replaces another text only if the person is sure', async () => {
    await save('b.yaml')
    expect((await save('b.yaml')).status).toBe(200)
    expect((await save('b.yaml', { text: 'name: b\n' })).status).toBe(409)
    expect((await save('b.yaml', { text: 'name: b\n', isSure: true })).status).toBe(200)
  })

  it('comes from the page of this server alone', async () => {
    const body = { folder, path: 'c.yaml', text: '' }
    const wrong: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { 'content-type': 'text/plain' },
      { origin: 'null' },
    ]
    for (const headers of wrong) {
      expect((await visitor.act('/save', body, headers)).status).toBe(403)
    }
    expect((await visitor.act('/save', body, { cookie: '' })).status).toBe(401)
    const bare = { method: 'POST', headers: { cookie: visitor.cookie, 'content-type': 'application/json' }, body: '{}' }
    expect((await fetch(`${visitor.origin}/api/save`, bare)).status).toBe(403)
    expect((await visitor.act('/save', { folder })).status).toBe(400)
  })

  it('is refused beyond 4 MB, also when the length is not known before', async () => {
    const chunk = new Uint8Array(64 << 10).fill(0x20)
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += chunk.length
        if (sent > 64 << 20) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const { cookie, origin } = visitor
    const headers = { cookie, origin, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    // The server may close the connection while the client still sends: then there is no answer to read.
    const status = await fetch(`${origin}/api/save`, init).then(
      (response) => response.status,
      () => 400,
    )
    expect(status).toBe(400)
    expect(sent).toBeLessThan(32 << 20)
    const whole = await visitor.act<ApiError>('/save', { text: ' '.repeat(5 << 20) })
    expect([whole.status, whole.body.error.message]).toEqual([400, 'more than 4 MB were sent'])
  })
})

describe('a run', () => {
  it('is started from its file, and what it says is kept', async () => {
    const { status, body } = await visitor.act<Started>('/start', { folder, path: 'run.yaml', text: yaml(folder) })
    expect([status, body.run]).toEqual([200, runId(join(folder, 'p', 'n'))])
    const list = async () => (await visitor.get<StartedList>('/started')).started[0]
    await expect.poll(async () => (await list()).exit).toBe('code 0')
    expect((await list()).output).toEqual([`run --config ${join(folder, 'run.yaml')} --plugin-dir /plugins`])
  })

  it('is not started again from a file that runs', async () => {
    const script = join(outside, 'stays.mjs')
    await writeFile(script, 'setInterval(() => {}, 1000)')
    const starter = new Starter({ program: [process.execPath, script], pluginDirs: [] })
    const file = join(outside, 'stays.yaml')
    const { pid } = await starter.start({ file, run: 'x' })
    await expect(starter.start({ file, run: 'x' })).rejects.toMatchObject({ code: 'studio/busy' })
    process.kill(pid, 'SIGKILL')
    await expect.poll(async () => (await starter.list())[0].exit).toBe('SIGKILL')
  })

  it('is not started with faults, nor where Studio does not look', async () => {
    const start = (text: string) => visitor.act<ApiError>('/start', { folder, path: 'no.yaml', text })
    const wrong = await start(yaml(folder).replace('grpo', 'grpoo'))
    expect([wrong.status, wrong.body.error.code]).toEqual([422, 'studio/faults'])
    const away = await start(yaml(outside))
    expect([away.status, away.body.error.path]).toEqual([403, 'checkpoint_root_dir'])
    await expect(readFile(join(folder, 'no.yaml'))).rejects.toThrow('ENOENT')
  })

  it('gives its text again: the file, or what it has recorded', async () => {
    const dir = join(folder, 'p', 'old')
    const record = {
      pid: 1,
      host: 'h',
      began: '2026-01-01',
      expects: {},
      config: { name: 'old', buffer: { batch_size: 7 } },
    }
    await mkdir(join(dir, '.trinity'), { recursive: true })
    const write = (file?: string) =>
      writeFile(join(dir, '.trinity', 'run-both.json'), JSON.stringify({ ...record, file }))
    await write(join(outside, 'secret.yaml'))
    await writeFile(join(outside, 'secret.yaml'), 'name: not-yours')
    const source = () => visitor.get<SourceText>(`/runs/${runId(dir)}/source`)
    expect((await source()).text).toBe('name: old\nbuffer:\n  batch_size: 7\n')
    await writeFile(join(folder, 'old.yaml'), '# kept\nname: old\n')
    await write(join(folder, 'old.yaml'))
    expect(await source()).toMatchObject({ text: '# kept\nname: old\n', place: { folder, path: 'old.yaml' } })
  })
})

describe('to stop a run', () => {
  const dir = async (holders: { role: string; pid: number; host: string }[]) => {
    const path = await tempDir()
    for (const { role, pid, host } of holders) {
      await writeFile(join(path, `.lock-${role}`), JSON.stringify({ token: '0', pid, host, born: '' }))
    }
    return { id: 'x', path, root: path }
  }
  const ours = { pid: process.pid, host: hostname() }

  it('one signal lets it finish its step, a second ends it, each process once', async () => {
    const sent: number[] = []
    const stopper = new Stopper((pid) => sent.push(pid))
    const run = await dir([
      { role: 'trainer', ...ours },
      { role: 'explorer', ...ours },
    ])
    expect(await stopper.stop(run, false)).toEqual({ pids: [process.pid] })
    await stopper.stop(run, false)
    expect(sent).toEqual([process.pid])
    await stopper.stop(run, true)
    expect(sent).toEqual([process.pid, process.pid])
  })

  it('at once takes both, and what is elsewhere or gone is told', async () => {
    const sent: number[] = []
    const stopper = new Stopper((pid) => sent.push(pid))
    await stopper.stop(await dir([{ role: 'trainer', ...ours }]), true)
    expect(sent).toEqual([process.pid, process.pid])
    await expect(stopper.stop(await dir([]), false)).rejects.toThrow('no process of this run')
    await expect(stopper.stop(await dir([{ role: 'trainer', pid: 1, host: 'far' }]), false)).rejects.toThrow('far')
  })
})
