import { homedir } from 'node:os'
import { resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { redact } from '../base/secret/index.js'
import { verify } from '../engine/torch/verify.js'
import { cudaDevices } from '../machine/python/gpus.js'
import { basePython, install, installed } from '../machine/setup/install.js'
import { describePlan, environmentPython, planSetup, type SetupOptions, type SetupPlan } from '../machine/setup/plan.js'
import { asking } from './asking.js'
import type { ExitCode } from './print.js'

export interface SetupCommand extends SetupOptions {
  yes?: boolean
  dryRun?: boolean
}

/** `trinity setup torch`: makes the Python environment of the torch engine, after saying what that takes. */
export async function setupTorch(options: SetupCommand, check = verify): Promise<ExitCode> {
  // an index may have a password in its address
  const say = (line: string) => process.stdout.write(`${redact(line)}\n`)
  const dir = options.dir === undefined ? undefined : resolve(options.dir)
  const plan = planSetup({ ...options, dir }, await basePython(options.python), homedir())
  say(pc.bold('The torch engine needs'))
  for (const line of describePlan(plan, await installed(plan.dir))) say(`  ${line}`)
  if (!plan.cpu && cudaDevices() === 0)
    say(`  ${pc.yellow('no NVIDIA card was found here')}: with --cpu it is a tenth of this`)
  if (options.dryRun) {
    say(pc.dim('Nothing was done.'))
    return 0
  }
  if (!options.yes && !(await agreed())) {
    say('nothing was installed')
    return 0
  }
  await install(plan, (line) => say(`  ${pc.dim(line)}`))
  say('  starting a worker')
  const device = !plan.cpu && cudaDevices() > 0 ? 'cuda' : 'cpu'
  say(`${pc.green('ready')}: ${await check({ python: environmentPython(plan.dir), device })}`)
  say(hint(plan))
  return 0
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new TrinityError('cli/setup', 'the download needs an answer, and this is not a terminal', {
      hint: 'add --yes',
    })
  }
  const answer = await asking('nothing was installed', (ask) => ask('Continue? [Y/n] '))
  return /^(y(es)?)?$/i.test(answer.trim())
}

function hint({ dir, isDefaultDir }: SetupPlan): string {
  if (isDefaultDir)
    return 'Configurations with trainer.trainer_type torch, or auto on a machine with a GPU, now use it.'
  return `To use it: export TRINITY_PYTHON=${environmentPython(dir)}`
}
