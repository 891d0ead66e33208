import { fileURLToPath } from 'node:url'

/** The folder that holds our Python packages, as PYTHONPATH takes it. */
export const PYTHON_ROOT = fileURLToPath(new URL('../../../python', import.meta.url))
