import { messageOf } from '../../base/error.js'
import type { Logger } from '../../base/log/logger.js'
import { redact } from '../../base/secret/index.js'
import { type Config, machineFacts, readText, resolveConfig } from '../../config/index.js'
import { openEngine } from '../../engine/registry.js'
import type { Experience } from '../../experience/index.js'
import type { ContextParts } from '../../explorer/contexts.js'
import { loadCatalog } from '../../run/catalog.js'
import { Closers } from '../../run/closers.js'
import { debugConfig, fingerprint, openModels } from '../../run/debug/models.js'
import { readTask, runTask } from '../../run/debug/one-task.js'
import type { Rollout, TryAnswer, TryQuery } from '../api.js'
import { numberWord } from '../metrics/series.js'
import { rolloutOf } from '../rollout/rollout.js'
import { rowOf } from '../rollout/row.js'
import { textsOf } from '../rollout/token-text.js'
import { tasksetOf } from './tasksets.js'

export interface ToTry extends Pick<TryQuery, 'task' | 'taskset' | 'model'> {
  /** The configuration of the run. */
  readonly yaml: string
}

/** Works on single tasks, as `trinity debug` does. The models of the last configuration stay open. */
export class Tries {
  #open: { readonly key: string; readonly closers: Closers; readonly parts: Promise<ContextParts> } | undefined

  async run(query: ToTry, note: (text: string) => void, signal: AbortSignal): Promise<TryAnswer> {
    const config = await configOf(query)
    const task = await readTask(config, query.task)
    const parts = { ...(await this.#partsOf(config, note)), config }
    const began = performance.now()
    const log: string[] = []
    const { experiences, metrics, failure } = await runTask(parts, task, keeping(log), signal)
    const { tasksets, eval_tasksets } = config.buffer.explorer_input
    return {
      taskset: (tasksets[0] ?? eval_tasksets[0]).name,
      workflow: task.workflow,
      row: JSON.parse(JSON.stringify(task.raw)),
      rollouts: experiences.map((one, i) => shown(one, i, parts)),
      metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, numberWord(value)])),
      failure: failure && redact(`${failure.reason}: ${failure.message}`),
      log,
      seconds: (performance.now() - began) / 1000,
    }
  }

  async #partsOf(config: Config, note: (text: string) => void): Promise<ContextParts> {
    const key = fingerprint(config)
    if (this.#open?.key !== key) {
      await this.#open?.closers.close().catch(() => {})
      const closers = new Closers()
      const view = { phase: (_: string, what: string) => note(what), metrics() {}, note, end() {}, close() {} }
      const signal = new AbortController().signal
      this.#open = { key, closers, parts: openModels({ config, openEngine, view, signal, closers }) }
    }
    const { parts } = this.#open
    return parts.catch((error) => {
      this.#open = undefined
      throw error
    })
  }
}

/** Of the run, with another model, and with the one task set that is asked for. */
async function configOf({ yaml, model, taskset }: ToTry): Promise<Config> {
  const set = ['mode=explore', ...(model === undefined ? [] : [`model.model_path=${JSON.stringify(model)}`])]
  const parsed = readText(yaml, 'the run', { set })
  const { stages } = resolveConfig(parsed, machineFacts(), await loadCatalog([parsed]))
  const config = debugConfig(stages[stages.length - 1].config)
  if (taskset === undefined) return config
  const explorer_input = { ...config.buffer.explorer_input, tasksets: [tasksetOf(config, taskset)], eval_tasksets: [] }
  return { ...config, buffer: { ...config.buffer, explorer_input } }
}

function shown(experience: Experience, key: number, { text }: ContextParts): Rollout {
  const { eid, type, modelVersion: version, reward, failure, truncateStatus, promptText, responseText } = experience
  const row = rowOf({
    ...{ key, batch: eid.batch, task: eid.task, run: eid.run, type, version },
    reward,
    failure: failure?.reason,
    truncated: truncateStatus,
    prompt: promptText,
    response: responseText,
  })
  return rolloutOf(row, '', experience, (ids) => textsOf(text.tokenizer, ids), [])
}

function keeping(lines: string[]): Logger {
  const keep = (level: string) => (message: string, cause?: unknown) =>
    void lines.push(redact(`${level}${message}${cause === undefined ? '' : `: ${messageOf(cause)}`}`))
  return { debug: keep('debug '), info: keep(''), warn: keep('warning '), error: keep('error ') }
}
