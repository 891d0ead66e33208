import type { z } from 'zod'
import { reflectRetryArgs } from './args.js'
import { CritiqueWorkflow, critiqueArgs } from './critique.js'
import { DapoWorkflow, dapoArgs } from './dapo.js'
import { RaftWorkflow, raftArgs } from './raft.js'
import { R3lWorkflow, ReflectGrpoWorkflow } from './reflect-retry.js'
import { StudyWorkflow } from './study.js'
import type { StudyWorld } from './study-world.js'

/** A way to learn in any world. */
export interface StudyKind {
  readonly doc: string
  readonly Workflow: typeof StudyWorkflow
  /** Its arguments; defaults may be the world's. */
  readonly args?: (world: StudyWorld) => z.ZodRawShape
  /** Those of them that the name settles; a user cannot give them. */
  readonly settled?: Readonly<Record<string, unknown>>
}

/** Rollouts as they are: what GRPO, OPMD and GSPO learn from. */
export const plain: StudyKind = { doc: 'a rollout', Workflow: StudyWorkflow }

export const raft: StudyKind = {
  doc: 'a rollout that is learned if it succeeds (RAFT)',
  Workflow: RaftWorkflow,
  args: raftArgs,
}

export const dapo: StudyKind = {
  doc: 'a rollout with a penalty for long replies (DAPO)',
  Workflow: DapoWorkflow,
  args: dapoArgs,
}

export const r3l: StudyKind = {
  doc: 'pairs of a rollout and a guided retry from its pivot (R3L)',
  Workflow: R3lWorkflow,
  args: reflectRetryArgs,
}

export const r3lWithoutCredit: StudyKind = {
  ...r3l,
  doc: 'R3L without pivotal credit: shared steps are learned as well',
  settled: { credit: 'none' },
}

export const reflectGrpo: StudyKind = {
  doc: 'rollouts, half of them with a guided retry after a failure, in one group (Reflect-GRPO)',
  Workflow: ReflectGrpoWorkflow,
  args: reflectRetryArgs,
  settled: { retry_from: 'start', credit: 'none', imitate: 'never', reflect_on: 'failures' },
}

export const critiqueGrpo: StudyKind = {
  doc: 'rollouts, the best refinement by a critique among them (Critique-GRPO)',
  Workflow: CritiqueWorkflow,
  args: critiqueArgs,
}
