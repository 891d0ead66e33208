import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type McpTools, mcpTools } from './mcp.js'
import { sharedMcpTools } from './shared-mcp.js'
import { callTool } from './tool.js'

const server = join(import.meta.dirname, 'fixture/mcp-server.mjs')
let open: McpTools | undefined
afterEach(() => open?.close())

describe('the tools of an MCP server', () => {
  it('are listed page by page and called; what goes wrong is told', async () => {
    open = await mcpTools({ command: process.execPath, args: [server] })
    const { tools } = open
    expect(tools.map(({ name, description }) => `${name}: ${description}`)).toEqual([
      'search: the search',
      'fails: the fails',
      'dies: the dies',
      'hangs: the hangs',
    ])
    const called = (name: string, args = '{}') => callTool(tools, { name, arguments: args })
    expect(await called('search', '{"query": "cats"}')).toMatchObject({ text: 'found cats\n[image]', failed: false })
    expect(await called('fails')).toMatchObject({ text: expect.stringContaining('no such page'), failed: true })
    const leaving = AbortSignal.timeout(20)
    await expect(callTool(tools, { name: 'hangs', arguments: '{}' }, leaving)).rejects.toThrow('timeout')
    expect(await Promise.all([called('dies'), called('hangs')])).toMatchObject([
      { text: expect.stringContaining('ended (exit code 3)') },
      { failed: true },
    ])
    expect(open.isOpen).toBe(false)
    expect(await called('search')).toMatchObject({ text: expect.stringContaining('has ended'), failed: true })
  })

  it('a program that is none is told', async () => {
    await expect(mcpTools({ command: '/no/such/program' })).rejects.toThrow('could not be started')
    const silent = mcpTools({ command: process.execPath, args: ['-e', 'console.error("I am no server")'] })
    await expect(silent).rejects.toThrow(/ended \(exit code 0\)[\s\S]*I am no server/)
  })

  it('are shared, and opened again when the server has ended', async () => {
    const command = `${process.execPath} ${server}`
    const [first, second] = await Promise.all([sharedMcpTools(command), sharedMcpTools(command)])
    expect(second).toBe(first)
    await callTool(first, { name: 'dies', arguments: '{}' })
    const third = await sharedMcpTools(command)
    expect(third).not.toBe(first)
    expect(await callTool(third, { name: 'search', arguments: '{"query": 1}' })).toMatchObject({ failed: false })
    await expect(sharedMcpTools('exit 1')).rejects.toThrow('exit code 1')
    await expect(sharedMcpTools('exit 1')).rejects.toThrow('exit code 1')
  })
})
