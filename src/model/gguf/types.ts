/** Element types of GGUF files: ggml's numbers, elements of a block, bytes of a block. */
const table = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  Q4_0: [2, 32, 18],
  Q4_1: [3, 32, 20],
  Q5_0: [6, 32, 22],
  Q5_1: [7, 32, 24],
  Q8_0: [8, 32, 34],
  Q2_K: [10, 256, 84],
  Q3_K: [11, 256, 110],
  Q4_K: [12, 256, 144],
  Q5_K: [13, 256, 176],
  Q6_K: [14, 256, 210],
  BF16: [30, 1, 2],
} as const

export type GgufType = keyof typeof table

export interface GgufTypeInfo {
  readonly name: GgufType
  readonly number: number
  /** Elements that are stored together. */
  readonly block: number
  /** Bytes of such a block. */
  readonly bytes: number
}

export const ggufTypes: ReadonlyMap<GgufType, GgufTypeInfo> = new Map(
  (Object.keys(table) as GgufType[]).map((name) => {
    const [number, block, bytes] = table[name]
    return [name, { name, number, block, bytes }]
  }),
)

const byNumber = new Map([...ggufTypes.values()].map((type) => [type.number, type]))

/** Types that exist and are not read here, so that an error can name them. */
const others: Readonly<Record<number, string>> = {
  ...{ 9: 'Q8_1', 15: 'Q8_K', 16: 'IQ2_XXS', 17: 'IQ2_XS', 18: 'IQ3_XXS', 19: 'IQ1_S', 20: 'IQ4_NL', 21: 'IQ3_S' },
  ...{ 22: 'IQ2_S', 23: 'IQ4_XS', 24: 'I8', 25: 'I16', 26: 'I32', 27: 'I64', 28: 'F64', 29: 'IQ1_M' },
  ...{ 34: 'TQ1_0', 35: 'TQ2_0', 39: 'MXFP4', 40: 'NVFP4' },
}

/** A type by its number; text where it is one that is not read. */
export function ggufType(number: number): GgufTypeInfo | string {
  return byNumber.get(number) ?? others[number] ?? `number ${number}`
}
