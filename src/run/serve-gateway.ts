import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { messageOf, TrinityError } from '../base/error.js'
import { Gateway, type GatewayOptions } from '../gateway/index.js'
import type { Job } from './job.js'

/** The server of mode serve. What is wrong with the keys it follows is told at the key. */
export async function openServeGateway(
  { config, logs }: Job,
  parts: Pick<GatewayOptions, 'visitors' | 'extension'>,
): Promise<Gateway> {
  const { listen_address: host, proxy_port: port, proxy_api_key: apiKey, name } = config.explorer
  const callMs = config.synchronizer.sync_timeout * 1000
  try {
    return await Gateway.open({
      ...{ ...parts, port, tls: await tlsOf(config.explorer), logger: logs.logger(`${name}_gateway`) },
      host: host ?? undefined,
      apiKey: apiKey ?? undefined,
      limits: { callMs, callsPerSession: 1024 },
    })
  } catch (error) {
    if (!(error instanceof TrinityError) || error.code !== 'gateway/listen') throw error
    throw new TrinityError('config/port', error.message, {
      path: 'explorer.proxy_port',
      hint: 'another server may run there: set explorer.proxy_port to a free port, or to 0 for any',
      cause: error,
    })
  }
}

async function tlsOf({ proxy_tls_cert, proxy_tls_key }: Job['config']['explorer']) {
  if (proxy_tls_cert === null || proxy_tls_key === null) return undefined
  const tls = { cert: await pem('proxy_tls_cert', proxy_tls_cert), key: await pem('proxy_tls_key', proxy_tls_key) }
  try {
    createSecureContext(tls)
  } catch (cause) {
    throw new TrinityError('config/serve', `the certificate cannot be used: ${messageOf(cause)}`, {
      path: 'explorer.proxy_tls_cert',
      hint: 'give a certificate and its private key, both in PEM',
      cause,
    })
  }
  return tls
}

async function pem(key: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause) => {
    throw new TrinityError('config/serve', `${path} cannot be read: ${messageOf(cause)}`, {
      path: `explorer.${key}`,
      hint: 'give the path of a file in PEM',
      cause,
    })
  })
}
