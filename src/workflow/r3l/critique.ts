import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import { rescore } from './form.js'
import { critiqueMessages, refinement } from './prompts.js'
import { type Rollout, retryMetrics } from './rollout.js'
import { StudyWorkflow } from './study.js'
import type { StudyWorld } from './study-world.js'

const LENGTH = { steps: 1024, attempts: 2048 } as const

export function critiqueArgs({ unit }: Pick<StudyWorld, 'unit'>) {
  return {
    critique_temperature: z.number().min(0).default(0.7).describe('Temperature of the critique.'),
    critique_max_tokens: z.int().min(1).default(LENGTH[unit]).describe('Longest critique, in tokens.'),
  }
}

const shape = z.object(critiqueArgs({ unit: 'steps' }))
type CritiqueArgs = z.output<typeof shape>

/**
 * Critique-GRPO: each failure is reviewed in words and tried again with the review in view. The best refinement of all that
 * earn more takes the place of the rollout that it refines, as if nothing had been said to it.
 */
export abstract class CritiqueWorkflow extends StudyWorkflow {
  static override readonly repeats = true

  override async run(): Promise<Experience[]> {
    const { repeat } = this.context
    const firsts: Rollout[] = []
    for (let i = 0; i < repeat; i++) firsts.push(await this.play(this.model.branch(`rollout ${i}`)))
    const refined: (Rollout | undefined)[] = []
    for (const [i, first] of firsts.entries()) refined.push(await this.#refine(first, i))
    const chosen = bestOf(firsts, refined)
    const all: Experience[] = []
    for (const [i, first] of firsts.entries()) {
      const second = refined[i]
      const experiences = second && i === chosen ? await this.#refinement(first, second) : this.learned(first)
      for (const experience of experiences) {
        experience.eid.run = this.context.run + i
        if (!second) continue
        const { pivot_point: _, ...metrics } = retryMetrics(first, second, 0, this.study.world)
        Object.assign(experience.metrics, metrics)
      }
      all.push(...experiences)
    }
    return all
  }

  async #refine(first: Rollout, i: number): Promise<Rollout | undefined> {
    if (this.task.isEval || first.episode.won || first.answers.length === 0) return undefined
    const { critique_temperature: temperature, critique_max_tokens: max_tokens } = this.study.args as CritiqueArgs
    const messages = critiqueMessages(first.episode, this.study.world)
    const [critique] = await this.model.branch(`critique ${i}`).chat(messages, { temperature, max_tokens })
    if (critique.truncateStatus === 'prompt_truncated') return undefined
    const guidance = refinement(critique.responseText ?? '')
    const second = await this.play(this.model.branch(`refinement ${i}`), { guidance })
    return second.answers.length > 0 ? second : undefined
  }

  /** In the place of the rollout that it refines, whose numbers it keeps. */
  async #refinement(first: Rollout, second: Rollout): Promise<Experience[]> {
    const model = this.model.branch('retold')
    const experiences = this.study.form.retold(second, (step) => second.episode.messagesAt(step), model)
    await rescore(model, experiences)
    for (const experience of experiences) {
      experience.reward = this.worth(second)
      experience.metrics = { ...this.metrics(first) }
      experience.info.is_off_policy = true
    }
    return experiences
  }
}

/** Of those that earned more than what they refine: one that reached the goal, else the one with the most. */
function bestOf(firsts: readonly Rollout[], refined: readonly (Rollout | undefined)[]): number | undefined {
  const better = refined.flatMap((second, i) =>
    second && second.episode.score > firsts[i].episode.score ? [{ i, episode: second.episode }] : [],
  )
  const [best] = better.toSorted(({ episode: a }, { episode: b }) => Number(b.won) - Number(a.won) || b.score - a.score)
  return best?.i
}
