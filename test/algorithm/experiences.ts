import { createExperience, type Experience, type ExperienceInit } from '../../src/experience/index.js'

/** A short experience of a task and run; three response tokens, the middle one not the model's. */
export function experience(
  task: number,
  run: number,
  reward: number | undefined,
  init: Partial<ExperienceInit> = {},
): Experience {
  return createExperience({
    eid: { batch: 0, task, run, step: 0, ...init.eid },
    tokens: [1, 2, 3, 4, 5],
    promptLength: 2,
    actionMask: [1, 0, 1],
    logprobs: [-0.5, -0.25, -1],
    reward,
    ...Object.fromEntries(Object.entries(init).filter(([key]) => key !== 'eid')),
  })
}

/** One group per list of rewards. */
export function groups(...rewards: (number | undefined)[][]): Experience[] {
  return rewards.flatMap((group, task) => group.map((reward, run) => experience(task, run, reward)))
}

/** The score each sequence got: the advantage of its first token, which is the model's. */
export const scores = (experiences: readonly Experience[]): number[] => experiences.map((e) => e.advantages![0])
