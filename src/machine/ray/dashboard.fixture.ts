import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What it answers: a status with a body, or a body alone. */
export type Answer = string | object | { readonly status: number; readonly body: string }

/** A dashboard that answers each route with what it is told, one after the other; the last answer stays. */
export async function fakeDashboard(answers: Readonly<Record<string, readonly Answer[]>>) {
  const asked: { readonly what: string; readonly body: string; readonly token?: string }[] = []
  const left = new Map(Object.entries(answers).map(([what, some]) => [what, [...some]]))
  const server = createServer(async (request, response) => {
    const what = `${request.method} ${request.url}`
    asked.push({ what, body: await bodyOf(request), token: request.headers.authorization })
    const some = left.get(what) ?? [{ status: 404, body: 'no such route' }]
    const answer = some.length > 1 ? some.shift()! : some[0]
    const { status, body } =
      typeof answer === 'object' && 'status' in answer && 'body' in answer ? answer : whole(answer)
    response.writeHead(status as number).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, asked, close: () => void server.close().closeAllConnections() }
}

function whole(answer: string | object): { status: number; body: string } {
  return { status: 200, body: typeof answer === 'string' ? answer : JSON.stringify(answer) }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}
