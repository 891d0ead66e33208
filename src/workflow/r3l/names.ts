import { withEnvironment } from '../environment/args.js'
import { type NamedWorld, namedArgs, planOf } from '../environment/named.js'
import type { EnvironmentPlan } from '../environment/run.js'
import type { WorkflowClass } from '../workflow.js'
import { workflowArgs } from '../workflow-args.js'
import { conversation, type Form, steps } from './form.js'
import { critiqueGrpo, dapo, plain, r3l, r3lWithoutCredit, raft, reflectGrpo, type StudyKind } from './kinds.js'
import type { Study } from './study.js'
import { anyWorld, STUDY_WORLDS, type StudyWorld } from './study-world.js'

/** Names over whole conversations; `*` stands for the world. CountDown has the first five. */
const CONVERSATIONS: Readonly<Record<string, StudyKind>> = {
  'R3L_*': r3l,
  'grpo_baseline_*': plain,
  'opmd_baseline_*': plain,
  'raft_baseline_*': raft,
  'dapo_*': dapo,
  'R3L_*_w_o_credit': r3lWithoutCredit,
  'reflect_grpo_*': reflectGrpo,
  'critique_grpo_*': critiqueGrpo,
}

/** Names with one experience per step. */
const STEPS: Readonly<Record<string, StudyKind>> = {
  'step_grpo_*': plain,
  'step_opmd_*': plain,
  'step_gspo_*': plain,
  'step_dapo_*': dapo,
  'step_raft_*': raft,
  'step_reflect_grpo_*': reflectGrpo,
  'step_critique_grpo_*': critiqueGrpo,
  'step_R3L_*': r3l,
}

const { alfworld, webshop, scienceworld, dapo: mathematics, qwen_math, countdown } = STUDY_WORLDS
const OF_COUNTDOWN = Object.keys(CONVERSATIONS).slice(0, 5)

/** All workflows of the R3L study by their names in the original, and the method itself for any world. */
export const studyWorkflows: Readonly<Record<string, WorkflowClass>> = {
  ...namesOf(CONVERSATIONS, conversation, [alfworld, webshop, scienceworld, mathematics, qwen_math]),
  ...namesOf(Object.fromEntries(OF_COUNTDOWN.map((name) => [name, CONVERSATIONS[name]])), conversation, [countdown]),
  ...namesOf(STEPS, steps, [alfworld, webshop, scienceworld, mathematics]),
  R3L_environment_workflow: anyWhere(r3l, conversation),
  step_wise_R3L_environment_workflow: anyWhere(r3l, steps),
}

function namesOf(
  kinds: Readonly<Record<string, StudyKind>>,
  form: Form,
  worlds: readonly StudyWorld[],
): Record<string, WorkflowClass> {
  return Object.fromEntries(
    worlds.flatMap((world) =>
      Object.entries(kinds).map(([name, kind]) => [
        `${name.replace('*', world.name)}_workflow`,
        inWorld(kind, form, world),
      ]),
    ),
  )
}

function inWorld({ doc, Workflow, args: own, settled = {} }: StudyKind, form: Form, world: StudyWorld): WorkflowClass {
  const named: NamedWorld = {
    doc: `${doc}: ${world.name}`,
    environment: world.environment,
    limit: world.unit === 'attempts' ? 'attempts' : 'max_env_steps',
    defaults: form === steps ? world.steps : undefined,
  }
  const open = Object.entries(own?.(world) ?? {}).filter(([name]) => !Object.hasOwn(settled, name))
  const args = namedArgs(named, Object.fromEntries(open))
  return class extends Workflow {
    static override readonly doc = named.doc
    static override readonly args = args

    protected override makeStudy(): Study {
      const given = { ...workflowArgs(this.task, args), ...settled }
      return { world, form, plan: planOf(named, args, this.task), args: given }
    }
  }
}

/** In any world, which stands in the arguments. */
function anyWhere({ doc, Workflow, args: own }: StudyKind, form: Form): WorkflowClass {
  const args = withEnvironment(own?.(anyWorld('')) ?? {})
  return class extends Workflow {
    static override readonly doc = `${doc}, in any environment`
    static override readonly args = args

    protected override makeStudy(): Study {
      const given = workflowArgs(this.task, args)
      const plan = given as unknown as EnvironmentPlan
      return { world: anyWorld(plan.environment), form, plan, args: given }
    }
  }
}
