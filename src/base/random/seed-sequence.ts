/**
 * NumPy's `SeedSequence`: spreads a small integer seed over a pool of 128 bits and draws state words from it.
 * Same constants, same order of mixing, hence the same generator states as `numpy.random.default_rng(seed)`.
 */
const INIT_A = 0x43b0d7e5
const MULT_A = 0x931e8875
const INIT_B = 0x8b51f9dd
const MULT_B = 0x58f38ded
const MIX_L = 0xca01f9dd
const MIX_R = 0x4973f715
const POOL = 4

/** 32-bit words of a non-negative integer, lowest first; zero is one word. */
function words(seed: bigint): number[] {
  const out: number[] = []
  for (let rest = seed; out.length === 0 || rest > 0n; rest >>= 32n) out.push(Number(rest & 0xffffffffn))
  return out
}

function mix(x: number, y: number): number {
  const result = (Math.imul(MIX_L, x) - Math.imul(MIX_R, y)) >>> 0
  return (result ^ (result >>> 16)) >>> 0
}

/** `count` 32-bit words of generator state for a seed. */
export function seedWords(seed: bigint, count: number): Uint32Array {
  const entropy = words(seed)
  let hash = INIT_A
  const hashed = (word: number): number => {
    let value = (word ^ hash) >>> 0
    hash = Math.imul(hash, MULT_A) >>> 0
    value = Math.imul(value, hash) >>> 0
    return (value ^ (value >>> 16)) >>> 0
  }

  const pool = new Uint32Array(POOL)
  for (let i = 0; i < POOL; i++) pool[i] = hashed(entropy[i] ?? 0)
  for (let from = 0; from < POOL; from++) {
    for (let to = 0; to < POOL; to++) if (from !== to) pool[to] = mix(pool[to], hashed(pool[from]))
  }
  for (let from = POOL; from < entropy.length; from++) {
    for (let to = 0; to < POOL; to++) pool[to] = mix(pool[to], hashed(entropy[from]))
  }

  const state = new Uint32Array(count)
  let out = INIT_B
  for (let i = 0; i < count; i++) {
    let value = (pool[i % POOL] ^ out) >>> 0
    out = Math.imul(out, MULT_B) >>> 0
    value = Math.imul(value, out) >>> 0
    state[i] = (value ^ (value >>> 16)) >>> 0
  }
  return state
}
