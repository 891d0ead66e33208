import { messageOf } from '../base/error.js'
import type { StatusBoard } from '../synchronizer/index.js'

/** Runs one side of a job of several processes and tells the others how it ended. `run` gives whether it was stopped. */
export async function announced(board: StatusBoard, step: () => number, run: () => Promise<boolean>): Promise<boolean> {
  await board.set({ state: 'running' })
  try {
    const stopped = await run()
    await board.set({ state: stopped ? 'stopped' : 'ended', step: step() })
    return stopped
  } catch (error) {
    await board.set({ state: 'failed', step: step(), cause: messageOf(error) }).catch(() => {})
    throw error
  }
}
