import { TrinityError } from '../base/error.js'

/** What a repository holds. */
export type RepoKind = 'model' | 'dataset'

export interface HubFile {
  /** Relative, with `/`. */
  path: string
  size?: number
  /** Of the content, where the hub knows it (large files). */
  sha256?: string
  /** Names the content: equal ids, equal bytes. */
  blob?: string
}

/** The content of a repository at one revision. */
export interface Listing {
  /** The commit the revision stands for; a hub without commits gives the revision itself. */
  commit: string
  files: HubFile[]
}

/** One place to download from. */
export interface Hub {
  readonly name: string
  readonly defaultRevision: string
  /** Page of a repository, for messages. */
  page(kind: RepoKind, id: string): string
  /** How a user gives a token, as an instruction. */
  readonly tokenHint: string
  readonly hasToken: boolean
  /** True when the user forbade network access. */
  readonly offline: boolean
  list(kind: RepoKind, id: string, revision: string, signal?: AbortSignal): Promise<Listing>
  request(kind: RepoKind, id: string, commit: string, path: string): { url: string; headers: Record<string, string> }
  /** Ids that look like the one that was not found; best effort. */
  similar(kind: RepoKind, id: string): Promise<string[]>
  cache(kind: RepoKind, id: string): RepoCache
}

/** Where a repository lies on disk. */
export interface RepoCache {
  readonly dir: string
  /** Commit that `revision` stood for when it was last seen, if anything of it is here. */
  commitOf(revision: string): Promise<string | undefined>
  remember(revision: string, commit: string): Promise<void>
  /** Directory that holds the files of a commit under their own names. */
  snapshot(commit: string): string
  /** The file of the snapshot if it is complete. */
  find(commit: string, file: HubFile): Promise<string | undefined>
  /** Where to download to, and how to make it part of the snapshot afterward. */
  target(commit: string, file: HubFile): { path: string; publish: () => Promise<void> }
}

/** Paths are joined to the cache directory: none may climb out of it. */
export function insidePath(path: string): string {
  if (!path.startsWith('/') && !path.split(/[\\/]/).includes('..')) return path
  throw new TrinityError('hub/failed', `the repository names a file outside itself: '${path}'`, { path })
}

/** HF_HUB_OFFLINE stands for every hub. */
export function isOffline(env: NodeJS.ProcessEnv): boolean {
  return /^(1|true|yes|on)$/i.test(env.HF_HUB_OFFLINE ?? '')
}
