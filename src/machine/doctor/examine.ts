/** What this machine has: the doctor's checks, the Python of the workers, and the setup that installs one. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../base/error.js'
import { PACKAGE_ROOT } from '../../base/package-root.js'
import { findPython } from '../python/find.js'
import { checkAddon } from './addon.js'
import { blocks, type Check, type Report, SECTIONS, type Section } from './check.js'
import { checkCompiler } from './compiler.js'
import { describeCuda, findCuda } from './cuda.js'
import { checkDisk } from './disk.js'
import { type ExaminedEngine, verdicts } from './engines.js'
import { checkEnvironment } from './environment.js'
import { checkHardware } from './hardware.js'
import { type Host, localHost } from './host.js'
import { checkNode } from './node.js'
import { describePython } from './python.js'
import { checkRay } from './ray.js'
import { checkTorchWorker } from './torch.js'

/** Asks everything at once; the whole takes as long as the slowest probe. */
export async function examine(engines: readonly ExaminedEngine[], host: Host = localHost()): Promise<Report> {
  const probes: Readonly<Record<Section, () => Promise<Check[]>>> = {
    runtime: () => checkRuntime(host),
    cpu: () => checkHardware(host),
    python: () => checkPython(host),
    cuda: async () => describeCuda(await findCuda(host)),
    ray: async () => [await checkRay(host)],
    disk: () => checkDisk(host),
    environment: () => checkEnvironment(host),
  }
  const checks = (await Promise.all(SECTIONS.map((section) => guarded(section, probes[section])))).flat()
  return {
    format: 1,
    trinity: await packageVersion(),
    platform: `${host.platform} ${host.arch}`,
    ok: !checks.some(blocks),
    checks,
    engines: verdicts(checks, engines),
  }
}

async function checkPython(host: Host): Promise<Check[]> {
  const probe = await findPython(host)
  return [...describePython(probe), ...(await checkTorchWorker(host, probe))]
}

async function checkRuntime(host: Host): Promise<Check[]> {
  const addon = await checkAddon(host)
  return [checkNode(process.versions.node), await checkCompiler(host, addon.status !== 'ok'), addon]
}

/** A fault of ours in one probe must not hide what the others found. */
async function guarded(section: Section, probe: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await probe()
  } catch (error) {
    const found = `could not be examined: ${messageOf(error)}`
    const fix = 'this is a bug in trinity doctor: please report it'
    return [{ id: section, section, name: section, status: 'wrong', required: section === 'runtime', found, fix }]
  }
}

async function packageVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(PACKAGE_ROOT, 'package.json'), 'utf8'))
  return (manifest as { version: string }).version
}
