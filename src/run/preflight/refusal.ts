import { TrinityError } from '../../base/error.js'
import { systemError } from '../../base/file/system-error.js'

/** Something that a run would stop at. */
export interface Refusal {
  /** Where it may stand in a file; the first of them that does is meant. */
  readonly keys: readonly string[]
  readonly error: TrinityError
  /** A run stops only where it is needed, if at all. */
  readonly isDoubtful?: boolean
}

/** What `look` throws; an error that is not one of ours is not caught. */
export function refusalOf(keys: readonly string[], look: () => unknown): Refusal[] {
  try {
    look()
    return []
  } catch (error) {
    return [asRefusal(keys, error)]
  }
}

/** The error's own key comes first, where it has one. */
export function asRefusal(keys: readonly string[], cause: unknown): Refusal {
  const error = systemError(cause)
  if (!(error instanceof TrinityError)) throw cause
  const own = [error.key, error.path].filter((key) => key !== undefined && /^[a-z_]+(\.[\w[\]]+)+$/.test(key))
  return { keys: [...(own as string[]), ...keys], error }
}
