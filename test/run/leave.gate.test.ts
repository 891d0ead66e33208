import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { cli, trinity } from './cli-kit.js'

let dir: string

/** A folder with one plugin. */
function plugin(name: string, source: string): string {
  mkdirSync(join(dir, name))
  writeFileSync(join(dir, name, `${name}.mjs`), source)
  return name
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-leave-'))
  await makeBench(dir, { cli, steps: 2 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const run = (...more: string[]) => trinity(dir, ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', ...more])

describe('the end of a command', { timeout: 60_000 }, () => {
  it('does not wait for what a plugin left open, and says how long it did', async () => {
    const open = plugin('open', 'setInterval(() => {}, 1000)\n')
    const plan = await run('--plugin-dir', open, '--dry-run', '--yaml')
    expect(plan.code).toBe(0)
    expect(plan.stderr).toMatch(/stayed open for 3 s/)
    const whole = await run('--plugin-dir', open, '--set', 'checkpoint_root_dir=open-out')
    expect(whole.code, whole.stderr).toBe(0)
    expect(whole.stdout).toMatch(/done +2 steps/)
    expect(whole.stderr).toMatch(/stayed open for 3 s/)
  })

  it.each([
    ['a timer', 'setInterval(() => {}, 1000)'],
    ['a server', `(await import('node:net')).createServer().listen(0, '127.0.0.1')`],
    [
      'a connection',
      `const { connect, createServer } = await import('node:net')
  await new Promise((open) => {
    const server = createServer().listen(0, '127.0.0.1', () => connect(server.address().port, '127.0.0.1', open))
  })`,
    ],
  ])('keeps the exit code of a run whose agent fails and leaves %s open', async (what, open) => {
    const name = what.replace(' ', '-')
    const agent = plugin(
      name,
      `import { workflows } from 'trinity-rft'
workflows.add('failing_agent', async () => {
  ${open}
  throw new Error('the agent failed')
})\n`,
    )
    const keys = [
      'buffer.explorer_input.taskset.default_workflow_type=failing_agent',
      'buffer.explorer_input.eval_tasksets=[]',
      'explorer.max_retry_times=0',
      `checkpoint_root_dir=${name}-out`,
    ]
    const failed = await run('--plugin-dir', agent, ...keys.flatMap((key) => ['--set', key]))
    expect(failed.stderr).toContain('the agent failed')
    expect(failed.stderr).toMatch(/stayed open for 3 s/)
    expect(failed.code, failed.stderr).toBe(1)
  })

  it('keeps the exit code of wrong usage while a plugin leaves a timer open', async () => {
    const open = plugin('open-wrong', 'setInterval(() => {}, 1000)\n')
    const wrong = await run('--plugin-dir', open, '--set', 'buffer.batch_size=none')
    expect(wrong.stderr).toMatch(/stayed open for 3 s/)
    expect(wrong.code, wrong.stderr).toBe(2)
  })

  it('takes plugins from several folders', async () => {
    const more = plugin(
      'more',
      `import { workflows } from 'trinity-rft'\nworkflows.add('more_workflow', async () => [])\n`,
    )
    const set = ['--set', 'buffer.explorer_input.eval_tasksets[0].default_workflow_type=more_workflow']
    const { code, stdout, stderr } = await run('--plugin-dir', more, '--dry-run', ...set)
    expect(code, stderr).toBe(0)
    expect(stdout).not.toMatch(/unknown workflow|warning .*workflow/)
  })

  it('warns of one answer to a task, and of variables that mean nothing', async () => {
    process.env.TRINITY_LOG_LEVEL = 'loud'
    try {
      const { stdout } = await run('--dry-run', '--set', 'algorithm.repeat_times=1')
      expect(stdout).toContain('algorithm.repeat_times is 1')
      expect(stdout).toContain("TRINITY_LOG_LEVEL is 'loud'")
    } finally {
      delete process.env.TRINITY_LOG_LEVEL
    }
  })

  it('says nothing to a reader that has gone', async () => {
    const child = spawn(process.execPath, [cli, 'config', 'docs'], { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    child.stdout.destroy()
    const code = await new Promise((done) => child.on('close', done))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it.runIf(process.platform === 'linux')(
    'says that standard output cannot be written, which is a failure of any command',
    async () => {
      const full = openSync('/dev/full', 'w')
      const to = (args: string[]) => {
        const child = spawn(process.execPath, [cli, ...args], { cwd: dir, stdio: ['ignore', full, 'pipe'] })
        let stderr = ''
        child.stderr?.on('data', (data) => {
          stderr += data
        })
        return new Promise<{ code: number | null; stderr: string }>((done) =>
          child.on('close', (code) => done({ code, stderr })),
        )
      }
      const set = ['--set', 'checkpoint_root_dir=full-out', '--set', 'buffer.total_steps=100000']
      const commands = [
        ['config', 'docs'],
        ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', ...set],
      ]
      for (const { code, stderr } of [await to(commands[0]), await to(commands[1])]) {
        expect(code, stderr).toBe(1)
        expect(stderr).toMatch(/^error the disk is full: cannot write standard output \(ENOSPC/m)
        expect(stderr).toMatch(/fix make room where it goes.*the same command resumes/)
        expect(stderr).not.toMatch(/not caught|^ {4}at /m)
      }
      closeSync(full)
    },
  )

  it('calls a run that was stopped by its name', async () => {
    let asked = false
    const args = ['run', '-c', 'offset0.yaml', '--plugin-dir', 'plugins', '--set', 'checkpoint_root_dir=stop-out']
    const { stdout, code } = await trinity(dir, [...args, '--set', 'buffer.total_steps=100000'], (text, child) => {
      if (!asked && /trainer +step 2/.test(text)) asked = child.kill('SIGINT')
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/stopped +\d+ steps/)
    expect(stdout).not.toMatch(/done +\d+ steps/)
  })
})
