/** Models and data sets by their ids on a hub: found in the cache, else downloaded. */

export type { RepoKind } from './hub.js'
export { asRepoHint, looksLikeRepoId, modelFiles, openRepo, Repo, type RepoOptions, resolveRepo } from './repo.js'
