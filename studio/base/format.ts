/** Numbers, durations and sizes as a person reads them. A value that is not there is a dash. */

export const NONE = '–'

/** About four digits, never more than eight characters: columns of them do not jump. */
export function number(value: number | string | undefined | null): string {
  if (value === undefined || value === null) return NONE
  if (typeof value === 'string') return value
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 1e9 || size < 1e-3) return value.toExponential(2).replace('e+', 'e')
  if (size >= 1e6) return `${trim((value / 1e6).toFixed(2))}M`
  if (size >= 1e4) return `${trim((value / 1e3).toFixed(1))}k`
  if (Number.isInteger(value)) return String(value)
  return String(Number(value.toPrecision(4)))
}

const trim = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

/** Whole numbers with separators: `12,345`. */
export function count(value: number | undefined): string {
  return value === undefined ? NONE : value.toLocaleString('en-US')
}

export function percent(share: number): string {
  return `${share > 0 && share < 0.01 ? '<1' : Math.round(share * 100)} %`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytes(value: number | undefined): string {
  if (value === undefined) return NONE
  const power = value < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3))
  return `${trim((value / 1000 ** power).toPrecision(3))} ${UNITS[power]}`
}

/** The two largest units: `2 h 5 min`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return NONE
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${trim(seconds.toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return join(Math.floor(whole / 60), 'min', whole % 60, 's')
  if (whole < 86_400) return join(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'min')
  return join(Math.floor(whole / 86_400), 'd', Math.floor((whole % 86_400) / 3600), 'h')
}

const join = (large: number, unit: string, small: number, next: string) =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${next}`

/** How long ago, in one unit. */
export function ago(time: number | undefined, now: number): string {
  if (time === undefined) return NONE
  const seconds = Math.max(0, now - time)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

/** `2026-11-16 12:03:01`, in the time of this machine. */
export function moment(time: number | undefined): string {
  if (time === undefined) return NONE
  const date = new Date(time * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(time)}`
}

export function clock(time: number): string {
  const date = new Date(time * 1000)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Folders of models whose names say nothing. */
const NAMELESS = /^(models?|weights|actor|huggingface|hf|checkpoint)$/i

/** A model by its last name; where that says nothing, with the folder before it that does: `quickstart/model`. */
export function modelName(path: string | undefined): string {
  const parts = path?.split('/').filter(Boolean) ?? []
  const at = parts.findLastIndex((part) => !NAMELESS.test(part))
  const last = parts.at(-1)
  if (last === undefined || at < 0 || parts[at] === last) return last ?? NONE
  // a step is one of many: whose it is says more than what it lies in
  return parts[at].startsWith('global_step_')
    ? parts.slice(Math.max(0, at - 1), at + 1).join('/')
    : `${parts[at]}/${last}`
}

/** The last name of a path or of a model's id. */
export function lastName(path: string | undefined): string {
  return path === undefined ? NONE : (path.replace(/\/+$/, '').split('/').pop() ?? path)
}
