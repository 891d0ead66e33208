import { BUCKETS_MS, type HistogramCounts } from './histogram.js'
import type { GatewayStats } from './meter.js'

const PREFIX = 'trinity_gateway'

/** The numbers of a gateway in Prometheus' text format. */
export function prometheusText(stats: GatewayStats): string {
  const lines: string[] = []
  const metric = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    values: readonly (readonly [string, number])[],
  ) => {
    lines.push(`# HELP ${PREFIX}_${name} ${help}`, `# TYPE ${PREFIX}_${name} ${type}`)
    for (const [labels, value] of values) lines.push(`${PREFIX}_${name}${labels} ${value}`)
  }
  metric('requests_total', 'counter', 'Requests for an answer.', [['', stats.requests]])
  metric('answers_total', 'counter', 'Answers that were sampled.', [['', stats.answers]])
  const labeled = (label: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, count]) => [`{${label}="${name}"}`, count] as const)
  metric('errors_total', 'counter', 'Requests that got no answer, by HTTP status.', labeled('status', stats.errors))
  metric('tokens_total', 'counter', 'Tokens of prompts and of answers.', [
    ['{kind="prompt"}', stats.promptTokens],
    ['{kind="completion"}', stats.completionTokens],
  ])
  metric('retries_total', 'counter', 'Requests that got the answer of an earlier one.', [['', stats.retries]])
  const { field, tool, media } = stats.notes
  metric('ignored_fields_total', 'counter', 'Unknown fields of requests that were ignored.', labeled('field', field))
  metric('dropped_tools_total', 'counter', 'Hosted tools of requests that were dropped.', labeled('type', tool))
  metric('replaced_media_total', 'counter', 'Parts of tool results replaced by text.', labeled('type', media))
  const diverged = labeled('reason', stats.diverged)
  metric('divergences_total', 'counter', 'Calls that began a sequence of their own, by reason.', diverged)
  metric('sessions_total', 'counter', 'Sessions that were opened.', [['', stats.sessions]])
  metric('sessions_open', 'gauge', 'Sessions that are open.', [['', stats.openSessions]])
  metric('calls_in_flight', 'gauge', 'Calls that are being answered.', [['', stats.callsInFlight]])
  if (stats.modelVersion !== undefined) {
    metric('model_version', 'gauge', 'Newest version of the weights.', [['', stats.modelVersion]])
  }
  histogram(lines, 'first_token_seconds', 'Time to the first token of streams.', stats.firstToken)
  histogram(lines, 'call_seconds', 'Time to the end of an answer.', stats.total)
  return `${lines.join('\n')}\n`
}

function histogram(lines: string[], name: string, help: string, { counts, count, sumMs }: HistogramCounts): void {
  const full = `${PREFIX}_${name}`
  lines.push(`# HELP ${full} ${help}`, `# TYPE ${full} histogram`)
  let below = 0
  for (const [i, end] of BUCKETS_MS.entries()) {
    below += counts[i]
    lines.push(`${full}_bucket{le="${end / 1000}"} ${below}`)
  }
  lines.push(`${full}_bucket{le="+Inf"} ${count}`, `${full}_sum ${sumMs / 1000}`, `${full}_count ${count}`)
}

/** The same under the names of the reference's proxy, as far as a gateway knows them. */
export function referenceMetrics(stats: GatewayStats): Record<string, number> {
  return {
    'rollout/model_0/total_request_count': stats.requests,
    ...(stats.modelVersion !== undefined && { 'rollout/model_0/model_version': stats.modelVersion }),
    'rollout/total_experience_count': stats.answers,
  }
}
