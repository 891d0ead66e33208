import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** What shows others that they speak with this process. */
export interface Identity {
  /** PEM. */
  readonly key: string
  readonly certificate: string
}

const YEAR_MS = 365 * 24 * 3600 * 1000

/**
 * A key and a certificate for it that it signs itself, for peers that are told this very certificate by another way. The
 * key never leaves this process. Node signs, but makes no certificates: the few fields of one are written here (RFC 5280).
 */
export function newIdentity(now = new Date()): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const certificate = certificateOf(privateKey, publicKey, now)
  const text = certificate.toString('base64').replace(/.{1,64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${text}-----END CERTIFICATE-----\n`,
  }
}

function certificateOf(key: KeyObject, publicKey: KeyObject, now: Date): Buffer {
  const algorithm = sequence(oid(ECDSA_SHA256))
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from('trinity')))))
  const serial = randomBytes(16)
  serial[0] = (serial[0] & 0x7f) | 0x40 // positive, and of this length
  const version = der(0xa0, der(0x02, Buffer.from([2])))
  // clocks of machines differ
  const validity = sequence(time(new Date(now.getTime() - YEAR_MS)), time(new Date(now.getTime() + YEAR_MS)))
  const isAuthority = sequence(
    oid(BASIC_CONSTRAINTS),
    der(0x01, Buffer.from([0xff])),
    der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
  )
  const extensions = der(0xa3, sequence(isAuthority))
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' })
  const said = sequence(version, der(0x02, serial), algorithm, name, validity, name, subjectKey, extensions)
  const signature = sign('sha256', said, key)
  return sequence(said, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
}

/** 1.2.840.10045.4.3.2, 2.5.4.3, 2.5.29.19, as they are encoded. */
const ECDSA_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const BASIC_CONSTRAINTS = '551d13'

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

/** UTCTime: `YYMMDDhhmmssZ`. */
function time(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
}
