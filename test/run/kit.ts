import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFacts, parseConfig, type Resolved, resolveConfig } from '../../src/config/index.js'
import { MockEngine, type MockOptions } from '../../src/engine/mock/engine.js'
import { createModel } from '../../src/model/index.js'
import type { RunSummary, RunView } from '../../src/monitor/view.js'
import { loadCatalog } from '../../src/run/catalog.js'
import { type RunOptions, type RunResult, run } from '../../src/run/index.js'
import { workflows } from '../../src/workflow/index.js'

const catalog = await loadCatalog()

/** Rewards the digits of a response that the task asks for. */
workflows.add('count_workflow', async ({ task, model }) => {
  const experiences = await model.generate(String(task.raw.q), {})
  for (const one of experiences) {
    one.reward = [...(one.responseText ?? '')].filter((c) => c === task.raw.a).length / 8
  }
  return experiences
})
workflows.add('throwing_workflow', async () => {
  throw new Error('no such luck')
})

/** A folder with a model, tasks and training data. */
export class Bench {
  readonly dir: string

  private constructor(dir: string) {
    this.dir = dir
  }

  static async make(dir = mkdtempSync(join(tmpdir(), 'trinity-run-'))): Promise<Bench> {
    await createModel({
      out: join(dir, 'model'),
      layers: 1,
      hidden: 16,
      heads: 2,
      maxPositions: 64,
      tokenizer: { kind: 'chars', characters: '0123456789+=' },
    })
    const rows = Array.from({ length: 24 }, (_, i) => ({ q: `${i}+${i}=`, a: String(i % 10) }))
    writeFileSync(join(dir, 'tasks.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    return new Bench(dir)
  }

  /** A folder that was made before, or a copy of one in its place. */
  static in(dir: string): Bench {
    return new Bench(dir)
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** A configuration with these keys on top of a small GRPO run. */
  resolve(keys: Record<string, unknown> = {}, text = BASE): Resolved {
    const set = Object.entries(keys).map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    const parsed = parseConfig(text.replaceAll('DIR', this.dir), 'f.yaml', { env: {}, cwd: this.dir, set })
    return resolveConfig(parsed, machineFacts({ cwd: this.dir, gpus: 0, pytorch: false }), catalog)
  }

  /** Runs it on the mock engine. */
  async run(keys: Record<string, unknown> = {}, options: KitOptions = {}): Promise<RunResult & { view: Recorder }> {
    const view = options.view ?? new Recorder()
    const resolved = this.resolve(keys, options.text)
    const { mock, text: _, ...rest } = options
    const openEngine = async () => new MockEngine({ vocabSize: 24, eos: 1, maxModelLen: 64, ...mock })
    return { ...(await run(resolved, { openEngine, ...rest, view })), view }
  }

  job(name = 'job', ...more: string[]): string {
    return join(this.dir, 'p', name, ...more)
  }

  /** Numbers of a role, by step. */
  metrics(role: string, name = 'job'): Record<string, number>[] {
    const lines = readFileSync(this.job(name, 'monitor', `${role}.jsonl`), 'utf8')
      .trim()
      .split('\n')
    return lines.map((line) => JSON.parse(line)).map(({ step, metrics }) => ({ step, ...metrics }))
  }

  checkpoints(name = 'job'): string[] {
    return readdirSync(this.job(name)).filter((entry) => entry.startsWith('global_step_'))
  }
}

interface KitOptions extends Omit<RunOptions, 'view'> {
  view?: Recorder
  mock?: MockOptions
  text?: string
}

/** Keeps what a person would have seen. */
export class Recorder implements RunView {
  readonly notes: string[] = []
  readonly phases: string[] = []
  readonly steps: string[] = []
  summary?: RunSummary
  onPhase?: (role: string, what: string) => void
  onMetrics?: (role: string, step: number) => void

  phase(role: string, what: string): void {
    this.phases.push(`${role}: ${what}`)
    this.onPhase?.(role, what)
  }
  metrics(role: string, step: number): void {
    this.steps.push(`${role} ${step}`)
    this.onMetrics?.(role, step)
  }
  note(text: string): void {
    this.notes.push(text)
  }
  end(summary: RunSummary): void {
    this.summary = summary
  }
  close(): void {}
}

const SET = 'path: DIR/tasks.jsonl, default_workflow_type: count_workflow, format: {prompt_key: q, response_key: a}'

export const BASE = `
project: p
name: job
checkpoint_root_dir: DIR
algorithm: {algorithm_type: grpo, repeat_times: 2, optimizer: {lr: 0.05}}
model: {model_path: DIR/model, max_prompt_tokens: 24, max_response_tokens: 6}
buffer:
  batch_size: 2
  total_steps: 6
  explorer_input:
    taskset: {${SET}}
    eval_tasksets: [{name: held, ${SET}}]
explorer: {eval_interval: 3, runner_per_model: 4, max_retry_times: 0, rollout_model: {engine_type: mock}}
monitor: {monitor_type: jsonl}
`
