import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { openPostgres } from './postgres.js'

// What it does with a server: test/buffer/postgres.test.ts.
it('a server that is not there is an error with the place, without the password', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const failure = await openPostgres(`postgres://me:secret@127.0.0.1:${port}/d`).catch((error) => error)
  expect(failure).toMatchObject({
    code: 'database/open',
    path: `postgres://me:***@127.0.0.1:${port}/d`,
    hint: expect.stringContaining('running'),
  })
  expect(String(failure.message)).not.toContain('secret')
})

it('does not dial an address over and over that accepts and closes', async () => {
  let dialed = 0
  const server = createServer((socket) => {
    dialed++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const opening = openPostgres(`postgres://me@127.0.0.1:${port}/d`)
  await expect(opening).rejects.toMatchObject({ code: 'database/open' })
  expect(dialed).toBe(1)
  await new Promise((resolve) => server.close(resolve))
})
