import { expect, it } from 'vitest'
import { smallestCard, visibleCards } from './cards.js'

it('the GPUs of a machine are what nvidia-smi says of those that may be used', async () => {
  const stdout =
    '0, GPU-aa1, NVIDIA H200, 143771, 143000, 580.1, 9.0\n1, GPU-bb2, NVIDIA L4, 23034, 23000, 580.1, 8.9\n\n'
  const exec = async () => ({ status: 'ok', stdout, stderr: '' }) as const
  const [first, second] = await visibleCards({ env: {}, exec })
  expect([first, second.name]).toEqual([{ name: 'NVIDIA H200', bytes: 143771 * 2 ** 20 }, 'NVIDIA L4'])
  expect((await visibleCards({ env: { CUDA_VISIBLE_DEVICES: '1' }, exec })).map(({ name }) => name)).toEqual([
    'NVIDIA L4',
  ])
  expect((await visibleCards({ env: { CUDA_VISIBLE_DEVICES: 'GPU-aa' }, exec })).map(({ name }) => name)).toEqual([
    'NVIDIA H200',
  ])
  expect(await smallestCard({ env: {}, exec })).toEqual(second)
  expect(await visibleCards({ env: { CUDA_VISIBLE_DEVICES: '' }, exec })).toEqual([])
  const missing = async () => ({ status: 'missing', stdout: '', stderr: '' }) as const
  expect(await visibleCards({ env: {}, exec: missing })).toEqual([])
})
