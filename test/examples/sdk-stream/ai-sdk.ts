// Vercel's AI SDK: compatible provider, streamed; its own provider, whole; with the tools of an MCP server.
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { agent } from 'trinity-rft'
import { z } from 'zod'

type Shop = Record<string, Record<string, string>>
const asked = (question: string, shop: Shop) => {
  const look = (name: string) =>
    tool({ inputSchema: z.object({ item: z.string() }), execute: async ({ item }) => shop[name]?.[item] ?? '?' })
  const tools = { price: look('price'), stock: look('stock') }
  return { prompt: question, tools, stopWhen: stepCountIs(3), maxOutputTokens: 24 }
}

agent('ai_sdk_stream', async ({ question, shop, truth }, { baseURL, apiKey }) => {
  const model = createOpenAICompatible({ name: 'shop', baseURL, apiKey })('gpt-4o-mini')
  return (await streamText({ model, ...asked(question, shop) }).text) === truth
})

agent('ai_sdk_openai_whole', async ({ question, shop, truth }, { baseURL, apiKey }) => {
  const model = createOpenAI({ baseURL, apiKey })('gpt-4o-mini')
  return (await generateText({ model, ...asked(question, shop) })).text === truth
})

const transport = new StdioTransport({ command: process.execPath, args: [String(process.env.MCP_SHOP)] })
const found = await (await createMCPClient({ transport })).tools()
agent('ai_sdk_mcp', async ({ question }, { baseURL, apiKey }) => {
  const model = createOpenAICompatible({ name: 'shop', baseURL, apiKey })('gpt-4o-mini')
  const { toolResults, steps } = await generateText({ model, ...asked(question, {}), tools: found })
  return toolResults.length + steps.length
})
