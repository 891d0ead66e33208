import { redactValue } from '../../base/secret/index.js'
import { differences } from '../../config/differences.js'
import { printConfig } from '../../config/print.js'
import { type RunRecord, readRecords } from '../../run/record.js'
import type { ConfigDifference, Json, PlanSection, RunConfig } from '../api.js'
import type { FoundRun } from './find.js'

const UNRECORDED = 'the configuration: the run was made by a release that did not record it'
const NO_MEMORY =
  'the memory plan: the run was made by a release that did not record it; `trinity run --dry-run` shows it'

/** What the run was asked for, in the words of its latest process. */
export async function configOf({ path }: FoundRun): Promise<RunConfig> {
  const [record] = await readRecords(path)
  if (!record) return { changed: [], plan: [], missing: [UNRECORDED] }
  // the run has hidden what it knew to be secret; this process may know more
  const text = JSON.stringify(record.config)
  const config = JSON.parse(text, (_, one: unknown) => (typeof one === 'string' ? redactValue(one) : one)) as Json
  return {
    yaml: printConfig(config),
    config,
    changed: differences(config) as ConfigDifference[],
    plan: planOf(record),
    missing: record.memory ? [] : [NO_MEMORY],
  }
}

/** What the plan says that a run prints when it starts, as far as it is on record; another release may know other keys. */
function planOf({ config, expects, memory = [], began, host, pid }: RunRecord): PlanSection[] {
  const { buffer, algorithm, trainer, explorer } = config
  const model = explorer?.rollout_model
  const sections: [string, (string | false | undefined)[]][] = [
    ['steps', Object.entries(expects).map(([role, steps]) => `${role}: ${steps}`)],
    [
      'batches',
      [
        algorithm && buffer && `explorer: ${buffer.batch_size} tasks × ${algorithm.repeat_times} answers`,
        buffer && `trainer: ${buffer.train_batch_size} experiences`,
      ],
    ],
    [
      'engines',
      [
        config.mode !== 'explore' && trainer && `trainer: ${trainer.trainer_type}`,
        config.mode !== 'train' && model && `samplers: ${model.engine_type} × ${model.engine_num}`,
      ],
    ],
    ['memory', memory.map(([label, text]) => `${label}: ${text}`)],
    ['process', [`${pid} on ${host}, since ${began}`]],
  ]
  return sections.flatMap(([title, all]) => {
    const lines = all.filter((line): line is string => typeof line === 'string')
    return lines.length === 0 ? [] : [{ title, lines }]
  })
}
