import { type Command, Option } from 'commander'
import { collect } from './collect.js'
import type { ExitCode } from './print.js'

/** Options of `bench-rft` with the names of the original's `bench.py`: `--node_num` is understood as well. */
const BENCH_OPTIONS: readonly [flags: string, description: string][] = [
  ['--node-num <n>', 'nodes (1)'],
  ['--gpu-per-node <n>', 'GPUs of a node; 0: on a processor; default what this machine has'],
  ['--engine-num <n>', 'rollout engines; default by the ratio'],
  ['--tp-size <n>', 'GPUs of an engine'],
  ['--engine-type <name>', 'rollout engine: vllm, sglang or another that trinity doctor lists'],
  ['--explorer-trainer-ratio <x>', 'engines for each GPU that trains, as near as it gets (0.6)'],
  ['--model-path <dir>', 'the model to train: a directory, or an id on a hub'],
  ['--critic-model-path <dir>', 'the model that the critic begins as; default the same'],
  ['--taskset-path <path>', 'the data: a folder, or an id on a hub'],
  ['--lr <x>', 'learning rate'],
  ['--critic-lr <x>', 'learning rate of the critic'],
  ['--sync-interval <n>', 'steps between updates of the rollout engines'],
  ['--sync-offset <n>', 'steps that rollouts run ahead'],
  ['--sync-style <name>', 'which side decides when: fixed, trainer_driven, explorer_driven or fully_async'],
  ['--trainer-strategy <name>', 'fsdp, fsdp2 or megatron'],
  ['--monitor <name>', 'tensorboard, wandb, mlflow or another monitor'],
]

/** Earlier names of two of them. */
const EARLIER = ['--vllm-engine-num <n>', '--vllm-tp-size <n>']

/** Commands around the benchmark of the original: its runs, and pictures of several runs. */
export function addBenchmarkCommands(program: Command, done: (code: ExitCode) => void): void {
  const bench = program
    .command('bench-rft')
    .description(
      'run a benchmark: gsm8k, countdown, guru_math, alfworld or frozenlake, with the settings of the original',
    )
    .argument('<dataset>', 'which one')
  for (const [flags, description] of BENCH_OPTIONS) bench.option(flags, description)
  for (const flags of [...BENCH_OPTIONS.map(([one]) => one).filter(isCompound), ...EARLIER]) {
    if (EARLIER.includes(flags)) bench.addOption(new Option(flags).hideHelp())
    bench.addOption(new Option(underscored(flags)).hideHelp())
  }
  bench
    .option('--dlc', 'as of trinity run: on machines that a scheduler started together')
    .option('--out <dir>', 'folder in which the folder of the run is made', 'runs')
    .option('--set <key=value>', 'override any other key (may be repeated)', collect)
    .option('--plugin-dir <dir>', 'load plugins from here (may be repeated)', collect)
    .option('--dry-run', 'show the configuration, write and run nothing')
    .action(async (name, options) => done(await (await import('./bench-rft.js')).benchRft(name, options)))

  program
    .command('plot')
    .description('one chart of several runs: the mean of those that belong together, and how far they spread')
    .argument('<runs...>', 'folder of a run, or NAME=FOLDER,FOLDER for several that are averaged')
    .option('--key <name>', 'the number to draw; default the first evaluation, else the reward')
    .option('--axis <unit>', 'steps, tokens or seconds', 'steps')
    .option('-o, --out <file>', 'where the chart goes', 'chart.svg')
    .action(async (runs, options) => done(await (await import('./plot.js')).plot(runs, options)))

  program
    .command('find-context-length')
    .description('the longest sequences that this machine can train a model with: tries, each in a process of its own')
    .option('--model <dir>', 'the model: a directory, or an id on a hub')
    .option('-c, --config <file>', 'what to run instead of two steps of GRPO on random tokens')
    .option('--start <n>', 'the first length', '4096')
    .option('--step <n>', 'lengths are multiples of this; default the first length')
    .option('--most <n>', 'try nothing longer (131072)')
    .option('--memory <gib>', 'main memory that a run may hold; default 9 tenths of what is free')
    .option('--timeout <seconds>', 'a run that takes longer counts as failed', '2400')
    .option('-o, --out <dir>', 'folder of logs, chart and numbers', 'context-length')
    .option('--set <key=value>', 'override a key of the configuration (may be repeated)', collect)
    .action(async (options) => done(await (await import('./find-context-length.js')).findContextLength(options)))
}

function isCompound(flags: string): boolean {
  return flags.slice(2).includes('-')
}

/** `--node-num <n>` as `--node_num <n>` */
function underscored(flags: string): string {
  const [name, ...rest] = flags.split(' ')
  return [`--${name.slice(2).replaceAll('-', '_')}`, ...rest].join(' ')
}
