// The agent that comes with Trinity, with the tools of a real MCP server.
import { agent } from 'trinity-rft'
import { mcpTools, ReactAgent } from 'trinity-rft/agent'

const { tools } = await mcpTools({ command: process.execPath, args: [String(process.env.MCP_SHOP)] })

agent('react_mcp', async ({ question }, { openai, signal }) => {
  const clerk = new ReactAgent({ openai, tools, maxSteps: 3, request: { max_tokens: 24 }, signal })
  const { calls, failedCalls } = await clerk.reply(question)
  return calls - failedCalls
})
