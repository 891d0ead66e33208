import { TrinityError } from '../base/error.js'
import type { Hub, RepoKind } from './hub.js'

/** The error for a refused request. */
export async function refused(response: Response, hub: Hub, kind: RepoKind, id: string): Promise<TrinityError> {
  const path = hub.page(kind, id)
  const code = response.headers.get('x-error-code')
  const { status } = response
  // Hugging Face answers 401 for what does not exist, so as not to tell private names.
  if (status === 404 || code === 'RepoNotFound' || (status === 401 && code === null && !hub.hasToken)) {
    if (code === 'RevisionNotFound' || code === 'EntryNotFound') {
      return new TrinityError('hub/not-found', `${hub.name}: '${id}' has no such revision or file`, { path })
    }
    const similar = await hub.similar(kind, id).catch(() => [])
    const meant = similar.length > 0 ? `did you mean ${similar.map((name) => `'${name}'`).join(' or ')}? ` : ''
    const token = status === 401 ? `or, if it is private, ${hub.tokenHint}; ` : ''
    return new TrinityError(
      status === 404 || code === 'RepoNotFound' ? 'hub/not-found' : 'hub/unauthorized',
      `${hub.name} has no ${kind} '${id}'${status === 401 ? ' that this user may see' : ''}`,
      { path, hint: `${meant}check the name, ${token}or give the path of a local directory` },
    )
  }
  if (status === 401 || status === 403) {
    return new TrinityError('hub/unauthorized', `${hub.name} refuses access to the ${kind} '${id}' (HTTP ${status})`, {
      path,
      hint: hub.hasToken
        ? `accept its terms at ${path} with the account the token belongs to, and check that the token may read it`
        : `accept its terms at ${path}, then ${hub.tokenHint}`,
    })
  }
  return new TrinityError('hub/failed', `${hub.name} answered HTTP ${status} for the ${kind} '${id}'`, {
    path: response.url || path,
    hint: status === 429 ? `too many requests: wait a minute, or ${hub.tokenHint}` : 'try again later',
  })
}

/** The error for a hub that cannot or must not be reached, when the cache does not hold what is needed. */
export function offline(
  hub: Hub,
  kind: RepoKind,
  id: string,
  missing: readonly string[],
  cause?: unknown,
): TrinityError {
  const files = `${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}`
  const what =
    missing.length > 0
      ? `${files} of the ${kind} '${id}' is not in the cache`
      : `'${id}' is neither a local path nor a ${kind} in the cache`
  const why = hub.offline ? 'network access is switched off (HF_HUB_OFFLINE)' : `${hub.name} cannot be reached`
  return new TrinityError('hub/offline', `${what}, and ${why}`, {
    path: hub.cache(kind, id).dir,
    hint: `download it on a machine with access and give its directory as the path, or copy that machine's cache to ${hub.cache(kind, id).dir}`,
    cause,
  })
}

/** True for a request that never got an answer. */
export function isNetworkError(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof Error && /terminated|ECONN|ENOTFOUND|EAI_AGAIN|socket|timed? ?out/i.test(error.message))
  )
}
