import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBuffer } from '../../src/buffer/index.js'
import { createModel } from '../../src/model/index.js'
import { cli } from './cli-kit.js'

/** A job in mode serve whose server is a process of its own, on a small native model. */
export class ServeJob {
  readonly dir: string
  readonly job: string
  child: ChildProcess | undefined

  private constructor(dir: string) {
    this.dir = dir
    this.job = join(dir, 'p', 'job')
  }

  /** Writes the model and the configuration of a job into a folder. */
  static async make(dir: string): Promise<ServeJob> {
    const tokenizer = { kind: 'chars', characters: '0123456789+=' } as const
    await createModel({ out: join(dir, 'model'), layers: 1, hidden: 16, heads: 2, maxPositions: 64, tokenizer })
    writeFileSync(
      join(dir, 'serve.yaml'),
      `mode: serve
project: p
name: job
checkpoint_root_dir: ${dir}
algorithm: {algorithm_type: grpo}
model: {model_path: ${dir}/model, max_model_len: 64, custom_chat_template: "{% for m in messages %}{{ m['content'] }}{% endfor %}"}
buffer: {train_batch_size: 4, trainer_input: {experience_buffer: {name: b, storage_type: sql}}}
explorer: {proxy_port: 0, service_status_check_interval: 1, rollout_model: {engine_type: native}}
monitor: {monitor_type: jsonl}
`,
    )
    return new ServeJob(dir)
  }

  /** Starts the server with further arguments of Node. Returns its URL. */
  async start(nodeArgs: readonly string[] = [], env: Record<string, string> = {}): Promise<string> {
    const urlFile = join(this.job, 'explorer_server_url.txt')
    rmSync(urlFile, { force: true })
    const args = [...nodeArgs, cli, 'run', '-c', join(this.dir, 'serve.yaml')]
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
    })
    this.child = child
    let errors = ''
    child.stderr.on('data', (data) => (errors += data))
    for (let waited = 0; waited < 1200; waited++) {
      if (child.exitCode !== null) throw new Error(errors)
      try {
        const url = readFileSync(urlFile, 'utf8')
        if (url !== '') return url
      } catch {}
      await sleep(50)
    }
    throw new Error(`no server: ${errors}`)
  }

  /** Ends the server. Returns its exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.child
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill(signal)
    await closed
    return child.exitCode
  }

  /** Takes all experiences that a trainer would get. Returns pairs of reply id and reward. */
  async takeRewards(): Promise<[string, number][]> {
    const path = `sqlite:///${join(this.job, 'buffer', 'b.db')}`
    const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path, max_read_timeout: 5 }, {})
    await buffer.finish('explorer')
    const taken = await buffer.take(1_000_000)
    await buffer.close()
    return taken.map(({ eid, reward }) => [eid.suffix, reward as number])
  }
}
