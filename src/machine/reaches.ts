import { connect } from 'node:net'

const TIMEOUT_MS = 1500

/** Whether something accepts connections there. Never throws. */
export function reaches(address: string, port: number, timeoutMs = TIMEOUT_MS): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const socket = connect({ host: address, port, timeout: timeoutMs })
      const end = (reached: boolean) => {
        socket.destroy()
        resolve(reached)
      }
      socket.once('connect', () => end(true))
      socket.once('timeout', () => end(false))
      socket.once('error', () => end(false))
    } catch {
      resolve(false)
    }
  })
}
