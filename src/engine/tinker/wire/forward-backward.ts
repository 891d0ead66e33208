import { badAnswer } from '../failure.js'
import { bfloatsOf, floatBytes, floatsOf, int32Bytes, int64Bytes, int64sOf } from './numbers.js'
import { ProtoWriter, protoFields } from './proto.js'

/** One sequence with what its loss reads. Place `i` of every array belongs to token `i` of the input. */
export interface Datum {
  /** The input: everything but the last token. */
  readonly tokens: Int32Array
  /** The token that place `i` has to predict. */
  readonly targets: Int32Array
  /** Further inputs of the loss by name: `weights`, `logprobs`, `advantages`. */
  readonly inputs: Readonly<Record<string, Float32Array>>
}

export interface ForwardBackwardRequest {
  readonly modelId: string
  readonly seqId: number
  readonly data: readonly Datum[]
  readonly lossFn: string
  /** Log-probs only; no gradient is added. */
  readonly forwardOnly: boolean
}

const [FLOAT32, INT64, BFLOAT16] = [1, 2, 4]

/** The message ForwardBackwardRequest. */
export function encodeForwardBackward(request: ForwardBackwardRequest): Uint8Array {
  const message = new ProtoWriter().text(1, request.modelId).int(2, request.seqId)
  for (const datum of request.data) message.message(3, datumOf(datum))
  return message
    .text(4, request.lossFn)
    .int(6, request.forwardOnly ? 1 : 0)
    .finish()
}

function datumOf({ tokens, targets, inputs }: Datum): ProtoWriter {
  const text = new ProtoWriter().bytes(1, int32Bytes(tokens))
  const datum = new ProtoWriter().message(1, new ProtoWriter().message(1, text))
  const tensors = [
    ['target_tokens', tensor(int64Bytes(targets), INT64, targets.length)] as const,
    ...Object.entries(inputs).map(
      ([name, values]) => [name, tensor(floatBytes(values), FLOAT32, values.length)] as const,
    ),
  ]
  for (const [name, value] of tensors) datum.entry(2, name, (entry) => entry.message(2, value))
  return datum
}

function tensor(data: Uint8Array, dtype: number, length: number): ProtoWriter {
  return new ProtoWriter().bytes(1, data).int(3, dtype).packed(4, [length])
}

export interface ForwardBackwardOutput {
  /** By datum, one for each token of its input. */
  readonly logprobs: readonly Float32Array[]
  readonly metrics: Readonly<Record<string, number>>
}

/** The message ForwardBackwardOutput: of all outputs of a loss the log-probs are what is read. */
export function decodeForwardBackward(bytes: Uint8Array): ForwardBackwardOutput {
  const logprobs: Float32Array[] = []
  const metrics: Record<string, number> = {}
  for (const { field, bytes: value } of protoFields(bytes)) {
    if (field === 2) for (const [name, rows] of recordOf(value)) if (name === 'logprobs') logprobs.push(...rows)
    if (field === 3) {
      const entry = entryOf(value)
      metrics[entry.key] = entry.number
    }
  }
  return { logprobs, metrics }
}

/** ArrayRecord: by field, the arrays of its datums. */
function* recordOf(bytes: Uint8Array): Generator<[name: string, rows: Float32Array[]], void, undefined> {
  for (const { field, bytes: value } of protoFields(bytes)) {
    if (field !== 2) continue
    const { key, bytes: batch } = entryOf(value)
    if (key === 'logprobs') yield [key, batchedOf(batch)]
  }
}

/** BatchedTensor: all datums in one array, and where each begins. */
function batchedOf(bytes: Uint8Array): Float32Array[] {
  let data: Uint8Array = new Uint8Array(0)
  let offsets: number[] = []
  let dtype = FLOAT32
  for (const { field, number, bytes: value } of protoFields(bytes)) {
    if (field === 1) data = value
    else if (field === 2) offsets = int64sOf(value)
    else if (field === 3) dtype = number
  }
  if (dtype !== FLOAT32 && dtype !== BFLOAT16) throw badAnswer(`log-probs are numbers of the kind ${dtype}`)
  const read = dtype === FLOAT32 ? floatsOf : bfloatsOf
  return offsets.slice(1).map((to, i) => {
    const from = offsets[i]
    if (!(from >= 0 && from <= to && to <= data.length))
      throw badAnswer(`log-probs from byte ${from} to ${to} of ${data.length}`)
    return read(data.subarray(from, to))
  })
}

function entryOf(bytes: Uint8Array): { key: string; number: number; bytes: Uint8Array } {
  let key = ''
  let found = { number: 0, bytes: new Uint8Array(0) as Uint8Array }
  for (const one of protoFields(bytes)) {
    if (one.field === 1) key = Buffer.from(one.bytes).toString()
    else if (one.field === 2) found = one
  }
  return { key, ...found }
}
