import type { CheckedRequest } from '../checked-request.js'
import type { Caps, InFlight, OnToken, Sample } from '../contract.js'

/** What one server says of itself. */
export interface ServerFacts {
  readonly version: string
  readonly maxModelLen: number
  /** What its log-probs mean. */
  readonly logprobs: Caps['logprobs']
  /** Given tokens are scored at any temperature, not only at 1. */
  readonly scoresAnyTemperature: boolean
  /** It runs with what Trinity adds to servers that it starts. */
  readonly extended: boolean
}

/** A request as every server takes it: token ids, everything checked. */
export interface ServedRequest {
  readonly id: string
  readonly prompt: Int32Array
  readonly n: number
  readonly wish: CheckedRequest
  /** Of sample 0. */
  readonly seed: number
  readonly stop: readonly string[]
  readonly promptLogprobs: boolean
  /** An adapter that the server has; absent: the model itself. */
  readonly adapter?: string
}

/** A sample as a server tells it. Names of versions are what `reload` was given. */
export type ServedSample = Omit<Sample, 'versions'> & {
  readonly versions: readonly { readonly version: string; readonly from: number }[]
}

export interface CallLimits {
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
}

/** The routes of one kind of server, as Trinity uses them. */
export interface ServerApi {
  readonly url: string
  about(limits: CallLimits): Promise<ServerFacts>
  /** Throws where the server cannot take requests. */
  health(limits: CallLimits): Promise<void>
  /** With `onToken` it is streamed. The signal gives the request up; `abort` ends it with what there is. */
  generate(request: ServedRequest, limits: CallLimits, onToken?: OnToken): Promise<ServedSample[]>
  abort(id: string): Promise<void>
  /** Log-probs of the tokens of a sequence from the second on, at a temperature. */
  score(tokens: Int32Array, temperature: number, limits: CallLimits): Promise<Float32Array>
  /** Brings the server to a point between two steps and keeps it there until `resume`. */
  pause(inFlight: InFlight, limits: CallLimits): Promise<void>
  resume(): Promise<void>
  /** New weights from a folder, under a name; the prefix cache is emptied. */
  reload(dir: string, version: string, limits: CallLimits): Promise<void>

  /** Absent: it takes part in no process group. */
  readonly group?: ServerGroup
  close(): void
}

/** A server's part in a broadcast of weights. */
export interface ServerGroup {
  join(group: { port: number; size: number; seconds: number }, rank: number, limits: CallLimits): Promise<void>
  receive(path: string, dtype: string, limits: CallLimits): Promise<string>
  install(version: string): Promise<void>
  save(path: string, limits: CallLimits): Promise<void>
}
