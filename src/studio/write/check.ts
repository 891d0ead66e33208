import { type Facts, machineFacts, type Problem, printConfig, readText } from '../../config/index.js'
import { concealed } from '../../config/secret.js'
import { checkConfigs } from '../../run/check.js'
import { dryRun } from '../../run/dry-run.js'
import { cardOf } from '../../run/memory.js'
import type { CheckAnswer, CheckQuery, ConfigProblem, Json, PlannedStage } from '../api.js'

/** What a text is called that is in no file. */
const NAME = 'new.yaml'

export interface ToCheck extends Omit<CheckQuery, 'place'> {
  /** Where it is, or will be. */
  readonly file?: string
}

/** What the checker says; the server adds what it knows of folders. */
export type Checked = Omit<CheckAnswer, 'stages'> & {
  readonly stages?: readonly Omit<PlannedStage, 'isInside' | 'run'>[]
}

/** A text in the words of `config check`, and the plan of a dry run. Reads what it names; runs nothing of it. */
export async function checkText(
  { text, isFull, file = NAME }: ToCheck,
  facts: Facts = machineFacts(),
): Promise<Checked> {
  const read = () => readText(text, file, { cwd: facts.cwd })
  const [{ ok, problems, resolved }] = await checkConfigs([{ file, read }], facts)
  const found = problems.map((one) => problemOf(one, file))
  if (resolved === undefined) return { ok, problems: found, warnings: [] }
  const { stages, warnings } = await dryRun(resolved, facts, await cardOf(undefined))
  const shown = resolved.stages.map(({ config }) => concealed(config))
  return {
    ok,
    problems: found,
    warnings,
    stages: stages.map(({ name, lines }, i) => ({
      name: name ?? undefined,
      plan: lines,
      dir: resolved.stages[i].config.checkpoint_job_dir,
    })),
    values: shown[0] as unknown as Json,
    ...(isFull && { yaml: shown.map(printConfig).join('---\n') }),
  }
}

function problemOf({ severity, code, key, message, hint, mark }: Problem, own: string): ConfigProblem {
  const about = { severity, code, key, message, hint }
  if (mark === undefined) return about
  const { file, line, column } = mark
  return file === own ? { ...about, line, column } : { ...about, file: `${file}:${line}` }
}
