import { z } from 'zod'

/** Arguments of every world that lives in the user's Python. */
export const pythonArgs = {
  /** Default: TRINITY_PYTHON, the project's .venv, ~/.trinity/python, python3. */
  python: z.string().min(1).nullable().default(null),
  /** Worker processes that all worlds with the same Python share. */
  workers: z.number().int().min(1).default(1),
  /** Seconds that a call may take. */
  timeout: z.number().positive().default(60),
}

export type PythonArgs = z.output<z.ZodObject<typeof pythonArgs>>
