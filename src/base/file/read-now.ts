import { constants } from 'node:fs'

/** How to open a file that may be none: a pipe that nobody writes to is empty then, instead of waiting for ever. */
export const READ_NOW = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
