import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import type { RunConfig } from '../../src/studio/api.js'
import { seriesDot } from '../base/theme.js'
import { valueText } from '../run/configuration.js'
import { useEach } from './each.js'
import { differences } from './flatten.js'

export function ConfigurationTable({ ids, names }: { ids: readonly string[]; names: readonly string[] }) {
  const configs = useEach<RunConfig>(ids, 'config')
  const rows = useMemo(() => differences(configs.map((one) => one?.config)), [configs])
  const unknown = names.filter((_, index) => configs[index] !== undefined && configs[index]?.config === undefined)
  return (
    <section>
      <h2>What was set differently</h2>
      {unknown.length > 0 && <p class="note">No configuration on record: {unknown.join(', ')}</p>}
      {rows.length === 0 ? (
        <p class="muted">{configs.length === 0 ? 'Reading…' : 'Nothing.'}</p>
      ) : (
        <div class="sheet">
          <table class="differences">
            <thead>
              <tr>
                <th>Key</th>
                {names.map((name, index) => (
                  <th key={ids[index]}>
                    <i class={seriesDot(index)} /> {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, values }) => (
                <tr key={key}>
                  <td class="key">
                    <code>
                      <Key text={key} />
                    </code>
                  </td>
                  {values.map((value, index) => (
                    <td key={ids[index]}>
                      {value === undefined ? <span class="muted">not set</span> : <code>{valueText(value)}</code>}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** A narrow page breaks a key after its dots only, so that its words can be read. */
function Key({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?<=\.)/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  )
}
