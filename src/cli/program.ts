/** The commands. Each file is one of them; what it needs is loaded when it runs. */

import type { Command } from 'commander'
import { redact } from '../base/secret/known.js'
import { addBenchmarkCommands } from './benchmark-commands.js'
import { collect } from './collect.js'
import { TrinityCommand } from './command.js'
import { WHERE } from './completion-scripts.js'
import { ownExample } from './own-example.js'
import type { ExitCode } from './print.js'
import { packageVersion } from './version.js'

const collectExamples = (path: string, before?: string[]) => collect(ownExample(path), before)

/**
 * Every command with its options. Handlers are imported when a command runs, so that `trinity --help` loads nothing
 * but this file. A handler returns the exit code.
 */
export function createProgram(done: (code: ExitCode) => void): Command {
  const program = new TrinityCommand('trinity')
    .description('Reinforcement fine-tuning of language models and agents')
    .version(packageVersion(), '-v, --version')
    .option('--debug', 'show stack traces')
    .showHelpAfterError('(trinity --help shows what there is)')
    .configureOutput({ writeErr: (text) => process.stderr.write(redact(text)) })
    .exitOverride()

  program
    .command('run')
    .description('run a configuration; the same command resumes where it stopped')
    .requiredOption('-c, --config <file>', 'YAML configuration', ownExample)
    .option('--plugin-dir <dir>', 'load workflows, algorithms and other plugins from here (may be repeated)', collect)
    .option('--set <key=value>', 'override a key of the configuration (may be repeated)', collect)
    .option('--fresh', 'delete what earlier runs with this name left, and start over')
    .option('--yes', 'with --fresh: do not ask')
    .option('--dry-run', 'check and show the resolved configuration, run nothing')
    .option('--json', 'with --dry-run: the resolved configuration as JSON')
    .option('--yaml', 'with --dry-run: the resolved configuration alone, without the plan')
    .option('--gpu-memory <size>', 'with --dry-run: compare the memory plan with a GPU of this size, such as 80GB')
    .option('--ray [address]', 'run as a job of a Ray cluster, whose dashboard is there; default cluster.ray_address')
    .option('--dlc', 'make a Ray cluster of the machines of RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, and use it')
    .option('--end-with-stdin', 'end when standard input closes: for programs that start runs')
    .action(async (options) => done(await (await import('./run.js')).run(options)))

  program
    .command('init')
    .description('a small project that trains at once: an agent or a data set, a reward with tests, a configuration')
    .argument('[folder]', 'where to put it; default the current folder if it is empty, else my-agent')
    .option('--have <what>', 'nothing, agent or data')
    .option('--sdk <name>', 'openai, ai-sdk, openai-agents, anthropic, langgraph, mastra or none')
    .option('--where <what>', 'cpu or gpu')
    .option('--data <file>', 'questions and answers: .jsonl, .csv, .parquet, …')
    .option('--prompt-key <name>', 'column of the questions; default the first with a usual name')
    .option('--response-key <name>', 'column of the answers, likewise')
    .option('--model <dir>', 'the model to train: a directory, or an id on a hub', ownExample)
    .option('--package <spec>', 'version, path or tarball of trinity-rft that the project asks for')
    .action(async (folder, options) => done(await (await import('./init.js')).init(folder, options)))

  program
    .command('sweep')
    .description('several runs, one table: configurations, values of keys, and seeds; the same command goes on')
    .argument('[file]', 'sweep file (docs/sweep.md)', ownExample)
    .option('-c, --config <file>', 'instead of a sweep file: a configuration (may be repeated)', collectExamples)
    .option('--set <key=value>', 'override a key in every run (may be repeated)', collect)
    .option(
      '--grid <key=a,b>',
      'one run for each value of a key (may be repeated: every one with every other)',
      collect,
    )
    .option('--seeds <list>', 'every run once with each seed: 1,2,3 or 1-3')
    .option('--metric <name>', 'the number that is compared; default the first evaluation')
    .option('--axis <unit>', 'compare where runs have spent the same: steps, tokens or seconds')
    .option('--parallel <n>', 'runs at a time, or auto; default 1')
    .option('--name <name>', 'name of the sweep and of its folder')
    .option('--plugin-dir <dir>', 'plugins of every run (may be repeated)', collect)
    .option('--fresh', 'delete what earlier runs of the sweep left, and start over')
    .option('--yes', 'with --fresh: do not ask')
    .option('--dry-run', 'show the runs, run nothing')
    .action(async (file, options) => done(await (await import('./sweep.js')).sweep(file, options)))

  addBenchmarkCommands(program, done)

  program
    .command('train')
    .description('train the model behind an agent; the same command resumes where it stopped')
    .argument('<file>', 'TypeScript or JavaScript file that calls agent(...)', ownExample)
    .requiredOption('--data <path>', 'tasks: a file, a folder, or an id on a hub', ownExample)
    .requiredOption('--model <dir>', 'the model to train: a directory, or an id on a hub', ownExample)
    .option('--split <name>', 'split of the data, default train')
    .option('--eval <path>', 'tasks that are not trained on, to see what was learned', ownExample)
    .option('--workflow <name>', 'which agent, where the file has several')
    .option('--name <name>', 'name of the run, default that of the agent')
    .option('--steps <n>', 'steps, each with all that its rollouts gave; default: once through the data')
    .option('--batch <n>', 'tasks in a step', '8')
    .option('--repeat <n>', 'rollouts of each task, compared with each other', '8')
    .option('--lr <x>', 'learning rate', '1e-5')
    .option('--length <n>', 'tokens of the longest conversation; default what the model allows, up to 8192')
    .option('--set <key=value>', 'set any other key of the configuration (may be repeated)', collect)
    .option('--print', 'print the configuration that this stands for, run nothing')
    .option('--fresh', 'delete what earlier runs with this name left, and start over')
    .option('--yes', 'with --fresh: do not ask')
    .option('--dry-run', 'check and show the resolved configuration, run nothing')
    .action(async (file, options) => done(await (await import('./train.js')).train(file, options)))

  program
    .command('debug')
    .description('keep the models of a configuration open and run single tasks against them')
    .requiredOption('-c, --config <file>', 'YAML configuration', ownExample)
    .requiredOption(
      '-m, --module <name>',
      'inference_model: open the models and serve them; workflow: run one task; viewer: look at what it made',
    )
    .option('--plugin-dir <dir>', 'load workflows and other plugins from here (may be repeated)', collect)
    .option('--set <key=value>', 'override a key of the configuration (may be repeated)', collect)
    .option('-t, --task <n>', 'number of the task in the first task set, from 0', '0')
    .option('-o, --output-dir <dir>', 'folder of experiences.db', 'debug_output')
    .option('--output-file <file>', 'write the experiences to this database instead')
    .option('--disable-overwrite', 'if the folder is not empty, use one with the time in its name')
    .option('--enable-profiling', 'write workflow.cpuprofile beside the experiences')
    .option('-p, --port <n>', 'with viewer: port; 0 is any that is free', '8502')
    .action(async (options) => done(await (await import('./debug.js')).debug(options)))

  program
    .command('log')
    .description('show the log files of a run and follow them')
    .option('-d, --log-dir <dir>', 'folder of the log files')
    .option('-c, --config <file>', 'configuration of the run, instead of the folder', ownExample)
    .option('--set <key=value>', 'with --config: as the run was started (may be repeated)', collect)
    .option('--plugin-dir <dir>', 'with --config: as the run was started (may be repeated)', collect)
    .option('-k, --keyword <text>', 'only files whose names contain this text')
    .option('-l, --level <level>', 'lowest level to show: DEBUG, INFO, WARNING or ERROR', 'INFO')
    .option('-n, --last-n-lines <n>', 'start with the last n lines of each file')
    .option('-p, --search-pattern <text>', 'start with the lines that contain this text, and the lines around them')
    .option('--no-color', 'plain text')
    .option('--no-follow', 'show what is there and exit')
    .action(async (options) => done(await (await import('./log.js')).log(options)))

  program
    .command('status')
    .description('show who works on a run: its processes, and the workers of its engines on every node')
    .option('-d, --job-dir <dir>', 'folder of the run')
    .option('-c, --config <file>', 'configuration of the run, instead of the folder', ownExample)
    .option('--set <key=value>', 'with --config: as the run was started (may be repeated)', collect)
    .option('--plugin-dir <dir>', 'with --config: as the run was started (may be repeated)', collect)
    .option('--json', 'machine-readable')
    .action(async (options) => done(await (await import('./status.js')).status(options)))

  program
    .command('studio')
    .description('show runs in a browser: their state, numbers, timeline, logs and rollouts')
    .argument('[folder...]', 'folders with runs; default the current one')
    .option('--plugin-dir <dir>', 'plugins for runs that are checked and started here (may be repeated)', collect)
    .option('-p, --port <n>', 'port; 0 is any that is free', '8080')
    .option('--host <address>', 'address to listen at', '127.0.0.1')
    .action(async (folders, options) => done(await (await import('./studio.js')).studio(folders, options)))

  program
    .command('view')
    .description('look at the experiences of one table or file, token by token: a page for the browser, until Ctrl-C')
    .option('--url <url>', 'sqlite:///file.db, postgresql://…, or the path of a .db or .jsonl file')
    .option('--table <name>', 'table; default the only one')
    .option('--tokenizer <dir>', 'model directory whose tokenizer gives the texts of tokens', ownExample)
    .option('-c, --config <file>', 'take what is not given from the configuration of a run', ownExample)
    .option('--set <key=value>', 'with --config: as the run was started (may be repeated)', collect)
    .option('--plugin-dir <dir>', 'with --config: as the run was started (may be repeated)', collect)
    .option('--schema <name>', 'experience, or sft: conversations first', 'experience')
    .option('-p, --port <n>', 'port; 0 is any that is free', '8502')
    .action(async (options) => done(await (await import('./view.js')).view(options)))

  const perf = program.command('perf').description('measure some steps of a job, and look at the result')
  perf
    .command('run')
    .description('run some steps and write down how long they took, how fast they were, and what they used')
    .requiredOption('-c, --config <file>', 'YAML configuration', ownExample)
    .option('-m, --module <name>', 'explorer: rollouts alone; both: rollouts and training', 'explorer')
    .option('-o, --output-path <file>', 'where the report goes', './perf/output.json')
    .option('--monitor-interval <seconds>', 'how often CPU, memory and GPUs are looked at', '2')
    .option('--total-steps <n>', 'steps to measure', '5')
    .option('--timeout <seconds>', 'give up after this time')
    .option('--plugin-dir <dir>', 'load workflows and other plugins from here (may be repeated)', collect)
    .option('--set <key=value>', 'override a key of the configuration (may be repeated)', collect)
    .action(async (options) => done(await (await import('./perf.js')).perfRun(options)))
  perf
    .command('view')
    .description('show a report in a browser')
    .requiredOption('-r, --report <file>', 'what perf run has written')
    .option('-p, --port <n>', 'port; 0 is any that is free', '8503')
    .action(async (options) => done(await (await import('./perf.js')).perfView(options)))

  const config = program.command('config').description('check configurations and describe every key')
  config
    .command('check')
    .description('report every problem in the given files')
    .argument('<files...>', 'YAML configurations')
    .option('--plugin-dir <dir>', 'load plugins from here first (may be repeated)', collect)
    .option('--set <key=value>', 'override a key of the configuration (may be repeated)', collect)
    .option('--json', 'problems as JSON')
    .action(async (files, options) => done(await (await import('./config.js')).configCheck(files, options)))
  config
    .command('schema')
    .description('print the JSON Schema of a configuration, for editors')
    .option('-o, --output <file>', 'write to a file')
    .action(async (options) => done(await (await import('./config.js')).configSchema(options)))
  config
    .command('docs')
    .description('print the reference of every key as Markdown')
    .option('-o, --output <file>', 'write to a file')
    .action(async (options) => done(await (await import('./config.js')).configDocs(options)))

  program
    .command('upgrade-config')
    .description('give older keys of configurations their present names; comments and order stay')
    .argument('<files...>', 'YAML configurations')
    .option('--write', 'change the files; without it the difference is shown')
    .action(async (files, options) => done(await (await import('./upgrade-config.js')).upgradeConfig(files, options)))

  program
    .command('import-verl')
    .description('turn a veRL launch script or YAML into a Trinity configuration')
    .argument('<script>', 'shell script or YAML; - reads standard input')
    .option('-o, --output <file>', 'write to a file instead of standard output')
    .option('--force', 'overwrite the output file')
    .option('--scale-steps', 'multiply numbers of steps by sync_interval, to train as much as veRL does')
    .action(async (script, options) => done(await (await import('./import-verl.js')).importVerl(script, options)))

  program
    .command('doctor')
    .description('report what this machine can run and what is missing')
    .option('--plugin-dir <dir>', 'report on the engines of plugins too (may be repeated)', collect)
    .option('--json', 'machine-readable')
    .action(async (options) => done(await (await import('./doctor.js')).doctor(options)))

  const setup = program.command('setup').description('install what engines need besides this package')
  setup
    .command('torch')
    .description('set up the Python environment of the torch engine; shows the download size and asks first')
    .option('--dir <dir>', 'folder of the environment; default ~/.trinity/python')
    .option('--cpu', 'install the build without CUDA, a tenth of the size')
    .option('--python <command>', 'Python to create it with; default python3')
    .option('--index-url <url>', 'package index; default: what pip is configured to use')
    .option('--torch-index-url <url>', 'package index for torch only')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show what would be done')
    .action(async (options) => done(await (await import('./setup.js')).setupTorch(options)))

  program
    .command('play')
    .description('play a world yourself, or watch a model play it; without a name, list the worlds')
    .argument('[world]', 'name of an environment')
    .option('--args <key=value...>', 'arguments of the world')
    .option('--row <json>', 'the row to play, as a JSON object')
    .option('--data <path>', 'file, folder or id of a data set to take the row from', ownExample)
    .option('--split <name>', 'split of the data set, default train')
    .option('--task <n>', 'number of the row, from 0', '0')
    .option('--seed <n>', 'seed of what the row leaves open', '0')
    .option('--max-steps <n>', 'steps of an episode, default the limit of the world')
    .option('--model <dir>', 'let this model play: a directory or an id on a hub', ownExample)
    .option('--episodes <n>', 'with --model: play so many, each with the next row or seed', '1')
    .option('--temperature <t>', 'with --model: of its replies', '0')
    .option('--max-tokens <n>', 'with --model: longest reply', '512')
    .option('--quiet', 'with --model: only how each episode ends')
    .option('--plugin-dir <dir>', 'load environments and other plugins from here (may be repeated)', collect)
    .action(async (world, options) => done(await (await import('./play.js')).play(world, options)))

  program
    .command('chat')
    .description('talk to a model: a directory, an id on a hub, or what a run has trained')
    .argument('<model>', 'model directory, folder of a run, its YAML configuration, or an id on a hub', ownExample)
    .argument('[question...]', 'answer this and end; without it, a conversation, or what standard input holds')
    .option('--system <text>', 'rules for the model')
    .option('--temperature <t>', 'of its replies; 0: always the likeliest token', '0.7')
    .option('--max-tokens <n>', 'longest reply', '512')
    .option('--seed <n>', 'of what is left to chance', '0')
    .option('--compare <model>', 'a second model that answers beside it', ownExample)
    .option('--probs [n]', 'show the probability of every token, and the n likeliest instead of it (3)')
    .option('--plain', 'no chat: the model goes on with the text')
    .option('--set <key=value>', 'with a YAML configuration: as the run was started (may be repeated)', collect)
    .action(async (model, words, options) => done(await (await import('./chat.js')).chat(model, words, options)))

  program
    .command('serve')
    .description(
      'a model behind the APIs that agents speak; to learn from what they ask, run a configuration of mode serve',
    )
    .argument('<model>', 'model directory, folder of a run, its YAML configuration, or an id on a hub', ownExample)
    .option('--host <address>', 'where to listen; one that others reach needs a key', '127.0.0.1')
    .option('--port <n>', 'port, or 0 for any that is free', '8000')
    .option('--api-key-env <name>', 'environment variable with the key that clients must give')
    .option('--name <name>', 'what GET /v1/models calls it; default that of the folder')
    .option('--temperature <t>', 'where a request says none', '1')
    .option('--max-tokens <n>', 'longest reply, where a request says none', '1024')
    .option('--seed <n>', 'of what is left to chance', '0')
    .option('--strict', 'refuse unknown request fields and hosted tools instead of ignoring them')
    .option('--set <key=value>', 'with a YAML configuration: as the run was started (may be repeated)', collect)
    .action(async (model, options) => done(await (await import('./serve.js')).serve(model, options)))

  program
    .command('convert')
    .description('turn checkpoints into Hugging Face directories, or a model into GGUF')
    .requiredOption(
      '-c, --checkpoint-dir <dir>',
      'folder of runs, of one checkpoint, or any path inside one; a model for --to',
    )
    .option(
      '-b, --base-model-dir <dir>',
      'model directory with config.json and tokenizer, where the checkpoint has none',
    )
    .option('-s, --step <list>', 'only these steps: 100,200')
    .option('--to <format>', 'hf (Hugging Face), gguf (llama.cpp) or ollama (GGUF and a Modelfile)', 'hf')
    .option('--type <type>', 'with gguf and ollama: f32, f16, bf16, q8_0, q4_0 or q4_k_m; default f16')
    .option('--dtype <type>', 'with hf: bfloat16, or keep what the checkpoint has; default bfloat16')
    .option(
      '-o, --out <path>',
      'write here: any one checkpoint as a directory, the GGUF file, or the folder for Ollama',
    )
    .option('--overwrite', 'take the place of what --out names')
    .action(async (options) => done(await (await import('./convert.js')).convert(options)))

  const data = program
    .command('data')
    .description('make task sets: lists them, or makes the one that is named')
    .argument('[name]', 'which one; its own options follow (trinity data <name> --help)')
    .argument('[options...]')
    .option('--out <dir>', 'folder to write to; default data/<name>')
    .option('--verify', 'compare the files of the folder with what was written')
    .option('--plugin-dir <dir>', 'load plugins from here first (may be repeated)', collect)
    // What else may follow depends on the name.
    .allowUnknownOption()
    .helpOption(false)
  data.action(async (name, words, options) =>
    done(await (await import('./data.js')).data(name, words, options, () => data.helpInformation())),
  )

  const model = program.command('model').description('create and inspect model directories')
  model
    .command('new')
    .description('create a small model with random weights and a tokenizer')
    .requiredOption('--out <dir>', 'directory to create')
    .option('--arch <family>', 'llama, mistral, qwen2 or qwen3', 'llama')
    .option('--head <head>', 'lm, sequence (reward model) or token (critic)', 'lm')
    .option('--layers <n>', 'default 4')
    .option('--hidden <n>', 'default 128')
    .option('--heads <n>', 'default 4')
    .option('--kv-heads <n>', 'heads for keys and values, default the number of heads')
    .option('--head-dim <n>', 'default hidden / heads')
    .option('--intermediate <n>', 'default 8/3 of hidden')
    .option('--vocab <n>', 'rows of the embedding, default the number of tokens of the tokenizer')
    .option('--max-positions <n>', 'longest sequence, default 1024')
    .option('--tokenizer <kind>', 'bytes, chars:… (the characters it knows), or from:DIR', 'bytes')
    .option('--chat-template <jinja>', 'Jinja source or a file; default one token per role')
    .option('--seed <n>', 'seed of the weights, default 0')
    .option('--dtype <type>', 'f32, f16 or bf16', 'f32')
    .option('--tie', 'share input and output embeddings')
    .option('--force', 'replace the directory if it exists')
    .action(async (options) => done(await (await import('./model.js')).modelNew(options)))
  model
    .command('info')
    .description('check a model directory and show what it holds and needs')
    .argument('<dir>', 'Hugging Face model directory', ownExample)
    .option('--json', 'machine-readable')
    .action(async (dir, options) => done(await (await import('./model.js')).modelInfo(dir, options)))

  program
    .command('completion')
    .description('commands and options at the tab key: prints a script for bash, zsh or fish')
    .argument('[shell...]', 'bash, zsh or fish')
    .option('--words', 'what the script asks: the arguments are the words of a line')
    .addHelpText('after', WHERE)
    .action(async (given, { words }) => done(await (await import('./completion.js')).completion(program, given, words)))

  return program
}
