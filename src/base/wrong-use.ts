import { TrinityError } from './error.js'

/** Areas and codes that mean: what was asked for has to change, or what was named is not there, before anything can run. */
const WRONG_USE = [
  /^(args|cli|config|dataset|init|model|plugin|registry|verl)\//,
  /^(explorer|trainer)\/nothing-usable$/,
  /^workflow\/args$/,
  /^checkpoint\/other-job$/,
  /^ray\/(address|secret)$/,
  // A bad row may turn up in the middle of a run: that is a failure. So is a download that breaks off.
  /^data\/(ambiguous|empty|not-found|split|subset|unsupported)$/,
  /^task\/(column|media|no-path|no-workflow)$/,
  /^hub\/(id|not-found|offline|unauthorized|unknown)$/,
  /^(tokenizer|chat)\/(missing|invalid|template)$/,
]

/** Data that cannot be read, wherever in a run that turns out. */
const BAD_DATA = /^data\/(encoding|malformed|too-large)$|^task\/(format|row)$/

const foundAtOnce = new WeakSet<object>()

/** Takes note that this stopped a run before it took a step: data that cannot be read are wrong use then, like those that are not there. */
export function noteBeforeFirstStep(error: unknown): void {
  if (error instanceof TrinityError && BAD_DATA.test(error.code)) foundAtOnce.add(error)
}

/** Whether a person has to change something, as opposed to a run that went wrong. */
export function isWrongUse(error: unknown): boolean {
  if (!(error instanceof TrinityError)) return false
  return foundAtOnce.has(error) || WRONG_USE.some((codes) => codes.test(error.code))
}
