import type { MachineReport } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { Copy } from '../part/copy.js'
import { Problem } from '../part/empty.js'

type Check = MachineReport['checks'][number]
const WORDS: Readonly<Record<Check['status'], string>> = {
  ok: 'ok',
  warning: 'look at it',
  missing: 'missing',
  wrong: 'not usable',
}

const TITLES: Readonly<Record<string, string>> = {
  runtime: 'Runtime',
  cpu: 'Processor and memory',
  cuda: 'GPUs',
  python: 'Python',
  ray: 'Ray',
  disk: 'Disk',
  environment: 'Environment',
}

/** What this machine can run and what is missing: the doctor's report. */
export function Machine() {
  const { answer, problem } = useAsked<MachineReport>('machine').value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Examining this machine…</p>
  const sections = [...new Set(answer.checks.map(({ section }) => section))]
  return (
    <main class="page">
      <div class="tools">
        <h1>Machine</h1>
        <span class="muted">
          {answer.platform} · trinity {answer.trinity}
        </span>
      </div>
      <h2>Engines</h2>
      <div class="sheet">
        <table class="checks">
          <thead>
            <tr>
              <th>Engine</th>
              <th>State</th>
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {answer.engines.map(({ engine, ready, why, fix }) => (
              <tr key={engine}>
                <td>{engine}</td>
                <td>
                  <small class={`tag ${ready ? 'good' : ''}`}>{ready ? 'ready' : 'not ready'}</small>
                </td>
                <td>
                  {why}
                  {fix && <Fix text={fix} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sections.map((section) => (
        <section key={section}>
          <h2>{TITLES[section] ?? section}</h2>
          <div class="sheet">
            <table class="checks">
              <tbody>
                {answer.checks
                  .filter((check) => check.section === section)
                  .map((check) => (
                    <Row key={check.id + check.name} check={check} />
                  ))}
              </tbody>
            </table>
          </div>
        </section>
      ))}
    </main>
  )
}

function Row({ check: { name, status, found, fix } }: { check: Check }) {
  const tone = status === 'ok' ? 'good' : status === 'wrong' ? 'bad' : ''
  return (
    <tr>
      <td>{name}</td>
      <td>
        <small class={`tag ${tone}`}>{WORDS[status]}</small>
      </td>
      <td>
        {found}
        {fix && status !== 'ok' && <Fix text={fix} />}
      </td>
    </tr>
  )
}

/** Commands in a text are there to be copied. */
function Fix({ text }: { text: string }) {
  const command = /`([^`]+)`/.exec(text)?.[1] ?? /^(trinity|npm|pip) .*$/.exec(text)?.[0]
  return (
    <p class="fix muted">
      {text} {command && <Copy text={command} />}
    </p>
  )
}
