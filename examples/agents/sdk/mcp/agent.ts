// OpenAI's Agents SDK with the tools of an MCP server, which runs as a program of its own for all rollouts.
import { fileURLToPath } from 'node:url'
import {
  Agent,
  MaxTurnsExceededError,
  MCPServerStdio,
  ModelBehaviorError,
  run,
  setTracingDisabled,
} from '@openai/agents'
import { agent } from 'trinity-rft'
import { shop } from './shop.mjs'

setTracingDisabled(true)
const args = [fileURLToPath(new URL('server.mjs', import.meta.url))]
// on a busy machine a program takes longer to start than its five seconds
const server = new MCPServerStdio({
  command: process.execPath,
  args,
  cacheToolsList: true,
  clientSessionTimeoutSeconds: 60,
})
await server.connect()

async function answer(question: string) {
  const clerk = new Agent({
    name: 'Clerk',
    model: 'gpt-4o-mini',
    mcpServers: [server],
    modelSettings: { maxTokens: 24 },
  })
  const ended = await run(clerk, question, { maxTurns: 3 }).catch(astray)
  return ended?.finalOutput
}

/** A model that goes astray has not answered; any other failure is one. */
const astray = (error: unknown) => {
  if (error instanceof MaxTurnsExceededError || error instanceof ModelBehaviorError) return undefined
  throw error
}

export default agent('mcp_shop', async ({ question }) => {
  const [, what, item] = /(\w+) of (\w+)/.exec(question) ?? []
  return (await answer(question)) === (shop as Record<string, Record<string, string>>)[what][item]
})
