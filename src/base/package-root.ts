import { fileURLToPath } from 'node:url'

/** The folder that holds package.json: the same from src/, from dist/ and from the command's entry, which is one file. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url))
