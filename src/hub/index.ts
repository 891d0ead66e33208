export type { RepoKind } from './hub.js'
export { looksLikeRepoId, modelFiles, openRepo, Repo, type RepoOptions, resolveRepo } from './repo.js'
