import { findCuda } from './cuda.js'
import { type Host, localHost } from './host.js'

/** A GPU as nvidia-smi, or a person, describes it. */
export interface Card {
  readonly name: string
  readonly bytes: number
}

/** The GPUs that may be used, with all their memory; none where the driver's own tool is not there or finds none. */
export async function visibleCards(host: Pick<Host, 'env' | 'exec'> = localHost()): Promise<Card[]> {
  const { visible } = await findCuda(host)
  return visible.flatMap(({ name, memoryBytes }) => (memoryBytes ? [{ name, bytes: memoryBytes }] : []))
}

/** What has to fit into each has to fit into this one. */
export async function smallestCard(host?: Pick<Host, 'env' | 'exec'>): Promise<Card | undefined> {
  const [first, ...rest] = await visibleCards(host)
  return rest.reduce((least, one) => (one.bytes < least.bytes ? one : least), first)
}
