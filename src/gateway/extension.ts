import type { IncomingMessage } from 'node:http'
import type { Wire } from '../dialect/dialect.js'
import { checkMediaType, parseBody, readBody } from './body.js'
import type { GatewayLimits } from './limits.js'

/** What a server offers beside models. */
export interface Extension {
  /** By path: answers to POST with JSON. They stay while the server is paused, and need its key where it has one. */
  readonly posts: Readonly<Record<string, (body: Wire) => Promise<Wire>>>
  /** Joins those of the server. JSON is then what a client gets that does not ask for text. */
  readonly metrics: () => Readonly<Record<string, number>>
}

/** The body of a request to an extension; none is an empty one. */
export async function extensionBody(incoming: IncomingMessage, limits: GatewayLimits): Promise<Wire> {
  const body = await readBody(incoming, limits)
  if (body.length === 0) return {}
  checkMediaType(incoming)
  return parseBody(body, limits)
}

/** Whether a request for metrics wants Prometheus' text: scrapers say so, simple clients say nothing. */
export function wantsText({ format, accept = '' }: { format?: string; accept?: string }, isExtended: boolean): boolean {
  if (format !== undefined) return format !== 'json'
  if (isExtended) return /text\/plain|openmetrics/.test(accept)
  return !accept.includes('application/json')
}

/** Numbers by name as gauges in Prometheus' text format. */
export function gaugesText(metrics: Readonly<Record<string, number>>): string {
  return Object.entries(metrics)
    .map(([name, value]) => [`trinity_${name.replace(/\W/g, '_')}`, value] as const)
    .map(([name, value]) => `# TYPE ${name} gauge\n${name} ${value}\n`)
    .join('')
}
