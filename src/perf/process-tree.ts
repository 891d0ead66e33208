import { readdir, readFile } from 'node:fs/promises'

/** Seconds of computing so far, and bytes held now. */
export interface Usage {
  readonly cpuSeconds: number
  readonly rssBytes: number
}

/** Linux counts in these everywhere that we run. */
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

interface ProcessStat {
  readonly pid: number
  readonly parent: number
  readonly ticks: number
  readonly pages: number
}

/** `pid (name) state ppid … utime stime … rss`: the name may hold anything, so fields count from its last parenthesis. */
export function parseStat(text: string): ProcessStat | undefined {
  const end = text.lastIndexOf(')')
  const fields = text.slice(end + 2).split(' ')
  const [parent, user, system, pages] = [fields[1], fields[11], fields[12], fields[21]].map(Number)
  const pid = Number.parseInt(text, 10)
  if (end < 0 || ![pid, parent, user, system, pages].every(Number.isFinite)) return undefined
  return { pid, parent, ticks: user + system, pages }
}

/** What a process and all that it has started use; where the system does not say, what this process knows of itself. */
export async function treeUsage(root = process.pid): Promise<Usage> {
  const all = (await stats()).filter((one) => one !== undefined)
  const inside = new Set([root])
  // children have larger ids than their parents nearly always, and in the next look the rest is found
  for (let before = 0; before !== inside.size; ) {
    before = inside.size
    for (const { pid, parent } of all) if (inside.has(parent)) inside.add(pid)
  }
  const found = all.filter(({ pid }) => inside.has(pid))
  if (found.length === 0) {
    const { user, system } = process.cpuUsage()
    return { cpuSeconds: (user + system) / 1e6, rssBytes: process.memoryUsage.rss() }
  }
  return {
    cpuSeconds: found.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND,
    rssBytes: found.reduce((sum, { pages }) => sum + pages, 0) * PAGE_BYTES,
  }
}

async function stats(): Promise<(ProcessStat | undefined)[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return texts.map(parseStat)
}
