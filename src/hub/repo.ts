import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'
import { download } from './download.js'
import { isNetworkError, offline, refused } from './error.js'
import type { Hub, HubFile, Listing, RepoKind } from './hub.js'
import { HuggingFace } from './huggingface.js'
import { ModelScope } from './modelscope.js'

/** What a repository is looked up and downloaded with. */
export interface RepoOptions {
  revision?: string
  /** Default: this process's environment. */
  env?: NodeJS.ProcessEnv
  signal?: AbortSignal
  /** Called as bytes arrive: of the file now, of all files, and what they come to. */
  onProgress?: (progress: { file: string; done: number; total: number }) => void
  /** First wait between two attempts. */
  waitMs?: number
}

const SCHEME = /^(hf|huggingface|modelscope|ms):\/\//
const ID = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/

/**
 * True for `org/name`, `name`, and either with `hf://` or `modelscope://` before it. Whoever writes `models/mine` beside a
 * folder `models` means a folder in it, even one that is missing.
 */
export function looksLikeRepoId(text: string): boolean {
  return SCHEME.test(text) || (ID.test(text) && !isBesideFolder(text))
}

function isBesideFolder(text: string): boolean {
  const [first, ...below] = text.split('/')
  return below.length > 0 && existsSync(first)
}

/** How to ask for a repository whose id is taken for a path here; empty for what cannot be an id. */
export function asRepoHint(text: string): string {
  return ID.test(text) && isBesideFolder(text) ? `; to mean a repository, write hf://${text}` : ''
}

/** Which hub, and the id on it: by the scheme, else by TRINITY_HUB, else Hugging Face. */
function locate(text: string, env: NodeJS.ProcessEnv): { hub: Hub; id: string } {
  const scheme = SCHEME.exec(text)
  const id = text.slice(scheme?.[0].length ?? 0).replace(/^(datasets|models)\//, '')
  const name = scheme ? scheme[1] : (env.TRINITY_HUB ?? 'huggingface').toLowerCase()
  if (!ID.test(id)) {
    throw new TrinityError('hub/id', `'${text}' is not the id of a repository`, { hint: 'write owner/name' })
  }
  if (name === 'modelscope' || name === 'ms') return { hub: new ModelScope(env), id }
  if (name === 'huggingface' || name === 'hf') return { hub: new HuggingFace(env), id }
  throw new TrinityError('hub/unknown', `unknown hub '${name}'`, {
    path: 'TRINITY_HUB',
    hint: 'one of huggingface, modelscope',
  })
}

/** A repository at one revision: what it holds, and a way to get it. */
export class Repo {
  readonly name: string
  readonly #kind: RepoKind
  readonly #id: string
  readonly #hub: Hub
  readonly #listing: Listing
  readonly #options: RepoOptions
  /** Why the hub was not asked; undefined when it was. */
  readonly #unreachable?: { cause?: unknown }

  constructor(
    hub: Hub,
    kind: RepoKind,
    id: string,
    listing: Listing,
    options: RepoOptions,
    unreachable?: { cause?: unknown },
  ) {
    this.name = `'${id}'`
    this.#hub = hub
    this.#kind = kind
    this.#id = id
    this.#listing = listing
    this.#options = options
    this.#unreachable = unreachable
  }

  get files(): string[] {
    return this.#listing.files.map(({ path }) => path)
  }

  async text(path: string): Promise<string> {
    return readFile(join(await this.download([path]), path), 'utf8')
  }

  /** The same repository at another revision; undefined when there is none. */
  async atRevision(revision: string): Promise<Repo | undefined> {
    try {
      return await open(this.#hub, this.#kind, this.#id, { ...this.#options, revision })
    } catch (error) {
      if (error instanceof TrinityError && error.code === 'hub/not-found') return undefined
      throw error
    }
  }

  /** Makes sure that these files (default: all) are in the cache. Returns the directory that holds them. */
  async download(paths: readonly string[] = this.files): Promise<string> {
    const cache = this.#hub.cache(this.#kind, this.#id)
    const { commit } = this.#listing
    const known = new Map(this.#listing.files.map((file) => [file.path, file]))
    const missing: HubFile[] = []
    for (const path of new Set(paths)) {
      const file = known.get(path) ?? { path }
      if (!(await cache.find(commit, file))) missing.push(file)
    }
    if (missing.length > 0 && this.#unreachable) {
      const names = missing.map(({ path }) => path)
      throw offline(this.#hub, this.#kind, this.#id, names, this.#unreachable.cause)
    }
    const total = missing.reduce((sum, { size }) => sum + (size ?? 0), 0)
    let done = 0
    const queue = [...missing]
    const worker = async () => {
      for (let file = queue.shift(); file; file = queue.shift()) {
        const { path } = file
        const onBytes = (bytes: number) => {
          done += bytes
          this.#options.onProgress?.({ file: path, done, total })
        }
        await this.#fetch(commit, file, onBytes).catch((error) => {
          queue.length = 0
          throw error
        })
      }
    }
    await Promise.all(Array.from({ length: Math.min(4, missing.length) }, worker))
    return cache.snapshot(commit)
  }

  async #fetch(commit: string, file: HubFile, onBytes: (bytes: number) => void): Promise<void> {
    const target = this.#hub.cache(this.#kind, this.#id).target(commit, file)
    // A file of a plain cache whose content is out of date stands in the way.
    if (!file.blob) await rm(target.path, { force: true })
    const { signal, waitMs } = this.#options
    try {
      await download({
        ...this.#hub.request(this.#kind, this.#id, commit, file.path),
        target: target.path,
        size: file.size,
        sha256: file.sha256,
        refused: (response) => refused(response, this.#hub, this.#kind, this.#id),
        onBytes,
        signal,
        waitMs,
      })
    } catch (error) {
      if (!isNetworkError(error) || signal?.aborted) throw error
      throw offline(this.#hub, this.#kind, this.#id, [file.path], error)
    }
    await target.publish()
  }
}

/** Looks up a repository. Without network access, what the cache holds of it is all there is. */
export async function openRepo(kind: RepoKind, text: string, options: RepoOptions = {}): Promise<Repo> {
  const { hub, id } = locate(text, options.env ?? process.env)
  return open(hub, kind, id, options)
}

async function open(hub: Hub, kind: RepoKind, id: string, options: RepoOptions): Promise<Repo> {
  const cache = hub.cache(kind, id)
  const revision = options.revision ?? hub.defaultRevision
  let cause: unknown
  if (!hub.offline) {
    try {
      const listing = await hub.list(kind, id, revision, options.signal)
      await cache.remember(revision, listing.commit)
      return new Repo(hub, kind, id, listing, options)
    } catch (error) {
      if (!isNetworkError(error) || options.signal?.aborted) throw error
      cause = error
    }
  }
  const commit = await cache.commitOf(revision)
  const files = commit === undefined ? [] : await cachedFiles(cache.snapshot(commit))
  if (commit === undefined || files.length === 0) throw offline(hub, kind, id, [], cause)
  return new Repo(hub, kind, id, { commit, files }, options, { cause })
}

async function cachedFiles(dir: string): Promise<HubFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath ?? entry.path, entry.name)
        .slice(dir.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((path) => !path.startsWith('.trinity/') && !/\.(incomplete|lock)$/.test(path))
    .map((path) => ({ path }))
}

/**
 * A local directory for a path or an id: the path itself when it exists, else a download into the cache. Of a model
 * only what is needed to load it is taken.
 */
export async function resolveRepo(kind: RepoKind, idOrPath: string, options: RepoOptions = {}): Promise<string> {
  if (await stat(idOrPath).catch(() => undefined)) return resolve(idOrPath)
  if (!looksLikeRepoId(idOrPath)) {
    throw new TrinityError('hub/not-found', `there is no ${kind} at '${idOrPath}'`, {
      path: resolve(idOrPath),
      hint: `give a directory that is there, or the id of a repository: owner/name${asRepoHint(idOrPath)}`,
    })
  }
  const repo = await openRepo(kind, idOrPath, options)
  return repo.download(kind === 'model' ? modelFiles(repo.files) : repo.files)
}

/** Weights in one format, configuration, tokenizer and templates; no other frameworks' copies. */
export function modelFiles(files: readonly string[]): string[] {
  const top = files.filter((file) => !file.includes('/') || /^\d+_\w+\//.test(file))
  const safe = top.some((file) => file.endsWith('.safetensors'))
  const weights = safe ? /\.safetensors$/ : /^pytorch_model.*\.bin$/
  return top.filter((file) => weights.test(file) || /\.(json|jinja|txt|model|tiktoken|py)$/.test(file))
}
