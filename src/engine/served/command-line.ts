/** Flags of a server, and those of `extra_engine_args`, which win. */
export function commandLine(
  flags: Readonly<Record<string, unknown>>,
  extra: Readonly<Record<string, unknown>>,
): string[] {
  const named = Object.fromEntries(Object.entries(extra).map(([name, value]) => [name.replaceAll('_', '-'), value]))
  return Object.entries({ ...flags, ...named }).flatMap(([name, value]) => flag(name, value))
}

/** `--name value`; `--name` or `--no-name` for a truth value; JSON for what is neither text nor number. */
function flag(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (value === true) return [`--${name}`]
  if (value === false) return [`--no-${name}`]
  return [`--${name}`, typeof value === 'object' ? JSON.stringify(value) : String(value)]
}
