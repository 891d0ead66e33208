/** Variables that Slurm sets for a job, as far as the `#SBATCH` lines of the script tell. */
export function slurmVariables(script: string): Map<string, string> {
  const options = new Map<string, string>()
  for (const [, line] of script.matchAll(/^#SBATCH\s+(.+)$/gm)) {
    for (const [, name, value] of line.matchAll(/(--?[\w-]+)(?:=|\s+)([^\s#]+)/g)) options.set(name, value)
  }
  const count = (...names: string[]) => {
    for (const name of names) {
      const number = /(\d+)$/.exec(options.get(name) ?? '')?.[1]
      if (number !== undefined) return number
    }
    return undefined
  }
  const variables = new Map<string, string>()
  const nodes = count('--nodes', '-N')
  const gpus = count('--gpus-per-node', '--gres')
  const cpus = count('--cpus-per-task', '-c')
  if (nodes !== undefined) for (const name of ['SLURM_NNODES', 'SLURM_JOB_NUM_NODES']) variables.set(name, nodes)
  if (gpus !== undefined) for (const name of ['SLURM_GPUS_PER_NODE', 'SLURM_GPUS_ON_NODE']) variables.set(name, gpus)
  if (cpus !== undefined) variables.set('SLURM_CPUS_PER_TASK', cpus)
  return variables
}
