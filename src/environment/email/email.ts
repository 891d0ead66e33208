import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { DataRow } from '../../task/index.js'

/** A mail, with the names that the original's tools give. */
export interface Email {
  readonly message_id: string
  /** `YYYY-MM-DD HH:MM:SS` */
  readonly date: string
  readonly subject: string | null
  readonly from_address: string | null
  readonly to_addresses: readonly string[]
  readonly cc_addresses: readonly string[]
  readonly bcc_addresses: readonly string[]
  readonly body: string | null
  readonly file_name: string | null
}

const text = z.string().nullish()
const addresses = z.union([z.array(z.string().nullable()), z.string()]).nullish()
const columns = z.object({
  message_id: z.union([z.string().min(1), z.number()]),
  date: z.union([z.string(), z.number(), z.bigint(), z.date()]),
  ...{ subject: text, body: text, file_name: text, from: text, from_address: text },
  ...{
    to: addresses,
    to_addresses: addresses,
    cc: addresses,
    cc_addresses: addresses,
    bcc: addresses,
    bcc_addresses: addresses,
  },
})

/** A mail of a row: with the names of the tools, or with those of the Enron mails (`from`, `to`, …). */
export function emailOf(row: DataRow, where: string): Email {
  const { data, error } = columns.safeParse(row)
  const date = data && dateText(data.date)
  if (!data || date === undefined) {
    const column = String(error?.issues[0].path[0] ?? 'date')
    throw new TrinityError('environment/data', `${where}: column '${column}' of a mail cannot be used`, {
      path: where,
      hint: 'a mail is {"message_id": …, "date": "2001-05-14 09:30:00", "subject": …, "from": …, "to": […], "cc": […], "bcc": […], "body": …}',
      cause: error,
    })
  }
  return {
    message_id: String(data.message_id),
    date,
    subject: data.subject ?? null,
    from_address: data.from_address ?? data.from ?? null,
    to_addresses: listOf(data.to_addresses ?? data.to),
    cc_addresses: listOf(data.cc_addresses ?? data.cc),
    bcc_addresses: listOf(data.bcc_addresses ?? data.bcc),
    body: data.body ?? null,
    file_name: data.file_name ?? null,
  }
}

function listOf(given: z.output<typeof addresses>): string[] {
  const list = typeof given === 'string' ? given.split(/[,;]/) : (given ?? [])
  return list.flatMap((address) => (address?.trim() ? [address.trim()] : []))
}

/** Numbers count from 1970: microseconds in the Enron mails, milliseconds elsewhere. */
function dateText(given: string | number | bigint | Date): string | undefined {
  if (typeof given === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?/.test(given)) {
    const [day, time] = [given.slice(0, 10), given.slice(11, 19)]
    return `${day} ${/^\d\d:\d\d:\d\d$/.test(time) ? time : `${given.slice(11, 16)}:00`}`
  }
  const number = typeof given === 'bigint' ? Number(given) : given
  const date = new Date(typeof number === 'number' && Math.abs(number) > 1e14 ? number / 1000 : number)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 19).replace('T', ' ')
}
