import { OwnedProcess, type OwnedProcessSettings } from '../owned-process.js'
import { PYTHON_ROOT } from './package.js'

export interface PythonProcessSettings extends Pick<OwnedProcessSettings, 'env' | 'log' | 'output' | 'beats'> {
  readonly python: string
  /** What `python -m` runs. */
  readonly module: string
  readonly args?: readonly string[]
}

/** A module of ours in a process of the user's Python. */
export class PythonProcess extends OwnedProcess {
  constructor({ python, module, args = [], env, ...settings }: PythonProcessSettings) {
    super({
      ...settings,
      command: python,
      args: ['-u', '-m', module, ...args],
      env: {
        ...process.env,
        ...env,
        PYTHONPATH: [PYTHON_ROOT, process.env.PYTHONPATH].filter(Boolean).join(':'),
        // the package may lie in a folder that is not ours to write to
        PYTHONDONTWRITEBYTECODE: '1',
      },
    })
  }
}
