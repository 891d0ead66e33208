import type { Ground } from '../../machine/ground/ground.js'
import type { Roster } from '../../machine/ground/roster.js'
import type { Site } from './sites.js'

/** How a model lies on the devices. */
export interface TorchModelOptions {
  /** Number format of the computation; master weights and optimizer state are float32 always. */
  readonly dtype?: 'bfloat16' | 'float32'
  /** Keep parameters, or the optimizer's state, in main memory. */
  readonly paramOffload?: boolean
  readonly optimizerOffload?: boolean
  /** Devices over which a sequence is split. */
  readonly ulysses?: number
  /** Compile the layers. */
  readonly compile?: boolean
  /** A policy computes with the kernels of a sampler that is `exact`: both give the same log-probs to the last bit. */
  readonly exactLogprobs?: boolean
  /** Record the passes of training as CUDA graphs, where that can be done. */
  readonly record?: boolean
}

/** Bytes that a job takes on each device, checked by its workers before they open anything. */
export interface MemoryNeed {
  /** As long as its models are open. */
  readonly standing: number
  /** On top: while gradients are computed, scores without them, samples (less the cache). */
  readonly training: number
  readonly scoring: number
  readonly rollout: number
  /** Everything that is there at a time; of the device's memory `share` may be filled then. */
  readonly phases: readonly {
    readonly name: string
    readonly bytes: number
    readonly share: number
    readonly hint: string
  }[]
}

/** By whose processes they are. */
export interface MemoryNeeds {
  readonly trainer?: MemoryNeed
  readonly sampler?: MemoryNeed
  readonly auxiliary?: readonly (MemoryNeed | undefined)[]
}

/** How a model is sampled from. */
export interface SamplerOptions {
  /**
   * Worker processes for samplers alone, by the devices of each: `[[2], [3]]` are two samplers, `[[2, 3]]` is one whose weights
   * lie on two (tensor parallel). A number: so many, on the devices after the trainer's. Default none: they share the trainer's.
   */
  readonly samplers?: number | readonly Site[]
  /** Every number of a sample depends on its own request alone, to the last bit; large batches are slower. */
  readonly exact?: boolean
  /** Share of the device's memory that a sampler may fill. */
  readonly memoryFraction?: number
  /** Sample without CUDA graphs. */
  readonly eager?: boolean
  /** Sequences of a decode step; default 1024 on a GPU, 256 on processors. */
  readonly maxBatch?: number
}

/** Devices, processes and numbers of the torch engine. Those of a sampler are those of the rollouts. */
export interface TorchOptions extends SamplerOptions {
  /** Number of devices, one worker process each; default 1. */
  readonly devices?: number
  /** Nodes of the ground that these are on, equally many on each; default 1. */
  readonly nodes?: number
  /** Default: cuda where this machine has such a device, else cpu. */
  readonly device?: 'cuda' | 'cpu'
  readonly policy?: TorchModelOptions
  readonly reference?: TorchModelOptions
  readonly critic?: TorchModelOptions
  /** The same of each auxiliary model; a reward model has all devices of its samplers. */
  readonly auxiliary?: readonly SamplerOptions[]
  /** What everything that will be opened takes; of those with processes of their own apart from the rest. */
  readonly memory?: MemoryNeeds
  /**
   * Samplers opened with `shareWith` read the trainer's weights where they lie (default), which is right as long as
   * nothing is sampled between a step and the transfer after it. False: they keep a copy, renewed by each transfer.
   */
  readonly shareStorage?: boolean
  /** The machines that the workers run on; default this one. */
  readonly ground?: Ground
  /** Where it is written down what the workers do. */
  readonly roster?: Roster
  /** Python with torch and transformers; default: TRINITY_PYTHON, ~/.trinity/python, python3. */
  readonly python?: string
  /** Each line that a worker writes. */
  readonly log?: (rank: number, line: string, node?: string) => void
  /** Milliseconds that a cancelled call may take to end before the workers are killed; default 30 000. */
  readonly graceMs?: number
  /**
   * Milliseconds that a worker may give no sign of life, and that workers wait for each other in a collective operation;
   * default 600 000.
   */
  readonly timeoutMs?: number
}
