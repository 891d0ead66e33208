import { TrinityError } from '../../base/error.js'
import { isJsonObject, type JsonObject } from '../../base/file/json-file.js'
import { JsonRpc } from '../json-rpc.js'
import { PythonProcess } from '../python/process.js'

const CONNECT_MS = 120_000
const LEAVE_MS = 5000

export interface RayNode {
  readonly id: string
  readonly address: string
  readonly name: string
  readonly cpus: number
  readonly gpus: number
}

/** What a cluster says of itself. */
export interface RayCluster {
  readonly version: string
  /** The address of this machine, as the nodes see it. */
  readonly host: string
  readonly nodes: readonly RayNode[]
}

/** The Python process through which Trinity speaks with Ray, which has no other client; see python/trinity_ray. */
export class RayDriver {
  readonly #process: PythonProcess
  readonly #rpc: JsonRpc

  constructor(python: string, log?: (line: string) => void) {
    this.#process = new PythonProcess({ python, module: 'trinity_ray', output: 'data', log })
    this.#rpc = new JsonRpc(this.#process, {
      code: 'ray/driver',
      name: 'the driver of Ray',
      command: `${python} -m trinity_ray`,
      hint: "the Python of Trinity needs Ray: pip install 'ray[default]', of the cluster's version",
    })
  }

  async connect(
    address: string,
    namespace: string,
    env: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<RayCluster> {
    return (await this.ask('connect', { address, namespace, env }, CONNECT_MS, signal)) as JsonObject & RayCluster
  }

  /** As it is now. */
  async describe(signal?: AbortSignal): Promise<RayCluster> {
    return (await this.ask('describe', {}, CONNECT_MS, signal)) as JsonObject & RayCluster
  }

  async ask(method: string, params: object, limitMs: number, signal?: AbortSignal): Promise<JsonObject> {
    const { failed, ...result } = await this.#rpc.ask(method, params, limitMs, signal)
    if (!isJsonObject(failed)) return result
    const { code, message, hint } = failed
    throw new TrinityError(String(code), String(message), { hint: typeof hint === 'string' ? hint : undefined })
  }

  async close(): Promise<void> {
    await this.#process.end(LEAVE_MS)
    this.#rpc.close()
  }
}
