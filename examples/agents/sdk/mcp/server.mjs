// A server of the Model Context Protocol: a shop with two tools.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'
import { shop } from './shop.mjs'

const server = new McpServer({ name: 'shop', version: '1.0.0' })
for (const [name, amounts] of Object.entries(shop)) {
  const about = { description: `The ${name} of an item`, inputSchema: { item: z.string() } }
  server.registerTool(name, about, async ({ item }) => ({
    content: [{ type: 'text', text: amounts[item] ?? '?' }],
  }))
}
await server.connect(new StdioServerTransport())
