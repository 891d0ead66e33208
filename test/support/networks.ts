import { execFileSync } from 'node:child_process'

/** Only root can make networks. */
export const canMakeNetworks = process.platform === 'linux' && process.getuid?.() === 0

/**
 * Networks as several machines have them: each with an address and a loopback interface of its own, joined by a bridge.
 * The first is this machine's.
 */
export class Networks {
  readonly hosts: readonly string[]
  readonly #names: readonly string[]
  readonly #bridge: string

  constructor(count: number) {
    const mark = process.pid % 100_000
    this.#bridge = `tb${mark}`
    this.#names = Array.from({ length: count - 1 }, (_, i) => `tn${mark}-${i}`)
    const subnet = `10.213.${process.pid % 250}`
    this.hosts = Array.from({ length: count }, (_, i) => `${subnet}.${i + 1}`)
    ip('link', 'add', this.#bridge, 'type', 'bridge')
    ip('addr', 'add', `${this.hosts[0]}/24`, 'dev', this.#bridge)
    ip('link', 'set', this.#bridge, 'up')
    for (const [i, name] of this.#names.entries()) {
      ip('netns', 'add', name)
      const [near, far] = [`ta${mark}-${i}`, `tz${mark}-${i}`]
      ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far)
      ip('link', 'set', near, 'master', this.#bridge, 'up')
      ip('link', 'set', far, 'netns', name)
      ip('-n', name, 'addr', 'add', `${this.hosts[i + 1]}/24`, 'dev', far)
      for (const device of [far, 'lo']) ip('-n', name, 'link', 'set', device, 'up')
    }
  }

  /** How a command is run in one of them. */
  within(index: number, command: string, args: readonly string[]): [string, string[]] {
    return index === 0 ? [command, [...args]] : ['ip', ['netns', 'exec', this.#names[index - 1], command, ...args]]
  }

  /** Pairs of interfaces end with one of their sides. */
  close(): void {
    for (const name of this.#names) ip('netns', 'del', name)
    ip('link', 'del', this.#bridge)
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
