import type { Config } from './section/config.js'

/** A GPU by its node and its number there. */
export interface Gpu {
  readonly node: number
  readonly index: number
}

/** Who gets which GPUs; lists are empty where nobody computes on one. */
export interface GpuPlan {
  readonly trainer: readonly Gpu[]
  /** Of each engine of the rollouts. */
  readonly rollout: readonly (readonly Gpu[])[]
  /** Of each engine of each auxiliary model. */
  readonly auxiliary: readonly (readonly (readonly Gpu[])[])[]
}

/**
 * Deals the GPUs out: first to the trainer, then to the engines, the largest first. An engine stays on one node, unless it is
 * larger than one: then it has whole nodes, as the trainer has. Undefined: nodes are cut so that somebody finds no place.
 */
export function planGpus({
  mode,
  cluster,
  explorer,
}: Pick<Config, 'mode' | 'cluster' | 'explorer'>): GpuPlan | undefined {
  const explores = mode !== 'train'
  const { rollout_model: model, auxiliary_models: others } = explorer
  const enginesOf = ({ engine_num, gpu_per_engine }: typeof model) =>
    Array.from({ length: explores ? engine_num : 0 }, () => gpu_per_engine)
  const sizes = [enginesOf(model), ...others.map(enginesOf)]
  if (cluster.total_gpu_num === 0) return { trainer: [], ...split(sizes.map((own) => own.map(() => []))) }
  const dealer = new Dealer(cluster.node_num, cluster.gpu_per_node)
  const trainer = dealer.take(cluster.trainer_gpu_num)
  // explorer and trainer share what there is
  if (mode === 'colocate') return { trainer: trainer ?? [], ...split(sizes.map((own) => own.map(() => trainer ?? []))) }
  const places = sizes.map((own) => own.map((): readonly Gpu[] => []))
  const wishes = sizes.flatMap((own, model) => own.map((size, engine) => ({ size, model, engine })))
  for (const { size, model, engine } of wishes.sort((a, b) => b.size - a.size)) {
    const found = dealer.take(size)
    if (!found) return undefined
    places[model][engine] = found
  }
  return trainer && { trainer, ...split(places) }
}

function split([rollout, ...auxiliary]: (readonly Gpu[])[][]): Pick<GpuPlan, 'rollout' | 'auxiliary'> {
  return { rollout, auxiliary }
}

class Dealer {
  readonly #perNode: number
  /** GPUs that are taken of each node: the first ones. */
  readonly #taken: number[]

  constructor(nodes: number, perNode: number) {
    this.#perNode = perNode
    this.#taken = new Array(nodes).fill(0)
  }

  take(size: number): readonly Gpu[] | undefined {
    const whole = Math.floor(size / this.#perNode)
    if (whole > 0 && size % this.#perNode !== 0) return undefined
    const free = this.#taken.flatMap((taken, node) => (taken === 0 ? [node] : []))
    if (whole > 0)
      return free.length < whole ? undefined : free.slice(0, whole).flatMap((node) => this.#of(node, this.#perNode))
    const node = this.#taken.findIndex((taken) => taken + size <= this.#perNode)
    return node < 0 ? undefined : this.#of(node, size)
  }

  #of(node: number, size: number): Gpu[] {
    const first = this.#taken[node]
    this.#taken[node] += size
    return Array.from({ length: size }, (_, i) => ({ node, index: first + i }))
  }
}

/** The plan in words: `trainer 0-3, rollout 4 5 6 7`; of several nodes `1:0`. */
export function gpuWords(plan: GpuPlan, nodes: number): string {
  const number = ({ node, index }: Gpu) => (nodes > 1 ? `${node}:${index}` : String(index))
  const run = (gpus: readonly Gpu[]) => {
    const [first, last] = [gpus[0], gpus.at(-1)]
    return gpus.length < 3 ? gpus.map(number).join('+') : `${number(first)}-${number(last ?? first)}`
  }
  const engines = (list: readonly (readonly Gpu[])[]) => list.filter((one) => one.length > 0).map(run)
  const parts = [
    ['trainer', plan.trainer.length > 0 ? [run(plan.trainer)] : []],
    ['rollout', engines(plan.rollout)],
    ...plan.auxiliary.map((list, i) => [`auxiliary ${i}`, engines(list)] as const),
  ] as const
  return parts.flatMap(([who, list]) => (list.length > 0 ? [`${who} ${list.join(' ')}`] : [])).join(', ')
}
