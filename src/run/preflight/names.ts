import { TrinityError } from '../../base/error.js'
import type { Config, TasksetConfig } from '../../config/index.js'
import { prepareReward } from '../../reward/index.js'
import { taskStorages } from '../../task/index.js'
import { argsOf, workflowArgs, workflows } from '../../workflow/index.js'
import { type Refusal, refusalOf } from './refusal.js'

const INPUT = 'buffer.explorer_input'

/** Workflows, rewards, storages and arguments of task sets that nothing here knows; each once. */
export function unknownNames({ mode, buffer }: Config): Refusal[] {
  if (mode === 'train') return []
  const { tasksets, eval_tasksets } = buffer.explorer_input
  const all = [
    ...tasksets.flatMap((set, i) => namesOf(set, `${INPUT}.tasksets[${i}]`, [])),
    ...eval_tasksets.flatMap((set, i) =>
      namesOf(set, `${INPUT}.eval_tasksets[${i}]`, [`${INPUT}.default_eval_workflow_type`]),
    ),
  ]
  return all.filter(({ error }, i) => all.findIndex((one) => one.error.message === error.message) === i)
}

/** `inherited`: keys that may name the workflow, after the set's own. */
function namesOf(set: TasksetConfig, key: string, inherited: readonly string[]): Refusal[] {
  const { default_workflow_type: workflow, workflow_args, default_reward_fn_type: reward, reward_fn_args } = set
  const places = [`${key}.default_workflow_type`, ...inherited, `${INPUT}.default_workflow_type`]
  return [
    ...refusalOf([key], () => checkText(set.format, key)),
    ...refusalOf([`${key}.storage_type`], () => taskStorages.get(set.storage_type ?? 'file')),
    ...(workflow === null ? [] : refusalOf(places, () => checkWorkflow(workflow, workflow_args))),
    ...(reward === null
      ? []
      : refusalOf([`${key}.default_reward_fn_type`, `${INPUT}.default_reward_fn_type`], () =>
          prepareReward(reward, reward_fn_args),
        )),
  ]
}

/** What the model would answer without having seen it must not be trained on. */
function checkText(format: TasksetConfig['format'], key: string): void {
  const media = format.image_key ? 'image_key' : format.video_key ? 'video_key' : undefined
  if (media === undefined) return
  throw new TrinityError('task/media', 'tasks with images or videos cannot be used: models here read text', {
    path: `${key}.format.${media}`,
    hint: 'leave the key out to ask with the text alone',
  })
}

/** Workflows of the Python original that ask about pictures. */
const VISION = ['simple_mm_workflow', 'async_simple_mm_workflow']

function checkWorkflow(workflow: string, given: Record<string, unknown>): void {
  // A plugin may bring one.
  if (!workflows.has(workflow) && VISION.includes(workflow)) {
    throw new TrinityError(
      'workflow/vision',
      `'${workflow}' asks about images or videos, which is not part of this version`,
      {
        path: workflow,
        hint: 'models here read text: use simple_workflow to ask with the text alone',
      },
    )
  }
  const args = argsOf(workflows.get(workflow))
  if (args) workflowArgs({ workflow, workflowArgs: given }, args)
}
