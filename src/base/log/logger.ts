export interface Logger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string, cause?: unknown): void
}

/** The log files of a run: `<dir>/<name>.log`, one for each part of it. */
export interface LogDir {
  /** `node`: the machine that it is about, where that is another one. */
  logger(name: string, node?: string): Logger
  close(): Promise<void>
}
