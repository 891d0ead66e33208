// The native engine against the arithmetic peak of this machine, and with --against torch against PyTorch.
import { loadAddon } from '../../dist/engine/native/addon.js'
import { gemm } from './gemm.mjs'
import { sample } from './sample.mjs'
import { sessions } from './session.mjs'
import { train } from './train.mjs'

export const title = 'Native engine'
export const about =
  'matrix products, training and sampling against the FMA peak [--against=torch --only=sample:3M --threads=1 --isa=avx2 --dtype=bfloat16 --rounds=5]'

export async function run(options) {
  const option = (name) => options.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
  // As on a machine without AVX-512: both sides read these when they load their kernels.
  if (option('isa') === 'avx2') {
    process.env.TRINITY_NATIVE_ISA = 'avx2'
    process.env.ATEN_CPU_CAPABILITY = 'avx2'
    process.env.ONEDNN_MAX_CPU_ISA = 'AVX2'
    process.env.MKL_ENABLE_INSTRUCTIONS = 'AVX2'
  } else if (option('isa')) throw new Error('--isa takes avx2')
  const addon = loadAddon()
  const torch = options.includes('--against=torch')
  // On a busy machine one thread each is the fairer comparison: nobody waits for a thread that has no core.
  if (option('threads')) addon.setThreads(Number(option('threads')))
  console.log(`${addon.isa}, ${addon.threads()} threads${torch ? ', against PyTorch + Transformers' : ''}`)
  const parts = { gemm, train, sessions, sample }
  // --only=sample, or --only=sample:3M for the lines that hold this text.
  const [only, line = ''] = option('only')?.split(':') ?? []
  if (only && !(only in parts)) throw new Error(`--only takes ${Object.keys(parts).join(', ')}`)
  // Of sampling, on both sides.
  const dtype = option('dtype') ?? 'float32'
  const rounds = Number(option('rounds') ?? 5)
  const matches = (name) => name.includes(line)
  for (const [name, part] of Object.entries(parts))
    if (!only || only === name) await part(addon, torch, { rounds, matches, dtype })
}
