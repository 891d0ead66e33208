import { request } from 'node:http'
import { Studio, type StudioOptions } from './studio.js'

export interface Answer<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

/** A browser that has opened the printed address of a Studio. */
export class Visitor {
  readonly studio: Studio
  readonly origin: string
  readonly cookie: string

  private constructor(studio: Studio, cookie: string) {
    this.studio = studio
    this.origin = new URL(studio.url).origin
    this.cookie = cookie
  }

  static async open(options: Omit<StudioOptions, 'version'>): Promise<Visitor> {
    const studio = await Studio.open({ version: '0.0.0', ...options })
    const { headers } = await fetch(studio.url, { redirect: 'manual' })
    return new Visitor(studio, headers.get('set-cookie')?.split(';')[0] ?? '')
  }

  async ask<T = unknown>(path: string, query: Record<string, unknown> = {}): Promise<Answer<T>> {
    const response = await this.raw(path, query)
    return { status: response.status, headers: response.headers, body: (await response.json()) as T }
  }

  /** A POST, as the page sends it. */
  async act<T = unknown>(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer<T>> {
    const response = await fetch(`${this.origin}/api${path}`, {
      method: 'POST',
      headers: { cookie: this.cookie, origin: this.origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as T }
  }

  /** The body of an answer that must be a success. */
  async get<T>(path: string, query: Record<string, unknown> = {}): Promise<T> {
    const { status, body } = await this.ask<T>(path, query)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  raw(path: string, query: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Response> {
    const url = new URL(`/api${path}`, this.origin)
    for (const [key, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(key, String(one))
    }
    return fetch(url, { headers: { cookie: this.cookie }, signal })
  }

  /** Server-sent events until the signal, which the taker may give. */
  async events(path: string, take: (name: string, data: never) => boolean): Promise<void> {
    const end = new AbortController()
    const response = await this.raw(path, {}, end.signal)
    let text = ''
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true })
        for (let cut = text.indexOf('\n\n'); cut >= 0; cut = text.indexOf('\n\n')) {
          const event = /^event: (.*)$/m.exec(text.slice(0, cut))?.[1]
          const data = /^data: (.*)$/m.exec(text.slice(0, cut))?.[1]
          text = text.slice(cut + 2)
          if (event && data && take(event, JSON.parse(data) as never)) return
        }
      }
    } finally {
      end.abort()
    }
  }

  /** With headers that fetch does not let anybody set. */
  status(path: string, headers: Record<string, string>): Promise<number> {
    return new Promise((resolve, reject) => {
      const asked = request(`${this.origin}${path}`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      asked.on('error', reject).end()
    })
  }

  close(): Promise<void> {
    return this.studio.close()
  }
}
