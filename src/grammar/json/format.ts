/** Formats of strings as patterns. */

const DATE =
  '(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))' +
  '|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)'
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)'
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`
const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const HOST = `${LABEL}(?:\\.${LABEL}){0,8}`
const HEX = '[0-9a-fA-F]'
const PATH = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"

/** The eight groups of an address, any run of them left out once. */
function ipv6(): string {
  const group = `${HEX}{1,4}`
  const short = Array.from({ length: 8 }, (_, before) => {
    const after = 7 - before
    const head = before === 0 ? '' : `${group}(?::${group}){${before - 1}}`
    const tail = after === 0 ? '' : `(?:${group}(?::${group}){0,${after - 1}})?`
    return `${head}::${tail}`
  })
  return `(?:${group}(?::${group}){7}|${short.join('|')})`
}

const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  duration:
    'P(?:\\d{1,9}W|(?:\\d{1,9}Y(?:\\d{1,9}M(?:\\d{1,9}D)?)?|\\d{1,9}M(?:\\d{1,9}D)?|\\d{1,9}D)' +
    '(?:T(?:\\d{1,9}H(?:\\d{1,9}M(?:\\d{1,9}S)?)?|\\d{1,9}M(?:\\d{1,9}S)?|\\d{1,9}S))?' +
    '|T(?:\\d{1,9}H(?:\\d{1,9}M(?:\\d{1,9}S)?)?|\\d{1,9}M(?:\\d{1,9}S)?|\\d{1,9}S))',
  uuid: `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`,
  email: `[A-Za-z0-9_%+-]+(?:\\.[A-Za-z0-9_%+-]+){0,8}@${LABEL}(?:\\.${LABEL}){1,8}`,
  hostname: HOST,
  ipv4: IPV4,
  ipv6: ipv6(),
  uri: `[A-Za-z][A-Za-z0-9+-]{1,19}://${HOST}(?::\\d{1,5})?(?:/${PATH}*)?(?:\\?(?:${PATH}|\\?)*)?(?:#(?:${PATH}|\\?)*)?`,
}

export const formatNames = Object.keys(FORMATS)

/** The pattern of a format, for the whole of a string. */
export function formatPattern(name: string): string | undefined {
  return Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined
}
