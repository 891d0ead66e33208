import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A hub on loopback for tests, speaking what both hubs speak. It counts, cuts connections and refuses on demand. */
export class MockHub {
  readonly files: Record<string, Buffer>
  /** Other branches: revision → files. */
  readonly branches: Record<string, Record<string, Buffer>> = {}
  readonly requests: { path: string; range?: string; authorization?: string }[] = []
  /** Token that is asked for; undefined: open to all. */
  token?: string
  gated = false
  /** Break the connection of the next answers with a large file after this many bytes, one entry per answer. */
  cuts: number[] = []
  /** Answer the next requests with these. */
  failures: number[] = []
  /** Send something else than was listed. */
  corrupt = false
  readonly #server = createServer((request, response) => this.#answer(request, response))

  constructor(files: Record<string, string | Buffer>) {
    this.files = Object.fromEntries(Object.entries(files).map(([name, body]) => [name, Buffer.from(body)]))
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  downloads(name: string): { range?: string }[] {
    return this.requests.filter(({ path }) => path.includes('/resolve/') && path.endsWith(name))
  }

  #answer(request: IncomingMessage, response: ServerResponse): unknown {
    const url = new URL(request.url ?? '/', 'http://hub')
    const path = decodeURIComponent(url.pathname)
    const { range, authorization } = request.headers
    this.requests.push({ path, range, authorization })
    const failure = this.failures.shift()
    if (failure) return response.writeHead(failure).end()
    if (/^\/api\/(models|datasets)$/.test(path)) return this.#json(response, [{ id: 'org/real-name' }])
    const repo = /\/(?:api\/)?(?:v1\/)?(?:(?:models|datasets)\/)?(org\/\w[\w.-]*)/.exec(path)?.[1]
    if (repo !== 'org/name') {
      return response.writeHead(this.token ? 401 : 404, { 'x-error-code': 'RepoNotFound' }).end()
    }
    if (this.gated) return response.writeHead(403, { 'x-error-code': 'GatedRepo' }).end()
    if (this.token && authorization !== `Bearer ${this.token}`) return response.writeHead(401).end()
    if (path.includes('/repo')) return this.#modelScope(path, url, range, response)
    const revision = /\/revision\/(.+)$/.exec(path)?.[1]
    if (revision) {
      if (!this.#branch(revision)) return response.writeHead(404, { 'x-error-code': 'RevisionNotFound' }).end()
      return this.#json(response, { sha: commitOf(revision) })
    }
    const tree = /\/tree\/(.+)$/.exec(path)?.[1]
    if (tree) {
      const entries = Object.entries(this.#branch(tree) ?? {}).map(([name, body]) => ({
        type: 'file',
        path: name,
        size: body.length,
        oid: sha1(body),
        ...(body.length > 100 ? { lfs: { oid: sha256(body), size: body.length, pointerSize: 130 } } : {}),
      }))
      return this.#json(response, entries)
    }
    const [, commit, name] = /\/resolve\/(\w+)\/(.+)$/.exec(path) ?? []
    const revisions = ['main', ...Object.keys(this.branches)]
    const files = this.#branch(revisions.find((candidate) => commitOf(candidate) === commit) ?? '')
    return this.#file(files?.[name], range, response)
  }

  #modelScope(path: string, url: URL, range: string | undefined, response: ServerResponse): unknown {
    const file = url.searchParams.get('FilePath')
    if (file) return this.#file(this.files[file], range, response)
    const entries = Object.entries(this.files).map(([name, body]) => ({
      Path: name,
      Type: 'blob',
      Size: body.length,
      Sha256: sha256(body),
    }))
    const page = Number(url.searchParams.get('PageNumber') ?? 1)
    const size = Number(url.searchParams.get('PageSize') ?? entries.length)
    const Files = path.endsWith('/tree') ? entries.slice((page - 1) * size, page * size) : entries
    this.#json(response, {
      Code: 200,
      Data: { Files: [{ Path: 'folder', Type: 'tree' }, ...Files].slice(page > 1 ? 1 : 0) },
    })
  }

  #file(body: Buffer | undefined, range: string | undefined, response: ServerResponse): unknown {
    if (!body) return response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end()
    const from = Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0)
    if (from > body.length) return response.writeHead(416).end()
    const part = this.corrupt ? Buffer.alloc(body.length - from, 1) : body.subarray(from)
    response.writeHead(range ? 206 : 200, { 'content-length': part.length })
    const cut = body.length > 100 ? this.cuts.shift() : undefined
    if (cut === undefined) return response.end(part)
    return response.write(part.subarray(0, cut), () => setTimeout(() => response.destroy(), 20))
  }

  #branch(revision: string): Record<string, Buffer> | undefined {
    const at = ['main', ...Object.keys(this.branches)].find((name) => name === revision || commitOf(name) === revision)
    return at === 'main' ? this.files : this.branches[at ?? '']
  }

  #json(response: ServerResponse, body: unknown): unknown {
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}

const sha1 = (body: Buffer) => createHash('sha1').update(body).digest('hex')
const sha256 = (body: Buffer) => createHash('sha256').update(body).digest('hex')
const commitOf = (revision: string) => sha1(Buffer.from(revision))
