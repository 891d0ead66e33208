/** The lines of a configuration that train on one file and evaluate with others, or only evaluate. */
export function mathYaml(folder: string, sets: readonly { name: string; split: string }[], trains = true): string {
  const how = `default_workflow_type: grpo_baseline_dapo_workflow`
  const format = 'format: { prompt_key: question, response_key: answer }'
  const train = `    taskset:
      path: ${folder}
      split: train
      ${how}
      ${format}
`
  const evals = sets.map(
    ({ name, split }) => `      - name: ${name}
        path: ${folder}
        split: ${split}
        ${how}
        ${format}
`,
  )
  return `${trains ? '' : 'mode: bench\n'}buffer:\n  explorer_input:\n${trains ? train : ''}    eval_tasksets:\n${evals.join('')}`
}
