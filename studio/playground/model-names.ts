import type { ModelChoice } from '../../src/studio/api.js'

/** Models as a closed list shows them: each says which run it belongs to. `runs`: their names by id. */
export function modelNames(
  models: readonly ModelChoice[],
  runs: ReadonlyMap<string, string>,
): { readonly path: string; readonly label: string; readonly group: string }[] {
  return models.map(({ path, name, run, step, isBest, isOpen }) => {
    const own = run === undefined ? undefined : (runs.get(run) ?? 'a run')
    const about = [isBest && 'best', isOpen && 'in memory'].filter(Boolean)
    const words = own === undefined ? [name] : step === undefined ? [name, `before ${own}`] : [own, name]
    const group = own === undefined ? 'Models' : step === undefined ? 'Before training' : own
    return { path, label: [...words, ...about].join(' · '), group }
  })
}

/** The first model of the newest run that has one beside its checkpoints, and its best or last checkpoint. */
export function beforeAndAfter(models: readonly ModelChoice[]): { a: string; b: string } | undefined {
  for (const { run, path, step } of models) {
    if (run === undefined || step !== undefined) continue
    const made = models.filter((one) => one.run === run && one.step !== undefined)
    const last = made.find(({ isBest }) => isBest) ?? made.toSorted((x, y) => (y.step ?? 0) - (x.step ?? 0))[0]
    if (last !== undefined) return { a: path, b: last.path }
  }
  return undefined
}
