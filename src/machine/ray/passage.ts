import { createServer, type Socket } from 'node:net'
import type { Passage } from '../ground/ground.js'

/** A port of this machine's loopback interface; `bring` takes whoever comes to where it leads. */
export async function openPassage(bring: (socket: Socket) => void): Promise<Passage> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    bring(socket)
  })
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as { port: number }
  return {
    port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
