/** The oldest releases that the torch engine runs with; python/pyproject.toml has the same. */
export const FLOORS: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  torch: [2, 11],
  transformers: [5, 0],
  'nvidia-cudnn-frontend': [1, 18],
}

/** The first releases that it does not run with. */
const CEILINGS: Readonly<Record<string, string>> = {
  // asks for a newer cuDNN than torch 2.11 brings
  'nvidia-cudnn-frontend': '1.21',
}

/** `2.9.1+cu128` is below `2.11`. */
export function belowFloor(name: string, version: string): boolean {
  if (!Object.hasOwn(FLOORS, name)) return false
  const [major = 0, minor = 0] = (version.match(/\d+/g) ?? []).map(Number)
  const floor = FLOORS[name]
  return major < floor[0] || (major === floor[0] && minor < floor[1])
}

/** As pip takes it: `torch>=2.11`. */
export function requirement(name: keyof typeof FLOORS): string {
  const ceiling = Object.hasOwn(CEILINGS, name) ? `,<${CEILINGS[name]}` : ''
  return `${name}>=${FLOORS[name].join('.')}${ceiling}`
}
