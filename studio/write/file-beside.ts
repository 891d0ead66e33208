import type { Place, SourceText } from '../../src/studio/api.js'

/** A file beside that of the run, where files that the text names are found; else in the first folder. */
export function fileBeside({ place }: Pick<SourceText, 'place'>, folder: string, name: string): Place {
  const above = place?.path.replace(/[^/]*$/, '') ?? ''
  return { folder: place?.folder ?? folder, path: `${above}${name}.yaml` }
}
