import type { PerfTiming } from './report.js'

type Row = Readonly<Record<string, number>>

/** Rates of a measurement, from the numbers of its steps. */
export function timingOf(startup: number, execution: number, steps: readonly Row[]): PerfTiming {
  const tokens = (kind: 'prompt' | 'response') => {
    const known = steps.flatMap((row) => {
      const [count, length] = [row['experience_pipeline/experience_count'], row[`rollout/${kind}_length/mean`]]
      return count === undefined || length === undefined ? [] : [count * length]
    })
    return known.length === 0 || execution <= 0 ? null : known.reduce((sum, one) => sum + one, 0) / execution
  }
  const calls = (kind: 'prompt' | 'response') => {
    const known = steps.flatMap((row) => row[`rollout/api_call_${kind}_tokens_per_second/mean`] ?? [])
    return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length
  }
  return {
    startup_time_sec: startup,
    execution_time_sec: execution,
    total_time_sec: startup + execution,
    prompt_tokens_per_second: tokens('prompt'),
    response_tokens_per_second: tokens('response'),
    api_call_prompt_tokens_per_second: calls('prompt'),
    api_call_response_tokens_per_second: calls('response'),
  }
}
