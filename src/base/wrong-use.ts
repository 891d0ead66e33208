import { TrinityError } from './error.js'

/** Areas and codes that mean: what was asked for has to change, or what was named is not there, before anything can run. */
const WRONG_USE = [
  /^(args|cli|config|dataset|init|model|plugin|registry|verl)\//,
  /^(explorer|trainer)\/nothing-usable$/,
  /^trainer\/no-update$/,
  /^(workflow\/args|engine\/lora|benchmark\/name)$/,
  /^checkpoint\/other-job$/,
  /^ray\/(address|secret)$/,
  // a download that breaks off is a failure
  /^data\/(ambiguous|empty|not-found|split|subset|unsupported)$/,
  /^task\/(column|media|no-path|no-workflow|state)$/,
  /^(plot\/run|sweep\/metric|convert\/(missing|none)|perf\/report|studio\/(no-(experiences|file|run|table)|store))$/,
  /^hub\/(id|not-found|offline|unauthorized|unknown)$/,
  /^(tokenizer|chat)\/(missing|invalid|template)$/,
]

/** What cannot be read is wrong use like what is not there, unless a run has got going and could read it before. */
const UNREADABLE =
  /^(file|safetensors|gguf)\/unreadable$|^data\/(encoding|malformed|too-large|unreadable)$|^task\/(format|row)$/

const duringRun = new WeakSet<object>()

/** Takes note that this stopped a run that had taken steps. */
export function noteDuringRun(error: unknown): void {
  if (error instanceof TrinityError) duringRun.add(error)
}

/** Whether a person has to change something, as opposed to a run that went wrong. */
export function isWrongUse(error: unknown): boolean {
  if (!(error instanceof TrinityError)) return false
  return (!duringRun.has(error) && UNREADABLE.test(error.code)) || WRONG_USE.some((codes) => codes.test(error.code))
}
