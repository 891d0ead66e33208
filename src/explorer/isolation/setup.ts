import { dirname } from 'node:path'
import type { RewardModel, SampleModel } from '../../engine/contract.js'
import { ChatTemplate, Tokenizer } from '../../model/index.js'
import { pluginFolders } from '../../plugin/index.js'
import type { ModelText } from '../../workflow/text.js'
import type { ContextParts } from '../contexts.js'
import type { PortModels } from './models.js'
import type { Setup, TextSetup } from './protocol.js'

/** A model that workers ask for, and how it reads. */
export interface ServedModel {
  readonly model: SampleModel | RewardModel
  readonly text: ModelText
}

/** What is open here, by number, and what a worker is told of it. */
export function setupOf({ config, model, text, auxiliary = [] }: ContextParts): {
  setup: Setup
  models: readonly ServedModel[]
} {
  const models: ServedModel[] = []
  const numbersIn = (text: ModelText) => (model: SampleModel | RewardModel) => {
    const known = models.findIndex((one) => one.model === model)
    return known >= 0 ? known : models.push({ model, text }) - 1
  }
  const samplers = model.map(numbersIn(text))
  const others = auxiliary.map((one) => ({
    config: one.config,
    text: textSetup(one.text),
    samplers: one.samplers?.map(numbersIn(one.text)),
    reward: one.reward && numbersIn(one.text)(one.reward),
  }))
  const setup: Setup = {
    explorer: config.explorer,
    plugins: pluginFolders(),
    samplers,
    text: textSetup(text),
    auxiliary: others,
    models: models.map(({ model }) => model.info),
  }
  return { setup, models }
}

/** The same in a worker: models behind the port, texts opened again. */
export async function openSetup(setup: Setup, models: PortModels, note: (text: string) => void): Promise<ContextParts> {
  const sampler = (at: number) => models.sampler(at, setup.models[at])
  return {
    config: { explorer: setup.explorer },
    model: setup.samplers.map(sampler),
    text: await openText(setup.text, note),
    auxiliary: await Promise.all(
      setup.auxiliary.map(async ({ config, text, samplers, reward }) => ({
        config,
        text: await openText(text, note),
        samplers: samplers?.map(sampler),
        reward: reward === undefined ? undefined : models.reward(reward, setup.models[reward]),
      })),
    ),
  }
}

function textSetup({ tokenizer, template }: ModelText): TextSetup {
  return {
    dir: dirname(tokenizer.path),
    template: template && { source: template.source, path: template.path },
  }
}

async function openText({ dir, template }: TextSetup, note: (text: string) => void): Promise<ModelText> {
  const tokenizer = await Tokenizer.load(dir)
  if (!template) return { tokenizer }
  const opened = new ChatTemplate(template.source, tokenizer.specialTokens, template.path)
  opened.onToolFallback = note
  return { tokenizer, template: opened }
}
