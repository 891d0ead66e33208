import { appendFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { makeFolder } from '../../base/file/make-folder.js'
import { inWords } from '../../base/file/system-error.js'
import type { Experience } from '../../experience/index.js'
import { boxedArgs, MathBoxedWorkflow } from './math.js'

/** Boxed answers to prompts that say everything themselves (BOTS): no system prompt is put before them. */
export class BotsMathBoxedWorkflow extends MathBoxedWorkflow {
  static override readonly doc: string = "math_boxed_workflow with the row's own messages as the whole prompt"
  static override readonly args: z.ZodObject = boxedArgs

  override get defaultSystemPrompt(): undefined {
    return undefined
  }
}

/** Where the pass rates of a reference model are collected. */
const LOG_VARIABLE = 'BOTS_REF_EVAL_LOG_FILE'

/** The same, and each task leaves a line with its rewards: what the selector `difficulty_based` is given as features. */
export class BotsRefEvalCollectWorkflow extends BotsMathBoxedWorkflow {
  static override readonly doc: string = 'the same; appends the rewards of each task to a file'
  static override readonly args: z.ZodObject = boxedArgs

  override async run(): Promise<Experience[]> {
    const experiences = await super.run()
    const line = {
      model_version: this.model.version,
      rewards: experiences.map(({ reward }) => reward ?? null),
      question: this.task.taskDesc,
      truth: this.task.truth,
    }
    const file = process.env[LOG_VARIABLE] || 'bots_ref_eval_log.jsonl'
    await inWords(makeFolder(dirname(file)), dirname(file))
    // One write to the end of the file: lines of other runs stay whole.
    await inWords(appendFile(file, `${JSON.stringify(line)}\n`), file)
    return experiences
  }
}
