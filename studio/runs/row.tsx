import type { Evaluation, RunSummary } from '../../src/studio/api.js'
import { now } from '../base/clock.js'
import { ago, modelName, moment, NONE, number } from '../base/format.js'
import { linkTo } from '../base/place.js'
import { runName } from '../base/run-names.js'
import { Badge } from '../part/badge.js'
import { Progress } from '../part/progress.js'
import { Spark } from '../part/spark.js'
import { choose, isChosen } from './choice.js'

interface Props {
  readonly run: RunSummary
  readonly isSelected: boolean
}

export function RunRow({ run, isSelected }: Props) {
  const { evaluation, spark } = run
  const name = runName(run)
  return (
    <tr class={isSelected ? 'selected' : ''} data-run={run.id}>
      <td class="choose">
        <input
          type="checkbox"
          checked={isChosen(run.id)}
          onChange={() => choose(run.id)}
          aria-label={`compare ${name}`}
        />
      </td>
      <td class="state">
        <Badge state={run.state} />
      </td>
      <td class="name">
        <span class="name-line">
          <a href={linkTo(['runs', run.id, 'charts'])} title={run.path}>
            {name}
          </a>
          {run.tags.map((tag) => (
            <small class="tag" key={tag}>
              {tag}
            </small>
          ))}
        </span>
        <Words run={run} />
      </td>
      <td class="steps">
        <Progress progress={run.progress} />
      </td>
      <td class="reward">
        {spark && <Spark values={spark.values} label={`${spark.metric}, last ${number(spark.last)}`} />}
        <span class="figure">{number(spark?.last)}</span>
      </td>
      <Score evaluation={evaluation?.first} kind="first" />
      <Score
        evaluation={evaluation?.best}
        kind="best"
        gain={evaluation && evaluation.best.score - evaluation.first.score}
      />
      <Score evaluation={evaluation?.last} kind="last" />
      <td class="changed muted" title={moment(run.changed)}>
        {ago(run.changed, now.value)}
      </td>
    </tr>
  )
}

/** What is wrong, whom it waits for, or else what it is. */
function Words({ run }: { run: RunSummary }) {
  const wrong = run.error !== undefined ? run.error.message : run.problems[0]?.replace(`${run.path}/`, '')
  const waits = run.roles.flatMap(({ role, waitsFor }) => (waitsFor ? `${role} waits for ${waitsFor}` : []))
  if (wrong !== undefined)
    return (
      <small class="bad" title={[wrong, ...run.problems.slice(1)].join('\n')}>
        {wrong.split('\n', 1)[0]}
      </small>
    )
  return (
    <small class="muted" title={waits.length > 0 ? waits.join('; ') : run.model}>
      {run.state === 'waiting' && waits.length > 0 ? waits[0] : facts(run)}
    </small>
  )
}

function facts({ algorithm, model, engine, mode }: RunSummary): string {
  const engines = [...new Set([engine?.trainer, engine?.sampler].filter(Boolean))].join(' + ')
  return [algorithm ?? mode, model && modelName(model), engines].filter(Boolean).join(' · ') || NONE
}

function Score({ evaluation, kind, gain }: { evaluation?: Evaluation; kind: string; gain?: number }) {
  const title = evaluation && `${evaluation.metric} at step ${evaluation.step}`
  return (
    <td class={`score ${kind}`} title={title}>
      <span class="figure">{number(evaluation?.score)}</span>
      {gain !== undefined && gain > 0 && <small class="good">+{number(gain)}</small>}
    </td>
  )
}
