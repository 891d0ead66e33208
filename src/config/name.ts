/** Bytes of a name: what is made of it (`.lock-<name>.…`, `<name>_run_meta.json.….tmp`) has to fit into 255. */
export const MAX_NAME_BYTES = 200

const INVISIBLE = /\p{Cf}|[\u115f\u1160\u3164\uffa0]|\u034f/u

/** Why a text cannot be the name of a folder or a file of a run; undefined: it can. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (/^[\p{Z}\p{C}]+$/u.test(name)) return 'is blank'
  if (/^\.+$/.test(name)) return `is '${name}', which is another folder, not a name`
  const separator = /[/\\]/.exec(name)?.[0]
  if (separator) return `has a '${separator}' in it: ${shown(name)}`
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return `has a control character in it: ${shown(name)}`
  // such a name looks like another one
  if (INVISIBLE.test(name)) return `has an invisible character in it: ${shown(name)}`
  const size = Buffer.byteLength(name)
  if (size > MAX_NAME_BYTES) return `is ${size} bytes long; the limit is ${MAX_NAME_BYTES}`
  return undefined
}

/**
 * Why a text cannot be the name of a folder that may lie in the folder of a job: a run keeps something under it, and
 * would take the folder for its own.
 */
export function layoutFault(name: string, nested: boolean): string | undefined {
  // an upper-case name is the same one on some disks
  const taken = CHECKPOINT.test(name) || (nested && LAYOUT.test(name))
  return taken ? `is '${shown(name)}', under which a run keeps its own files` : undefined
}

/**
 * Why explorer and trainer cannot have these names: the files of one (`<name>_meta.json`, `<name>.log`, `.status-<name>.json`)
 * would be those of the other, or of the run.
 */
export function roleFault(explorer: string, trainer: string): string | undefined {
  const name = explorer.toLowerCase()
  if (name === trainer.toLowerCase()) return 'is that of the trainer, too'
  return /^(run|trainer|stage|synchronizer)$|_run$/.test(name)
    ? `is '${explorer}', under which a run keeps its own files`
    : undefined
}

const CHECKPOINT = /^(global_step_\d.*|\.trinity)$/i
const LAYOUT =
  /^(log|buffer|monitor|bench|job\.json|best_eval\.json|latest_\w+_iteration\.txt|.*_meta\.json|\.(lock|status)-.*)$/i

/** Short, and with nothing in it that a terminal would obey or nobody could see. */
function shown(name: string): string {
  const escaped = (one: string) => `\\u${one.codePointAt(0)?.toString(16).padStart(4, '0')}`
  const text = JSON.stringify(name).slice(1, -1).replace(new RegExp(INVISIBLE, 'gu'), escaped)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
