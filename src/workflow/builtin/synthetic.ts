import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { createExperience, type Experience } from '../../experience/index.js'
import { Workflow } from '../workflow.js'
import { workflowArgs } from '../workflow-args.js'

const length = z.int().min(1).nullable().default(null)
const lengthArgs = z.strictObject({
  prompt_length: length.describe(
    "Tokens of the prompt; null: what the answer leaves of the model's length, at most max_prompt_tokens.",
  ),
  response_length: length.describe("Tokens of the answer; null: max_response_tokens, or half of the model's length."),
})

/** Random tokens of a given length with a random reward, without sampling: shows what length a machine can train. */
export class SyntheticWorkflow extends Workflow {
  static override readonly doc: string = 'random tokens of a given length, to find out what length a machine can train'
  static override readonly repeats = true
  static override readonly args = lengthArgs
  readonly args = workflowArgs(this.task, lengthArgs)

  async run(): Promise<Experience[]> {
    const { maxModelLen, maxPromptTokens, maxResponseTokens } = this.model.limits
    const response = this.args.response_length ?? maxResponseTokens ?? Math.floor(maxModelLen / 2)
    const prompt = this.args.prompt_length ?? Math.min(maxModelLen - response, maxPromptTokens ?? maxModelLen)
    if (prompt < 1 || prompt + response > maxModelLen) {
      throw new TrinityError('workflow/args', `${prompt} + ${response} tokens do not fit into ${maxModelLen}`, {
        path: 'workflow_args',
        hint: 'lower prompt_length or response_length, or raise model.max_model_len',
      })
    }
    return Array.from({ length: this.context.repeat }, (_, i) => this.#one(prompt, response, this.context.run + i))
  }

  #one(prompt: number, response: number, run: number): Experience {
    const { vocabSize } = this.model.tokenizer
    const tokens = Int32Array.from({ length: prompt + response }, () => this.random.below(vocabSize - 1))
    return createExperience({
      eid: { run },
      tokens,
      promptLength: prompt,
      logprobs: new Float32Array(response).fill(-Math.log(vocabSize)),
      modelVersion: this.model.version,
      reward: this.random.random(),
    })
  }
}
