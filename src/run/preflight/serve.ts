import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'
import { isLoopback } from '../../gateway/guard.js'
import type { Refusal } from './refusal.js'

/** What mode serve cannot listen with. */
export function unservable({ mode, explorer }: Config): Refusal[] {
  if (mode !== 'serve') return []
  const { listen_address: address, proxy_api_key: key, proxy_tls_cert, proxy_tls_key } = explorer
  const refusals: Refusal[] = []
  const refuse = (name: string, message: string, hint: string) => {
    const path = `explorer.${name}`
    refusals.push({ keys: [path], error: new TrinityError('config/serve', message, { path, hint }) })
  }
  if (address !== null && !isLoopback(address) && !key) {
    const hint = 'set explorer.proxy_api_key, or leave explorer.listen_address out to serve this machine alone'
    refuse('listen_address', `others reach a server at ${address}, and it has no key`, hint)
  }
  if ((proxy_tls_cert === null) !== (proxy_tls_key === null)) {
    const missing = proxy_tls_cert === null ? 'proxy_tls_cert' : 'proxy_tls_key'
    refuse(missing, `HTTPS needs a certificate and its key: explorer.${missing} is missing`, `set explorer.${missing}`)
  }
  return refusals
}
