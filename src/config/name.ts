/** Bytes of a name: what is made of it (`.lock-<name>.…`, `<name>_run_meta.json.….tmp`) has to fit into 255. */
export const MAX_NAME_BYTES = 200

/** Why a text cannot be the name of a folder or a file of a run; undefined: it can. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (/^[\p{Z}\p{C}]+$/u.test(name)) return 'is blank'
  if (/^\.+$/.test(name)) return `is '${name}', which is another folder, not a name`
  const separator = /[/\\]/.exec(name)?.[0]
  if (separator) return `has a '${separator}' in it: ${shown(name)}`
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return `has a control character in it: ${shown(name)}`
  const size = Buffer.byteLength(name)
  if (size > MAX_NAME_BYTES) return `is ${size} bytes long; the limit is ${MAX_NAME_BYTES}`
  return undefined
}

/** Short, and with nothing in it that a terminal would obey. */
function shown(name: string): string {
  const text = JSON.stringify(name).slice(1, -1)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
