/**
 * Configurations of the Python original may name a class by its import path (`my_pkg.workflows.MyWorkflow`).
 * Returns how to port it, or undefined when the name is an ordinary one.
 */
export function dottedPathHint(name: string): string | undefined {
  if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/.test(name)) return undefined
  const own = name.slice(name.lastIndexOf('.') + 1)
  const short = own.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  return (
    `write it in TypeScript as a plugin: a file in the directory given by --plugin-dir that registers it ` +
    `under a name, for example '${short}', and use that name here (docs/plugins.md)`
  )
}
