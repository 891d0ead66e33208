import { totalmem } from 'node:os'
import { type Host, localHost } from '../machine/doctor/host.js'
import { gpuSamples } from './gpu.js'
import { treeUsage } from './process-tree.js'
import type { GpuSample, ResourceSample } from './report.js'

const MB = 2 ** 20

/** Looks again and again at what this process and those it starts use. */
export class Resources {
  readonly samples: ResourceSample[] = []
  readonly #host: Pick<Host, 'exec'>
  readonly #timer: NodeJS.Timeout
  #hasGpus = true
  #looking: Promise<void> | undefined
  #before: { at: number; cpuSeconds: number } | undefined

  constructor(seconds: number, host: Pick<Host, 'exec'> = localHost()) {
    this.#host = host
    this.#timer = setInterval(() => this.#look(), seconds * 1000)
    this.#look()
  }

  /** After one more look, so that what is short has samples too. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    this.#look()
    await this.#looking
  }

  #look(): void {
    this.#looking ??= this.#take().finally(() => {
      this.#looking = undefined
    })
  }

  async #take(): Promise<void> {
    const [{ cpuSeconds, rssBytes }, gpus] = await Promise.all([treeUsage(), this.#gpus()])
    const at = performance.now() / 1000
    const before = this.#before
    this.#before = { at, cpuSeconds }
    // the first look has nothing to compare with
    if (!before || at <= before.at) return
    this.samples.push({
      timestamp: Date.now() / 1000,
      // a process that has ended takes its time with it
      cpu_percent: Math.max(0, (100 * (cpuSeconds - before.cpuSeconds)) / (at - before.at)),
      memory_rss_mb: rssBytes / MB,
      memory_percent: (100 * rssBytes) / totalmem(),
      gpu_metrics: gpus,
    })
  }

  /** A machine without GPUs is asked once. */
  async #gpus(): Promise<GpuSample[]> {
    if (!this.#hasGpus) return []
    const found = await gpuSamples(this.#host)
    this.#hasGpus = found.length > 0
    return found
  }
}
