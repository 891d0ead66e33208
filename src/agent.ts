/**
 * A small agent of our own for those who have none: a loop of reasoning and acting, with tools of your own, of an MCP server,
 * or Python.
 * @module
 */

export { type McpServer, type McpTools, mcpTools } from './workflow/react/mcp.js'
export { type PythonToolOptions, pythonTool } from './workflow/react/python-tool.js'
export {
  ReactAgent,
  type ReactCall,
  type ReactClient,
  type ReactMessage,
  type ReactOptions,
  type ReactReply,
} from './workflow/react/react-agent.js'
export { type ReactTool, reactTool } from './workflow/react/tool.js'
