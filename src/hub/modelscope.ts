import { readFile, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/file/make-folder.js'
import { refused } from './error.js'
import { type Hub, type HubFile, insidePath, isOffline, type Listing, type RepoCache, type RepoKind } from './hub.js'

const PAGE = 200

interface Entry {
  Path: string
  Type?: string
  Size?: number
  Sha256?: string
}

/** ModelScope, through its plain REST interface. */
export class ModelScope implements Hub {
  readonly name = 'ModelScope'
  readonly defaultRevision = 'master'
  readonly tokenHint = 'set MODELSCOPE_API_TOKEN to a token that may read it'
  readonly #env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv = process.env) {
    this.#env = env
  }

  get #endpoint(): string {
    const given = this.#env.MODELSCOPE_ENDPOINT || this.#env.MODELSCOPE_DOMAIN || 'www.modelscope.cn'
    return (/^https?:/.test(given) ? given : `https://${given}`).replace(/\/$/, '')
  }

  get #headers(): Record<string, string> {
    const token = this.#env.MODELSCOPE_API_TOKEN
    return token ? { authorization: `Bearer ${token}`, cookie: `m_session_id=${token}` } : {}
  }

  get hasToken(): boolean {
    return Boolean(this.#env.MODELSCOPE_API_TOKEN)
  }

  get offline(): boolean {
    return isOffline(this.#env)
  }

  page(kind: RepoKind, id: string): string {
    return `${this.#endpoint}/${kind}s/${id}`
  }

  async list(kind: RepoKind, id: string, revision: string, signal?: AbortSignal): Promise<Listing> {
    const files: HubFile[] = []
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({ Revision: revision, Recursive: 'True' })
      if (kind === 'dataset') {
        query.set('PageNumber', String(page))
        query.set('PageSize', String(PAGE))
      }
      const url = `${this.#endpoint}/api/v1/${kind}s/${id}/repo/${kind === 'dataset' ? 'tree' : 'files'}?${query}`
      const response = await fetch(url, { headers: this.#headers, signal })
      if (!response.ok) throw await refused(response, this, kind, id)
      const { Data: data } = (await response.json()) as { Data?: Entry[] | { Files?: Entry[] } }
      const entries = Array.isArray(data) ? data : (data?.Files ?? [])
      files.push(...entries.filter(({ Type }) => Type !== 'tree').map(fileOf))
      if (kind === 'model' || entries.length < PAGE) return { commit: revision, files }
    }
  }

  request(kind: RepoKind, id: string, commit: string, path: string) {
    const query = new URLSearchParams({ Revision: commit, FilePath: path })
    return { url: `${this.#endpoint}/api/v1/${kind}s/${id}/repo?${query}`, headers: this.#headers }
  }

  async similar(): Promise<string[]> {
    return []
  }

  cache(kind: RepoKind, id: string): RepoCache {
    const root = this.#env.MODELSCOPE_CACHE || join(homedir(), '.cache', 'modelscope', 'hub')
    return new PlainCache(join(root, `${kind}s`, ...id.split('/')), this.defaultRevision)
  }
}

function fileOf({ Path, Size, Sha256 }: Entry): HubFile {
  return { path: insidePath(Path), size: Size, sha256: Sha256 || undefined }
}

/** Files under their own names; another revision than the default lies beside it. */
class PlainCache implements RepoCache {
  readonly dir: string
  readonly #defaultRevision: string

  constructor(dir: string, defaultRevision: string) {
    this.dir = dir
    this.#defaultRevision = defaultRevision
  }

  async commitOf(revision: string): Promise<string | undefined> {
    return (await stat(this.snapshot(revision)).catch(() => undefined)) ? revision : undefined
  }

  async remember(): Promise<void> {}

  snapshot(commit: string): string {
    return commit === this.#defaultRevision ? this.dir : `${this.dir}@${commit}`
  }

  /** A branch may move: the file counts only if it still has the content that was downloaded for this listing. */
  async find(commit: string, file: HubFile): Promise<string | undefined> {
    const path = join(this.snapshot(commit), file.path)
    const found = await stat(path).catch(() => undefined)
    if (!found || (file.size !== undefined && found.size !== file.size)) return undefined
    const content = await readFile(this.#contentFile(commit, file), 'utf8').catch(() => undefined)
    return content === undefined || file.sha256 === undefined || content === file.sha256 ? path : undefined
  }

  target(commit: string, file: HubFile) {
    const path = join(this.snapshot(commit), file.path)
    const publish = async () => {
      if (file.sha256 === undefined) return
      const content = this.#contentFile(commit, file)
      await makeFolder(dirname(content))
      await writeFile(content, file.sha256)
    }
    return { path, publish }
  }

  #contentFile(commit: string, file: HubFile): string {
    return join(this.snapshot(commit), '.trinity', `${file.path}.sha256`)
  }
}
