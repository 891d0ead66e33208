/**
 * The run belongs to the program that started it and ends with it, whatever way that ends: standard input is a pipe of
 * it. At once, like any kill: what was saved stays, and the next run goes on from there.
 */
export function endWithStdin(
  input: NodeJS.ReadStream = process.stdin,
  end: () => unknown = () => process.kill(process.pid, 'SIGKILL'),
): void {
  input.once('close', end)
  input.resume()
  // it does not hold the process up by itself
  input.unref?.()
}
