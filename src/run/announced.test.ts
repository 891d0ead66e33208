import { expect, it } from 'vitest'
import type { StatusBoard } from '../synchronizer/index.js'
import { announced } from './announced.js'

function boardOf(said: unknown[], fails = false): StatusBoard {
  return {
    set: async (status: unknown) => {
      said.push(status)
      if (fails && said.length > 1) throw new Error('the board is gone')
    },
  } as unknown as StatusBoard
}

it('tells the others how a side ended', async () => {
  const said: unknown[] = []
  expect(
    await announced(
      boardOf(said),
      () => 3,
      async () => false,
    ),
  ).toBe(false)
  expect(
    await announced(
      boardOf(said),
      () => 4,
      async () => true,
    ),
  ).toBe(true)
  const running = { state: 'running' }
  expect(said).toEqual([running, { state: 'ended', step: 3 }, running, { state: 'stopped', step: 4 }])
})

it('a failure goes on, also where the others cannot be told', async () => {
  for (const gone of [false, true]) {
    const said: unknown[] = []
    const failing = announced(
      boardOf(said, gone),
      () => 5,
      async () => {
        throw new Error('the cause')
      },
    )
    await expect(failing).rejects.toThrow('the cause')
    expect(said[1]).toEqual({ state: 'failed', step: 5, cause: 'the cause' })
  }
})
