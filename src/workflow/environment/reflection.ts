import { join } from 'node:path'
import { z } from 'zod'
import { writeJsonFile } from '../../base/file/atomic-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { inWords } from '../../base/file/system-error.js'
import type { Episode } from '../../environment/index.js'
import { sft } from '../../experience/format/sft.js'
import type { Experience } from '../../experience/index.js'
import { Chat, type ChatMessage } from '../../model/index.js'
import { templateOf } from '../text.js'
import { workflowArgs } from '../workflow-args.js'
import { blank, isGood, kept, RejectionWorkflow } from './rejection.js'
import { EnvironmentRun } from './run.js'

/** Arguments of the workflow itself. `folder` is where every task writes what happened in it; null: nowhere. */
export function reflectionArgs(folder: string) {
  return {
    data_dir: z
      .string()
      .nullable()
      .default(folder)
      .describe('Folder to which every task writes what happened in it; null: nowhere.'),
  }
}

/**
 * Rejection sampling with a second chance: after a failure the episode is played again, with the first attempt and a
 * word about it before the model's eyes. What is learned of a better second attempt is the attempt alone.
 */
export class ReflectionWorkflow extends RejectionWorkflow {
  #second: EnvironmentRun | undefined

  override async run(): Promise<Experience[]> {
    const experiences = await super.run()
    const first = await this.episode()
    if (this.task.isEval || first.won || experiences.length === 0) {
      await this.#save(first)
      return experiences
    }
    const second = await this.#again(first)
    const isKept = second.invalid === 0 && second.score > first.score
    await this.#save(first, second, isKept)
    const experience = isKept ? kept(this.#learned(second)) : blank(experiences[0])
    Object.assign(experience.metrics, this.metrics(first), {
      second_reward: second.score,
      second_steps: second.turn.step,
      second_success: second.won ? 1 : 0,
      improvement: second.score > first.score ? 1 : 0,
    })
    return [experience]
  }

  override async close(): Promise<void> {
    await this.#second?.close()
    await super.close()
  }

  async #again(first: Episode): Promise<Episode> {
    this.#second = new EnvironmentRun(this.context, this.plan())
    const episode = await this.#second.episode()
    const before = [...said(first), { role: 'system', content: wordsAbout(first) }]
    // The rules stand at the very beginning already.
    const messages = () => [...before, ...episode.messages().filter(({ role }) => role !== 'system')]
    await this.converse(episode, messages)
    return episode
  }

  /** The second attempt as if there had been no first. */
  #learned(episode: Episode): Experience {
    const { text } = this.model
    const chat = new Chat(text.tokenizer, templateOf(text))
    const format = sft.create({ messages_key: 'messages', enable_concatenated_multi_turn: true }, chat, {})
    const experience = format({ messages: said(episode) })
    return { ...experience, reward: episode.score, modelVersion: this.model.version }
  }

  async #save(first: Episode, second?: Episode, isKept = false): Promise<void> {
    const { data_dir: folder } = workflowArgs(this.task, (this.constructor as typeof ReflectionWorkflow).args)
    if (typeof folder !== 'string') return
    const { batchId, taskId, isEval } = this.task
    const name = [batchId, taskId, this.context.run].map((part) => String(part ?? 0).replace(/[^\w.-]/g, '_')).join('-')
    const part = isEval ? 'eval' : isKept ? 'sft_data' : 'non_sft_data'
    await inWords(makeFolder(join(folder, part)), folder)
    await writeJsonFile(join(folder, part, `${name}.json`), {
      task_id: name,
      first_exploration: record(first),
      second_exploration: second ? record(second) : null,
      training_data: isKept && second ? said(second) : null,
      kept_for_sft: isKept,
    })
  }
}

/** The conversation up to the last reply. */
function said(episode: Episode): ChatMessage[] {
  return episode.messages().slice(0, -1)
}

function record(episode: Episode) {
  return { trajectory: said(episode), reward: episode.score, steps: episode.turn.step, success: isGood(episode) }
}

function wordsAbout({ score, turn: { step, maxSteps } }: Episode): string {
  const how = step >= maxSteps ? `all ${maxSteps} steps were taken` : `it ended after ${step} steps`
  return `That attempt failed: ${how}, with a reward of ${score}. The same task begins once more. Think about what went wrong and do better: put what can be learned from it for tasks of this kind into <experience>, and do not repeat an action that changes nothing. Write as if this were the first attempt; do not mention the earlier one.`
}
