/**
 * Limits that a container or a systemd slice puts on this process. The operating system's own counts (cores, memory)
 * are those of the whole machine, so an engine that trusts them starts too many threads or is killed for memory.
 */

/** Where the files of one controller lie, innermost first: a limit of any ancestor binds. */
export interface ControllerDirs {
  readonly version: 1 | 2
  readonly dirs: readonly string[]
}

export interface CgroupLimits {
  /** CPUs' worth of time, such as 1.5. */
  readonly cpus?: number
  readonly memoryBytes?: number
  /** Of the group that `memoryBytes` binds; page cache that can be dropped is not counted. */
  readonly memoryUsedBytes?: number
}

type Read = (path: string) => Promise<string | undefined>

/** Finds a controller from /proc/self/cgroup and /proc/self/mountinfo; version 1 wins where a machine mounts both. */
export function locateController(
  name: 'cpu' | 'memory',
  cgroup: string,
  mountinfo: string,
): ControllerDirs | undefined {
  const groups = cgroup.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
  const v1 = groups.find((group) => group?.[1].split(',').includes(name))
  const v2 = groups.find((group) => group?.[1] === '')
  const mounts = mountinfo.split('\n').flatMap(parseMount)
  const v1Mount = mounts.find((mount) => mount.type === 'cgroup' && mount.options.includes(name))
  const v2Mount = mounts.find((mount) => mount.type === 'cgroup2')
  if (v1 && v1Mount) return { version: 1, dirs: chain(v1Mount, v1[2]) }
  if (v2 && v2Mount) return { version: 2, dirs: chain(v2Mount, v2[2]) }
  return undefined
}

interface Mount {
  readonly root: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
}

function parseMount(line: string): Mount[] {
  const [left, right] = line.split(' - ')
  if (right === undefined) return []
  const [, , , root, point] = left.split(' ').map((text) => text.replace(/\\040/g, ' '))
  const [type, , options = ''] = right.split(' ')
  return root && point ? [{ root, point, type, options: options.split(',') }] : []
}

/** A container may see only its own part of the tree: then the group's path starts with the mount's root. */
function chain(mount: Mount, path: string): string[] {
  const root = mount.root === '/' ? '' : mount.root
  const inside = path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : ''
  const parts = inside.split('/').filter((part) => part !== '' && part !== '..')
  return Array.from({ length: parts.length + 1 }, (_, up) =>
    [mount.point, ...parts.slice(0, parts.length - up)].join('/'),
  )
}

/** `cpu.max` of version 2: "150000 100000" or "max 100000". */
export function parseCpuMax(text: string): number | undefined {
  const [quota, period] = text.trim().split(/\s+/).map(Number)
  return quota > 0 && period > 0 ? quota / period : undefined
}

/** Version 1 writes a number near 2^63 for "no limit", version 2 writes "max". */
export function parseMemoryLimit(text: string): number | undefined {
  const bytes = Number(text.trim())
  return bytes > 0 && bytes < 2 ** 60 ? bytes : undefined
}

export function parseInactiveFile(stat: string): number {
  return Number((/^total_inactive_file (\d+)/m.exec(stat) ?? /^inactive_file (\d+)/m.exec(stat))?.[1] ?? 0)
}

export async function cgroupLimits(read: Read): Promise<CgroupLimits> {
  const [cgroup, mountinfo] = await Promise.all([read('/proc/self/cgroup'), read('/proc/self/mountinfo')])
  if (cgroup === undefined || mountinfo === undefined) return {}
  const [cpus, memory] = await Promise.all([
    cpuLimit(read, locateController('cpu', cgroup, mountinfo)),
    memoryLimit(read, locateController('memory', cgroup, mountinfo)),
  ])
  return { cpus, ...memory }
}

async function cpuLimit(read: Read, where?: ControllerDirs): Promise<number | undefined> {
  const limits = await Promise.all(
    (where?.dirs ?? []).map(async (dir) => {
      if (where?.version === 2) return parseCpuMax((await read(`${dir}/cpu.max`)) ?? '')
      const [quota, period] = await Promise.all([read(`${dir}/cpu.cfs_quota_us`), read(`${dir}/cpu.cfs_period_us`)])
      return parseCpuMax(`${quota ?? ''} ${period ?? ''}`)
    }),
  )
  return smallest(limits)
}

async function memoryLimit(read: Read, where?: ControllerDirs): Promise<Partial<CgroupLimits>> {
  const names =
    where?.version === 2 ? ['memory.max', 'memory.current'] : ['memory.limit_in_bytes', 'memory.usage_in_bytes']
  const dirs = where?.dirs ?? []
  const limits = await Promise.all(dirs.map(async (dir) => parseMemoryLimit((await read(`${dir}/${names[0]}`)) ?? '')))
  const memoryBytes = smallest(limits)
  if (memoryBytes === undefined) return {}
  const dir = dirs[limits.indexOf(memoryBytes)]
  const [used, stat] = await Promise.all([read(`${dir}/${names[1]}`), read(`${dir}/memory.stat`)])
  return { memoryBytes, memoryUsedBytes: Math.max(0, Number(used ?? 0) - parseInactiveFile(stat ?? '')) }
}

function smallest(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
