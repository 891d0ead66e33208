import { relative, resolve } from 'node:path'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { PACKAGE_ROOT } from '../base/package-root.js'
import {
  type Answers,
  type Asker,
  answersOf,
  defaultFolder,
  type Given,
  projectFiles,
  writeProject,
} from '../init/index.js'
import { asking } from './asking.js'
import type { ExitCode } from './print.js'
import { quoted } from './suggestion.js'
import { packageVersion } from './version.js'

export interface InitOptions extends Given {
  /** How the project asks for this package, where not by its version. */
  package?: string
}

/** `trinity init`: a small project that trains at once. Asks what was not said, where there is somebody to ask. */
export async function init(folder: string | undefined, options: InitOptions): Promise<ExitCode> {
  if (folder === '') {
    throw new TrinityError('cli/usage', 'the name of the folder is empty', {
      path: 'folder',
      hint: 'give a name, or none at all: . is the current folder',
    })
  }
  const { package: dependency = `^${packageVersion()}`, ...given } = options
  const dir = resolve(folder ?? defaultFolder(process.cwd()))
  const answers = await whoAnswers((ask) => answersOf(given, ask))
  await writeProject(dir, await projectFiles(answers, { dir, dependency }), PACKAGE_ROOT)
  process.stdout.write(`${nextSteps(relative(process.cwd(), dir), answers)}\n`)
  return 0
}

async function whoAnswers<T>(use: (ask?: Asker) => Promise<T>): Promise<T> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return use()
  return asking('nothing was written', use)
}

function nextSteps(dir: string, { where, model, have }: Answers): string {
  const steps = [
    ...(dir === '' ? [] : [[`cd ${quoted([dir.startsWith('-') ? `./${dir}` : dir])}`, '']]),
    ['npm install', ''],
    ...(where === 'gpu' ? [['npx trinity setup torch', 'installs PyTorch in its own environment']] : []),
    ['npm test', 'checks how answers are graded (grade.ts)'],
    ['npm run train', model === undefined ? 'takes about a minute: from 30 % right answers to 90 %' : ''],
    ['npm run chat', 'talk to the trained model'],
  ]
  const width = Math.max(...steps.map(([command]) => command.length))
  const lines = steps.map(([command, why]) => `  ${pc.bold(command.padEnd(width))}  ${pc.dim(why)}`.trimEnd())
  const file = have === 'data' ? 'grade.ts grades the answers' : 'agent.ts is the agent'
  return [`${file}; trinity.yaml describes the run. Next:`, ...lines].join('\n')
}
