/** Experiences for property tests. */
import fc from 'fast-check'
import { createExperience } from '../src/experience/create.js'
import type { Experience, TokenFloat } from '../src/experience/experience.js'

const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(model, { noNullPrototype: true })
const key = fc.oneof(fc.nat(), fc.string({ maxLength: 8 }))
const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -Infinity, -0))
// JSON has no -0 either; info is promised to be plain JSON.
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)))
const object = fc.dictionary(fc.string({ maxLength: 6 }), json, { maxKeys: 3, noNullPrototype: true })
const message = record({ role: fc.constantFrom('user', 'assistant'), content: fc.string() })
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const plain = record({
  eid: record({ batch: key, task: key, run: fc.nat(), step: fc.nat(), suffix: fc.string({ maxLength: 6 }) }),
  reward: optional(number),
  temperature: fc.double({ min: 0, max: 10, noNaN: true }),
  modelVersion: fc.integer(),
  useCount: fc.nat(),
  versions: optional(fc.array(record({ version: fc.integer(), from: fc.nat() }), { maxLength: 3 })),
  truncateStatus: optional(fc.constantFrom('prompt_truncated' as const, 'response_truncated' as const)),
  failure: optional(record({ reason: fc.constant('timeout' as const), message: fc.string() })),
  promptText: optional(fc.string({ unit: 'grapheme' })),
  responseText: optional(fc.string({ unit: 'binary' })),
  messages: optional(fc.array(message, { maxLength: 2 })),
  tools: optional(fc.array(object, { maxLength: 2 })),
  info: object,
  metrics: fc.dictionary(fc.string({ maxLength: 6 }), number, { maxKeys: 3, noNullPrototype: true }),
  media: optional(
    record({
      pixels: fc.uint8Array({ minLength: 6, maxLength: 6 }).map((data) => ({ shape: [2, 3], data })),
      bf: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((data) => ({ shape: [2], data, dtype: 'bfloat16' })),
      grid: fc.bigInt64Array({ minLength: 2, maxLength: 2 }).map((data) => ({ shape: [2, 1], data })),
    }),
  ),
  extra: optional(record({ from_the_future: json })),
})

const floatFields: TokenFloat[] = ['logprobs', 'advantages', 'returns', 'teacherLogprobs']

function defined<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T
}

export const anyExperience: fc.Arbitrary<Experience> = fc
  .tuple(plain, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 7 }), fc.constantFrom(0, 1, 2))
  .chain(([rest, promptLength, length, kind]) => {
    const ints = (n: number) => fc.int32Array({ minLength: n, maxLength: n })
    const floats = fc.float32Array({ minLength: length, maxLength: length })
    if (kind === 2) {
      return fc
        .tuple(ints(promptLength), ints(length), ints(length))
        .map(([tokens, chosen, rejected]) => createExperience({ ...defined(rest), tokens, chosen, rejected }))
    }
    return record({
      tokens: ints(promptLength + length),
      actionMask:
        kind === 1 ? fc.array(fc.boolean(), { minLength: length, maxLength: length }) : fc.constant(undefined),
      columns: optional(record({ row: number, 'per token': floats })),
      ...(Object.fromEntries(floatFields.map((field) => [field, optional(floats)])) as Record<
        TokenFloat,
        fc.Arbitrary<Float32Array | undefined>
      >),
    }).map((arrays) => createExperience({ ...defined(rest), ...defined(arrays), promptLength }))
  })
