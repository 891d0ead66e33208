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

/** Whether a person has to change something, as opposed to a run that went wrong. */
export function isWrongUse(error: unknown): boolean {
  return error instanceof TrinityError && WRONG_USE.some((codes) => codes.test(error.code))
}
