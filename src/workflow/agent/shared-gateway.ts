import type { Gateway, Session, SessionParts } from '../../gateway/index.js'

/** How long it stays open for the next rollout. */
const LINGER_MS = 1000

let opened: Promise<Gateway> | undefined
let port = 0
let users = 0
let closing: NodeJS.Timeout | undefined

/** Runs work with a session of the gateway that all rollouts of this process share. */
export async function withSession<T>(parts: SessionParts, work: (session: Session) => Promise<T>): Promise<T> {
  users++
  clearTimeout(closing)
  let session: Session | undefined
  try {
    session = (await shared()).session(parts)
    return await work(session)
  } finally {
    session?.close()
    if (--users === 0) closing = setTimeout(closeShared, LINGER_MS).unref()
  }
}

async function shared(): Promise<Gateway> {
  // loaded where somebody needs it: other runs start without a server
  opened ??= import('../../gateway/index.js').then(({ Gateway }) =>
    // where it was before: libraries keep the first client that they make, and training steps are long
    Gateway.open({ port }).catch(() => Gateway.open()),
  )
  try {
    const gateway = await opened
    port = Number(new URL(gateway.url).port)
    return gateway
  } catch (error) {
    opened = undefined
    throw error
  }
}

function closeShared(): void {
  const gateway = opened
  opened = undefined
  void gateway?.then((one) => one.close())
}
