import type { ComponentChildren } from 'preact'
import type { RunDetail } from '../../src/studio/api.js'
import { now } from '../base/clock.js'
import { ago, duration, modelName, NONE, number } from '../base/format.js'
import { writes } from '../base/live.js'
import { Badge } from '../part/badge.js'
import { Progress } from '../part/progress.js'
import { Tags } from './tags.js'

/** What one wants to know first, in one line of fixed height. */
export function Headline({ run }: { run?: RunDetail }) {
  return (
    <section class="headline" aria-label="The run">
      <dl>
        <Fact name="State">{run ? <Badge state={run.state} /> : NONE}</Fact>
        <Fact name="Steps">{run ? <Progress progress={run.progress} /> : NONE}</Fact>
        <Fact name="Per step">{duration(run?.progress.secondsPerStep)}</Fact>
        <Fact
          name="Evaluation"
          title={
            run?.evaluation && `${run.evaluation.best.metric}: first → best (step ${run.evaluation.best.step}), last`
          }
        >
          {run?.evaluation ? (
            <>
              {number(run.evaluation.first.score)} <span class="muted">→</span>{' '}
              <b>{number(run.evaluation.best.score)}</b>
              {run.evaluation.last.step !== run.evaluation.best.step && (
                <span class="muted"> · last {number(run.evaluation.last.score)}</span>
              )}
            </>
          ) : (
            NONE
          )}
        </Fact>
        <Fact name="Algorithm">{run?.algorithm ?? run?.mode ?? NONE}</Fact>
        <Fact name="Model" title={run?.model}>
          {modelName(run?.model)}
        </Fact>
        <Fact name="Engine">
          {[...new Set([run?.engine?.trainer, run?.engine?.sampler].filter(Boolean))].join(' + ') || NONE}
        </Fact>
        <Fact name="Changed">{ago(run?.changed, now.value)}</Fact>
        {run !== undefined && <Waits run={run} />}
        {run !== undefined && (writes.value || run.tags.length > 0) && (
          <Fact name="Tags">
            <Tags key={run.id} run={run} />
          </Fact>
        )}
      </dl>
      {run?.error !== undefined && (
        <pre class="failure" role="alert">
          {run.error.message}
        </pre>
      )}
      {run !== undefined && run.problems.length > 0 && (
        <p class="note">Not everything could be read: {run.problems.join('; ')}</p>
      )}
    </section>
  )
}

function Waits({ run }: { run: RunDetail }) {
  const waits = run.roles.filter(({ waitsFor }) => waitsFor !== undefined)
  if (waits.length === 0) return null
  const words = waits.map(({ role, waitsFor }) => `${role} for ${waitsFor}`).join(' · ')
  return (
    <Fact name="Waits" title={words}>
      {words}
    </Fact>
  )
}

function Fact({ name, title, children }: { name: string; title?: string; children: ComponentChildren }) {
  return (
    <div title={title} class={name.toLowerCase().replace(' ', '-')}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
