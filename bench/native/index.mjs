// The native engine against the arithmetic peak of this machine, and with --against torch against PyTorch.
import { loadAddon } from '../../dist/engine/native/addon.js'
import { gemm } from './gemm.mjs'
import { train } from './train.mjs'

export const title = 'Native engine'
export const about = 'matrix products and training against the FMA peak [--against torch]'

export async function run(options) {
  const addon = loadAddon()
  const torch = options.includes('--against=torch')
  console.log(`${addon.isa}, ${addon.threads()} threads${torch ? ', against PyTorch + Transformers' : ''}`)
  await gemm(addon)
  await train(addon, torch)
}
