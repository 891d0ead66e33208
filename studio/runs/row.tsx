import type { Evaluation, RunSummary } from '../../src/studio/api.js'
import { now } from '../base/clock.js'
import { ago, lastName, moment, NONE, number } from '../base/format.js'
import { linkTo } from '../base/place.js'
import { Badge } from '../part/badge.js'
import { Progress } from '../part/progress.js'
import { Spark } from '../part/spark.js'
import { choose, isChosen } from './choice.js'

interface Props {
  readonly run: RunSummary
  readonly name: string
  readonly isSelected: boolean
}

export function RunRow({ run, name, isSelected }: Props) {
  const { evaluation, spark } = run
  const reward = spark?.values.findLast((value) => value !== null)
  const waits = run.roles
    .filter(({ waitsFor }) => waitsFor)
    .map(({ role, waitsFor }) => `${role} waits for ${waitsFor}`)
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
        <a href={linkTo(['runs', run.id, 'charts'])} title={run.path}>
          {name}
        </a>
        {run.tags.map((tag) => (
          <small class="tag" key={tag}>
            {tag}
          </small>
        ))}
        <small class="muted">
          {run.state === 'failed' && run.error !== undefined ? (
            <span class="bad" title={run.error.message}>
              {run.error.message.split('\n', 1)[0]}
            </span>
          ) : run.state === 'waiting' && waits.length > 0 ? (
            <span title={waits.join('; ')}>{waits[0]}</span>
          ) : (
            <span title={run.model}>{facts(run)}</span>
          )}
        </small>
      </td>
      <td class="steps">
        <Progress progress={run.progress} />
      </td>
      <td class="reward">
        {spark && <Spark values={spark.values} label={`${spark.metric}, last ${number(reward)}`} />}
        <span class="figure">{number(reward)}</span>
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

function facts({ algorithm, model, engine, mode }: RunSummary): string {
  const engines = [...new Set([engine?.trainer, engine?.sampler].filter(Boolean))].join(' + ')
  return [algorithm ?? mode, model && lastName(model), engines].filter(Boolean).join(' · ') || NONE
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
