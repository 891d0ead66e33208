import { fileURLToPath } from 'node:url'

/** The folder that holds the Python package `trinity_torch`, as PYTHONPATH takes it. */
export const PYTHON_ROOT = fileURLToPath(new URL('../../../python', import.meta.url))
