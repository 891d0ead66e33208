/** The class at the end of an import path of Python (`my_pkg.flows.MyFlow`); undefined for an ordinary name. */
export function classOf(name: string): string | undefined {
  return /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.([A-Za-z_]\w*)$/.exec(name)?.[1]
}

/**
 * Which of the names a class stands for: its own, or one of the same letters, so that `MathRMWorkflow` is
 * `math_rm_workflow` and `CountDownRewardFn` is `countdown_reward`.
 */
export function nameOfClass(own: string, names: readonly string[]): string | undefined {
  return names.includes(own) ? own : names.find((name) => letters(name) === letters(own))
}

function letters(name: string): string {
  return name.replaceAll('_', '').toLowerCase().replace(/fn$/, '')
}

/** How to bring a class of Python that nothing here stands for. */
export function portHint(own: string): string {
  const short = own.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  return (
    'it is the path of a Python class: write it in TypeScript as a plugin, a file in the directory given by ' +
    `--plugin-dir that registers it under a name, for example '${short}', and use that name here (docs/plugins.md)`
  )
}
