import { TrinityError } from '../base/error.js'
import { pythonHaving } from '../machine/python/having.js'
import { type DlcNode, dlcNode, serveNode, startHead } from '../machine/ray/dlc.js'
import { interrupted } from './interrupted.js'
import type { ExitCode } from './print.js'

/**
 * On machines that a scheduler starts together: the first makes them a Ray cluster and runs, the others are its nodes until
 * it is done.
 */
export async function runOnDlc(run: () => Promise<ExitCode>): Promise<ExitCode> {
  const node = dlcNode(process.env)
  const settings = { python: pythonWithRay(), log: (line: string) => void process.stderr.write(`ray: ${line}\n`) }
  if (node.rank === 0) return runAtHead(node, settings, run)
  process.stderr.write(`node ${node.rank} of ${node.size}: works for ${node.host}:${node.port}\n`)
  await serveNode(node, { ...settings, signal: interrupted() })
  return 0
}

async function runAtHead(
  node: DlcNode,
  settings: { python: string; log: (line: string) => void },
  run: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const head = await startHead(node, settings)
  // `auto` finds it there
  process.env.RAY_ADDRESS = head.address
  try {
    return await run()
  } finally {
    await head.close()
  }
}

function pythonWithRay(): string {
  const python = pythonHaving('ray')
  if (python !== undefined) return python
  throw new TrinityError('cli/dlc', '--dlc needs Ray, and no Python here has it', {
    hint: "pip install 'ray[default]', or set TRINITY_RAY_PYTHON to a Python with it",
  })
}
