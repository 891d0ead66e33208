import { openModelDir } from '../model/dir.js'

/** Tokens at which the samples of a model directory end by themselves. */
export async function endTokens(path: string): Promise<readonly number[]> {
  const dir = await openModelDir(path, { unchecked: true })
  await dir.close()
  return dir.eosTokenIds
}
