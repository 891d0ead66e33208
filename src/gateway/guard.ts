import type { IncomingHttpHeaders } from 'node:http'
import { TrinityError } from '../base/error.js'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const EVERYWHERE = new Set(['0.0.0.0', '[::]'])

/** The host as it stands in a URL. */
export function hostInUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase()
}

/** Only programs on this machine reach it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(hostInUrl(host))
}

export function isEverywhere(host: string): boolean {
  return EVERYWHERE.has(hostInUrl(host))
}

/**
 * Refuses what a page in a browser sends: a name that was made to point at this machine (DNS rebinding), and requests
 * from other origins. Programs send neither header.
 */
export function checkSender(headers: IncomingHttpHeaders, bound: string): void {
  checkHost(headers, bound)
  checkOrigin(headers)
}

/** Refuses a name that was made to point at this machine. */
export function checkHost({ host = '' }: IncomingHttpHeaders, bound: string): void {
  const name = hostInUrl(host.replace(/:\d*$/, ''))
  // Bound to every address, the machine may be called anything.
  if (!isEverywhere(bound) && !LOOPBACK.has(name) && name !== hostInUrl(bound)) {
    throw new TrinityError('gateway/host', `this server is not called '${host}'`, {
      hint: `use its address, ${hostInUrl(bound)}`,
    })
  }
}

/** Refuses what pages of other servers send. */
export function checkOrigin(headers: IncomingHttpHeaders): void {
  const { host = '', origin } = headers
  const site = headers['sec-fetch-site']
  const foreign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
  if (foreign || site === 'cross-site' || site === 'same-site') {
    throw new TrinityError('gateway/origin', 'requests of pages from elsewhere are refused', {
      hint: 'call from a program, not from a browser',
    })
  }
}
