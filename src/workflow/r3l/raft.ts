import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import { blank, kept } from '../environment/rejection.js'
import type { Rollout } from './rollout.js'
import { StudyWorkflow } from './study.js'
import type { StudyWorld } from './study-world.js'

export function raftArgs({ keep }: Pick<StudyWorld, 'keep'>) {
  return {
    keep: z
      .enum(['won', 'rewarded'])
      .default(keep)
      .describe('What is learned from: rollouts that reached the goal, or those that earned anything.'),
  }
}

/** Rejection sampling: of a rollout that is not kept, an experience without gradient is left. */
export abstract class RaftWorkflow extends StudyWorkflow {
  protected override learned(rollout: Rollout): Experience[] {
    const experiences = super.learned(rollout)
    if (this.task.isEval) return experiences
    const { won, score } = rollout.episode
    const isKept = this.study.args.keep === 'won' ? won : score > 0
    return isKept ? experiences.map(kept) : experiences.slice(0, 1).map(blank)
  }
}
