import { type McpTools, mcpTools } from './mcp.js'
import type { ReactTool } from './tool.js'

const opened = new Map<string, Promise<McpTools>>()

/**
 * The tools of an MCP server that all rollouts of this process share; it ends with the process. A server that could not be
 * opened, or has ended, is started again for the next rollout.
 */
export async function sharedMcpTools(command: string): Promise<readonly ReactTool[]> {
  const known = opened.get(command)
  if (known && (await known.catch(() => undefined))?.isOpen) return (await known).tools
  if (opened.get(command) === known) {
    const opening = mcpTools({ command: '/bin/sh', args: ['-c', command] })
    opening.catch(() => opened.delete(command))
    opened.set(command, opening)
  }
  return (await (opened.get(command) as Promise<McpTools>)).tools
}
