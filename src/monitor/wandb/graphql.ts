/** Makes a run, or brings it up to date. */
export const UPSERT_RUN = `
mutation UpsertBucket($name: String!, $project: String!, $entity: String, $group: String, $displayName: String,
  $jobType: String, $tags: [String!], $config: JSONString, $host: String) {
  upsertBucket(input: {name: $name, modelName: $project, entityName: $entity, groupName: $group,
    displayName: $displayName, jobType: $jobType, tags: $tags, config: $config, host: $host}) {
    bucket { id name displayName project { name entity { name } } }
    inserted
  }
}`

/** How much the service has of a run. */
export const RUN_STATUS = `
query RunResumeStatus($project: String, $entity: String, $name: String!) {
  model(name: $project, entityName: $entity) {
    name
    entity { name }
    bucket(name: $name, missingOk: true) { name historyLineCount historyTail }
  }
}`

/** Addresses to upload files of a run to. */
export const CREATE_FILES = `
mutation CreateRunFiles($entity: String!, $project: String!, $run: String!, $files: [String!]!) {
  createRunFiles(input: {entityName: $entity, projectName: $project, runName: $run, files: $files}) {
    uploadHeaders
    files { name uploadUrl }
  }
}`

export interface UpsertAnswer {
  upsertBucket?: {
    bucket?: { name?: string; project?: { name?: string; entity?: { name?: string } } }
  }
}

export interface StatusAnswer {
  model?: { bucket?: { historyLineCount?: number; historyTail?: string } | null } | null
}

export interface FilesAnswer {
  createRunFiles?: { uploadHeaders?: string[]; files?: { name: string; uploadUrl: string }[] }
}

/** The step of the newest row: the tail is a list of lines, itself as text. */
export function lastStepOf(tail: string | undefined): number | undefined {
  try {
    const lines = JSON.parse(tail ?? '[]') as string[]
    // a line may contain NaN, which JSON does not know
    const step = /"_step":\s*(\d+)/.exec(lines.at(-1) ?? '')?.[1]
    return step === undefined ? undefined : Number(step)
  } catch {
    return undefined
  }
}
