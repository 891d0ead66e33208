/** A report that can be used, or what is made of it. */
export function report(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    trajectory_summary: 'It looked around.',
    root_cause_analysis: 'No plan.',
    trajectory_outcome: 'failure',
    improvement_suggestion: 'WISDOM: go to the bed first.',
    retry_from_step: 0,
    ...changes,
  })
}
