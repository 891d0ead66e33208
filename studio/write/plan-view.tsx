import type { ConfigProblem } from '../../src/studio/api.js'
import { linkTo } from '../base/place.js'
import { Refused } from '../part/refused.js'
import { checked, isChecking, notes, planned, problem, setValue, target, text } from './draft.js'
import { showLine } from './text-view.js'

const SIGNS = { error: '✕', warning: '!', note: 'i' }
const RANKS = { error: 0, warning: 1, note: 2 }

/** What is wrong, and what the run would do. */
export function PlanView() {
  const answer = checked.value
  if (problem.value !== undefined)
    return (
      <section class="plan-view" aria-label="Check">
        <Refused refusal={problem.value} />
      </section>
    )
  if (answer === undefined)
    return (
      <section class="plan-view" aria-label="Check">
        <p class="muted">{text.value === '' ? 'Nothing is written yet.' : 'Checking…'}</p>
      </section>
    )
  const problems = [...answer.problems].sort((a, b) => RANKS[a.severity] - RANKS[b.severity])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class={`plan-view ${isChecking.value ? 'is-old' : ''}`} aria-label="Check" aria-live="polite" tabIndex={0}>
      {notes.value.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map((one) => (
            <ProblemLine key={`${one.key} ${one.message} ${one.line}`} problem={one} />
          ))}
        </ul>
      )}
      {answer.warnings.map((warning) => (
        <p key={warning} class="warn">
          {warning}
        </p>
      ))}
      {planned.value?.map(({ name, plan, isInside, dir, run }) => (
        <div key={dir} class="stage">
          {answer.stages === undefined && <p class="muted">Without the faults it was:</p>}
          {name !== undefined && <h2>{name}</h2>}
          {!isInside && <Outside dir={dir} />}
          <dl>
            {plan.map(([label, words], i) => (
              <div key={i}>
                <dt>{label}</dt>
                <dd>{words}</dd>
              </div>
            ))}
            {run !== undefined && (
              <div>
                <dt>there is</dt>
                <dd>
                  <a href={linkTo(['runs', run, 'charts'])}>a run in this folder</a>
                </dd>
              </div>
            )}
          </dl>
        </div>
      ))}
    </section>
  )
}

/** Where Studio does not look. */
function Outside({ dir }: { dir: string }) {
  const { folder } = target.value
  return (
    <p class="warn outside">
      The run would be in {dir}, where this Studio does not look: it cannot be started from here.{' '}
      <button type="button" onClick={() => setValue(['checkpoint_root_dir'], folder)}>
        Put it into {folder}
      </button>
    </p>
  )
}

function ProblemLine({ problem: { severity, key, message, hint, line, file } }: { problem: ConfigProblem }) {
  const words = (
    <>
      <b class={severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : 'muted'} title={severity}>
        {SIGNS[severity]}
      </b>
      <span>
        {key && <code>{key}</code>} {message}
        {hint && <span class="muted"> · {hint}</span>}
        {file && <span class="muted"> · {file}</span>}
      </span>
    </>
  )
  return (
    <li>
      {line === undefined ? (
        <span class="problem-line">{words}</span>
      ) : (
        <button type="button" class="problem-line quiet" onClick={() => showLine(line)}>
          {words}
          <small class="muted">line {line}</small>
        </button>
      )}
    </li>
  )
}
