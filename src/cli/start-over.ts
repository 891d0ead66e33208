import pc from 'picocolors'
import { bytes } from '../base/bytes.js'
import { TrinityError } from '../base/error.js'
import type { Resolved } from '../config/index.js'
import { type Leftovers, leftovers, startOver } from '../run/index.js'
import { asking } from './asking.js'

const MOST = 20
const NOTHING = 'nothing was deleted, nothing was run'

/** Deletes what earlier runs have left. False: there was something to delete, and the person said no. */
export async function deleteEarlier(resolved: Resolved, sure: boolean): Promise<boolean> {
  const found = await leftovers(resolved)
  if (found.places.length === 0) return true
  if (!sure) {
    if (!process.stdin.isTTY || !process.stdout.isTTY) {
      throw new TrinityError('cli/fresh', `--fresh would delete\n${describe(found)}`, {
        hint: 'add --yes to delete it',
      })
    }
    const text = `${pc.bold('This deletes')}\n${describe(found)}\nStart over? [y/N] `
    const answer = await asking(NOTHING, (ask) => ask(text))
    if (!/^y(es)?$/i.test(answer.trim())) {
      process.stdout.write(`${NOTHING}\n`)
      return false
    }
  }
  process.stdout.write(`deleted\n${describe(await startOver(resolved))}\n`)
  return true
}

/** What goes, how much it is, and what stays because it is not the job's. */
function describe({ places, kept }: Leftovers): string {
  const lines = places.map(({ path, files, bytes: size }) => `  ${path}: ${amount(files, size)}`)
  if (places.length > 1) {
    const sum = (of: (place: Leftovers['places'][number]) => number) => places.reduce((all, one) => all + of(one), 0)
    lines.push(
      `  in all ${amount(
        sum((one) => one.files),
        sum((one) => one.bytes),
      )}`,
    )
  }
  if (kept.length > 0)
    lines.push('kept, because it is not from this job:', ...kept.slice(0, MOST).map((path) => `  ${path}`))
  if (kept.length > MOST) lines.push(`  and ${kept.length - MOST} more`)
  return lines.join('\n')
}

function amount(files: number, size: number): string {
  return `${files} ${files === 1 ? 'file' : 'files'}, ${bytes(size)}`
}
