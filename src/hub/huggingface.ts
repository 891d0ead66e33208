import { readFileSync } from 'node:fs'
import { readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { ListFileEntry } from '@huggingface/hub'
import { makeFolder } from '../base/file/make-folder.js'
import { refused } from './error.js'
import { type Hub, type HubFile, insidePath, isOffline, type Listing, type RepoCache, type RepoKind } from './hub.js'

/** Hugging Face, or a mirror named by HF_ENDPOINT. The cache is the one Python's `huggingface_hub` uses. */
export class HuggingFace implements Hub {
  readonly name = 'Hugging Face'
  readonly defaultRevision = 'main'
  readonly tokenHint = 'set HF_TOKEN to a token that may read it'
  readonly #env: NodeJS.ProcessEnv
  readonly #token?: string

  constructor(env: NodeJS.ProcessEnv = process.env) {
    this.#env = env
    this.#token = env.HF_TOKEN || env.HUGGING_FACE_HUB_TOKEN || this.#savedToken()
  }

  get #endpoint(): string {
    return (this.#env.HF_ENDPOINT || 'https://huggingface.co').replace(/\/$/, '')
  }

  get #home(): string {
    return this.#env.HF_HOME || join(this.#env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface')
  }

  get #headers(): Record<string, string> {
    return this.#token ? { authorization: `Bearer ${this.#token}` } : {}
  }

  get hasToken(): boolean {
    return this.#token !== undefined
  }

  get offline(): boolean {
    return isOffline(this.#env)
  }

  page(kind: RepoKind, id: string): string {
    return `${this.#endpoint}/${kind === 'dataset' ? 'datasets/' : ''}${id}`
  }

  async list(kind: RepoKind, id: string, revision: string, signal?: AbortSignal): Promise<Listing> {
    const at = encodeURIComponent(revision)
    const head = await fetch(`${this.#endpoint}/api/${kind}s/${id}/revision/${at}`, { headers: this.#headers, signal })
    if (!head.ok) throw await refused(head, this, kind, id)
    const { sha } = (await head.json()) as { sha?: string }
    const { listFiles } = await import('@huggingface/hub')
    const files: HubFile[] = []
    const entries = listFiles({
      repo: { type: kind, name: id },
      revision: at,
      recursive: true,
      hubUrl: this.#endpoint,
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...(init?.headers as object), ...this.#headers }, signal }),
    })
    for await (const entry of entries) if (entry.type === 'file') files.push(fileOf(entry))
    return { commit: sha ?? revision, files }
  }

  request(kind: RepoKind, id: string, commit: string, path: string) {
    const file = path.split('/').map(encodeURIComponent).join('/')
    return { url: `${this.page(kind, id)}/resolve/${encodeURIComponent(commit)}/${file}`, headers: this.#headers }
  }

  async similar(kind: RepoKind, id: string): Promise<string[]> {
    const search = encodeURIComponent(id.split('/').at(-1) as string)
    const response = await fetch(`${this.#endpoint}/api/${kind}s?search=${search}&limit=3`, { headers: this.#headers })
    if (!response.ok) return []
    return ((await response.json()) as { id: string }[]).map((entry) => entry.id)
  }

  cache(kind: RepoKind, id: string): RepoCache {
    const root = this.#env.HF_HUB_CACHE || this.#env.HUGGINGFACE_HUB_CACHE || join(this.#home, 'hub')
    return new BlobCache(join(root, [`${kind}s`, ...id.split('/')].join('--')))
  }

  #savedToken(): string | undefined {
    try {
      return readFileSync(this.#env.HF_TOKEN_PATH || join(this.#home, 'token'), 'utf8').trim() || undefined
    } catch {
      return undefined
    }
  }
}

function fileOf(entry: ListFileEntry): HubFile {
  const { path, size, lfs, oid } = entry
  return { path: insidePath(path), size: lfs?.size ?? size, sha256: lfs?.oid, blob: lfs?.oid ?? oid }
}

/** `blobs/<content id>`, `snapshots/<commit>/<path>` linked to them, `refs/<revision>` holding the commit. */
class BlobCache implements RepoCache {
  readonly dir: string

  constructor(dir: string) {
    this.dir = dir
  }

  async commitOf(revision: string): Promise<string | undefined> {
    const saved = await readFile(join(this.dir, 'refs', revision), 'utf8').catch(() => undefined)
    if (saved) return saved.trim()
    return (await stat(this.snapshot(revision)).catch(() => undefined)) ? revision : undefined
  }

  async remember(revision: string, commit: string): Promise<void> {
    if (revision === commit) return
    const file = join(this.dir, 'refs', revision)
    await makeFolder(dirname(file))
    await writeFile(file, commit)
  }

  snapshot(commit: string): string {
    return join(this.dir, 'snapshots', commit)
  }

  async find(commit: string, { path }: HubFile): Promise<string | undefined> {
    const file = join(this.snapshot(commit), path)
    return (await stat(file).catch(() => undefined)) ? file : undefined
  }

  target(commit: string, file: HubFile) {
    const link = join(this.snapshot(commit), file.path)
    if (!file.blob) return { path: link, publish: async () => {} }
    const blob = join(this.dir, 'blobs', file.blob)
    return { path: blob, publish: () => publish(blob, link) }
  }
}

/** A link where the system allows it; otherwise (Windows without the right) the file itself. */
async function publish(blob: string, link: string): Promise<void> {
  await makeFolder(dirname(link))
  await rm(link, { force: true })
  try {
    await symlink(relative(dirname(link), blob), link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    await rename(blob, link)
  }
}
