/** Names without the folders that all of them begin with: what tells them apart fits into a legend. */
export function shortNames(names: readonly string[]): string[] {
  const parts = names.map((name) => name.split('/'))
  const least = Math.min(...parts.map(({ length }) => length)) - 1
  let common = 0
  while (common < least && parts.every((one) => one[common] === parts[0][common])) common++
  return parts.map((one) => one.slice(common).join('/'))
}

/** Names that differ: runs of one name get the first folder in which their paths do. */
export function distinctNames(runs: readonly { readonly name: string; readonly path: string }[]): string[] {
  return runs.map(({ name, path }) => {
    const twins = runs.filter((run) => run.name === name && run.path !== path)
    if (twins.length === 0) return name
    const parts = path.split('/')
    const at = parts.findIndex((part, index) => twins.every((twin) => twin.path.split('/')[index] !== part))
    return `${name} (${at < 0 ? path : parts[at]})`
  })
}
