import { numberOf, query, setQuery } from '../base/place.js'
import type { ChartView } from './curve.js'

/** How charts are drawn, as the address says. */
export function chartView(): ChartView {
  const { smooth, y, x, from, to } = query.value
  return {
    smooth: Math.min(0.99, Math.max(0, numberOf(smooth) ?? 0)),
    isLog: y === 'log',
    axis: x === 'time' ? 'time' : 'step',
    from: numberOf(from),
    to: numberOf(to),
  }
}

export function zoom(from?: number, to?: number): void {
  const text = (value?: number) => (value === undefined ? '' : String(Number(value.toPrecision(6))))
  setQuery({ from: text(from), to: text(to) })
}

export function ChartViewTools() {
  const { smooth, isLog, axis, from } = chartView()
  return (
    <fieldset class="view-tools">
      <legend class="hidden">How charts are drawn</legend>
      <button type="button" class="quiet" disabled={from === undefined} onClick={() => zoom()}>
        Zoom out
      </button>
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value={smooth}
          onInput={({ currentTarget: { value } }) => setQuery({ smooth: Number(value) === 0 ? '' : value })}
        />
        <output>{smooth.toFixed(2)}</output>
      </label>
      <label>
        <input type="checkbox" checked={isLog} onChange={() => setQuery({ y: isLog ? '' : 'log' })} />
        Log axis
      </label>
      <label>
        <span class="hidden">Horizontal axis</span>
        <select
          value={axis}
          onChange={({ currentTarget: { value } }) => setQuery({ x: value === 'time' ? 'time' : '', from: '', to: '' })}
        >
          <option value="step">by step</option>
          <option value="time">by time</option>
        </select>
      </label>
    </fieldset>
  )
}
