import { describe, expect, it } from 'vitest'
import { cgroupLimits, locateController, parseCpuMax, parseInactiveFile, parseMemoryLimit } from './cgroup.js'

/** Recorded: a machine with all controllers on version 1 and an empty version 2 tree beside them. */
const HYBRID = {
  '/proc/self/cgroup': '5:memory:/api/387e\n4:cpuset:/\n3:cpuacct:/\n1:cpu:/\n0::/\n',
  '/proc/self/mountinfo': [
    '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
    '32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu',
    '33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct',
    '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
  ].join('\n'),
}
/** Recorded: one version 2 tree. */
const UNIFIED = {
  '/proc/self/cgroup': '0::/api/5228\n',
  '/proc/self/mountinfo':
    '32 23 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot',
}
/** A Docker container on a version 1 host: the mount shows only the container's own part. */
const DOCKER_V1 = {
  '/proc/self/cgroup': '12:memory:/docker/0123abcd\n7:cpu,cpuacct:/docker/0123abcd\n',
  '/proc/self/mountinfo': [
    '644 643 0:33 /docker/0123abcd /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime master:15 - cgroup cgroup rw,memory',
    '650 643 0:28 /docker/0123abcd /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:11 - cgroup cgroup rw,cpu,cpuacct',
  ].join('\n'),
}

const limitsOf = (files: Record<string, string>) => cgroupLimits(async (path) => files[path])

describe('locateController', () => {
  const at = (files: Record<string, string>, name: 'cpu' | 'memory') =>
    locateController(name, files['/proc/self/cgroup'], files['/proc/self/mountinfo'])

  it('follows the group up to the mount', () => {
    expect(at(UNIFIED, 'cpu')).toEqual({
      version: 2,
      dirs: ['/sys/fs/cgroup/api/5228', '/sys/fs/cgroup/api', '/sys/fs/cgroup'],
    })
    expect(at(HYBRID, 'cpu')).toEqual({ version: 1, dirs: ['/sys/fs/cgroup/cpu'] })
    expect(at(HYBRID, 'memory')?.dirs[0]).toBe('/sys/fs/cgroup/memory/api/387e')
  })
  it('takes off the root of a mount that shows only a part', () => {
    expect(at(DOCKER_V1, 'memory')).toEqual({ version: 1, dirs: ['/sys/fs/cgroup/memory'] })
    expect(at(DOCKER_V1, 'cpu')).toEqual({ version: 1, dirs: ['/sys/fs/cgroup/cpu,cpuacct'] })
  })
  it('knows nothing without the files', () => {
    expect(locateController('cpu', '', '')).toBeUndefined()
    expect(locateController('cpu', 'garbage', 'a - b')).toBeUndefined()
  })
})

describe('parsers', () => {
  it.each([
    ['max 100000', undefined],
    ['150000 100000', 1.5],
    ['-1\n 100000\n', undefined],
    ['', undefined],
  ])('cpu.max %j', (text, cpus) => expect(parseCpuMax(text)).toBe(cpus))
  it.each([
    ['max\n', undefined],
    ['9223372036854771712\n', undefined],
    ['4294967296\n', 4294967296],
    ['', undefined],
  ])('memory limit %j', (text, limit) => expect(parseMemoryLimit(text)).toBe(limit))
  it('inactive page cache: version 1 counts the group with its children', () => {
    expect(parseInactiveFile('inactive_file 10\nactive_file 3\n')).toBe(10)
    expect(parseInactiveFile('inactive_file 10\ntotal_inactive_file 30\n')).toBe(30)
    expect(parseInactiveFile('')).toBe(0)
  })
})

describe('cgroupLimits', () => {
  it('takes the tightest of the group and its ancestors', async () => {
    const limits = await limitsOf({
      ...UNIFIED,
      '/sys/fs/cgroup/api/5228/cpu.max': '400000 100000\n',
      '/sys/fs/cgroup/api/cpu.max': '250000 100000\n',
      '/sys/fs/cgroup/api/5228/memory.max': 'max\n',
      '/sys/fs/cgroup/api/memory.max': '8000\n',
      '/sys/fs/cgroup/api/memory.current': '3000\n',
      '/sys/fs/cgroup/api/memory.stat': 'anon 1000\ninactive_file 500\n',
    })
    expect(limits).toEqual({ cpus: 2.5, memoryBytes: 8000, memoryUsedBytes: 2500 })
  })
  it('reads version 1', async () => {
    const limits = await limitsOf({
      ...DOCKER_V1,
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '50000\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '2147483648\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '1000000\n',
    })
    expect(limits).toEqual({ cpus: 0.5, memoryBytes: 2147483648, memoryUsedBytes: 1000000 })
  })
  it('has no limits where none are set, and none where there are no groups', async () => {
    expect(await limitsOf(HYBRID)).toEqual({})
    expect(await limitsOf({})).toEqual({})
  })
})
