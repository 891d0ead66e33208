import { TrinityError } from '../../base/error.js'
import { evaluateArithmetic } from './arith.js'
import { expandBraces } from './braces.js'
import { evaluateTest, not, type Truth } from './condition.js'
import { expandSource, expandText, expandWord } from './expand.js'
import { findLaunch, type Launch, mentionsLaunch } from './launch.js'
import { type ArrayLiteral, plainText, tokenize, type Word } from './lexer.js'
import { listsOf } from './list.js'
import { globToRegExp } from './pattern.js'
import { ASSIGNMENT, assigns, headOf, isAssignment, jumps, launchesIn, stops, withoutHead } from './query.js'
import { slurmVariables } from './slurm.js'
import { type Node, parseShell } from './syntax.js'
import { assumeUnset, Variables } from './variables.js'

export interface ScriptReading {
  launches: Launch[]
  variables: Variables
  /** What was assumed or left out, each with its line. */
  notes: string[]
}

/** Reads a script without running anything: follows assignments and branches up to the commands that launch veRL. */
export function readScript(text: string, scriptName: string): ScriptReading {
  const walker = new Walker(new Variables(scriptName))
  for (const [name, value] of slurmVariables(text)) walker.variables.set(name, value)
  walker.run(parseShell(tokenize(text)))
  return { launches: walker.launches, variables: walker.variables, notes: [...walker.notes] }
}

const DECLARERS = new Set(['export', 'local', 'declare', 'readonly', 'typeset'])
const MAX_STEPS = 20_000
const MAX_CALLS = 30
/** Commands within one loop; one that waits for something has no end here. */
const MAX_LOOP_STEPS = 5000

class Walker {
  readonly launches: Launch[] = []
  readonly notes = new Set<string>()
  readonly variables: Variables
  readonly #functions = new Map<string, Node>()
  #steps = 0
  #calls = 0
  #loops = 0
  /** What `break` or `continue` asked for, until the loops it leaves have heard of it. */
  #jump?: { readonly ends: boolean; readonly levels: number }

  constructor(variables: Variables) {
    this.variables = variables
  }

  /** Walks a node; its exit status where it is known. */
  run(node: Node): Truth {
    if (this.#jump) return undefined
    if (++this.#steps > MAX_STEPS)
      throw new TrinityError('verl/shell-limit', 'the script does not end within 20000 commands', {
        hint: 'import only the part that launches veRL',
      })
    switch (node.type) {
      case 'list': {
        let truth: Truth = true
        for (const child of node.nodes) truth = this.run(child)
        return truth
      }
      case 'simple':
        return this.#simple(node)
      case 'test':
        return evaluateTest(node.tokens, this.variables)
      case 'arith': {
        const value = this.#arithmetic(node.body, node.line, true)
        return value === undefined ? undefined : value !== 0
      }
      case 'not':
        return not(this.run(node.node))
      case 'pipe':
        for (const child of node.nodes) this.#apart(child)
        return undefined
      case 'subshell':
        return this.#apart(node.body)
      case 'chain':
        return this.#chain(node)
      case 'if':
        return this.#if(node)
      case 'while':
        return this.#while(node)
      case 'for':
        return this.#for(node)
      case 'count':
        return this.#count(node)
      case 'case':
        return this.#case(node)
      case 'function':
        this.#functions.set(node.name, node.body)
        return true
    }
  }

  /** What runs in a shell of its own is in none of the loops around it: `break` does nothing there. */
  #apart(node: Node): Truth {
    const loops = this.#loops
    this.#loops = 0
    try {
      return this.run(node)
    } finally {
      this.#loops = loops
    }
  }

  #chain(node: Extract<Node, { type: 'chain' }>): Truth {
    const left = this.run(node.left)
    const wanted = node.operator === '&&'
    if (left === !wanted) return left
    // With an unknown left side `a && b` most often guards a step that is wanted, `a || b` one that is an emergency.
    if (left === undefined && !wanted && !launchesIn(node.right)) return undefined
    if (left === undefined && jumps(node.right)) return undefined
    if (stops(node.right)) return left
    return this.run(node.right)
  }

  #if(node: Extract<Node, { type: 'if' }>): Truth {
    let open: Node | undefined
    for (const clause of node.clauses) {
      const truth = this.run(clause.condition)
      if (truth === false) continue
      if (truth === true && !stops(clause.body)) return this.run(clause.body)
      if (truth === undefined) open ??= stops(clause.body) ? undefined : clause.body
    }
    if (open === undefined) return node.otherwise && !stops(node.otherwise) ? this.run(node.otherwise) : true
    const branches = [...node.clauses.map((clause) => clause.body), ...(node.otherwise ? [node.otherwise] : [])]
    const chosen = branches.find(launchesIn) ?? (node.otherwise && !stops(node.otherwise) ? node.otherwise : undefined)
    if (branches.some(assigns) || branches.some(launchesIn)) {
      const taken =
        chosen === undefined
          ? 'the branch was skipped'
          : chosen === node.otherwise
            ? 'the else branch was taken'
            : 'the branch that launches veRL was taken'
      this.notes.add(`line ${node.line}: the condition of this 'if' is not known before the script runs; ${taken}`)
    }
    return chosen ? this.run(chosen) : true
  }

  #while(node: Extract<Node, { type: 'while' }>): Truth {
    return this.#loop(node, () => {
      const truth = this.run(node.condition)
      return node.until ? not(truth) : truth
    })
  }

  /** `for ((start; condition; step))`. */
  #count(node: Extract<Node, { type: 'count' }>): Truth {
    const [start = '', condition = '', step = ''] = node.head.split(';')
    const each = (list: string) => list.split(',').forEach((one) => void this.#arithmetic(one, node.line))
    if (start.trim() !== '') each(start)
    return this.#loop(
      node,
      () => {
        const value = condition.trim() === '' ? 1 : this.#arithmetic(condition, node.line)
        return value === undefined ? undefined : value !== 0
      },
      () => step.trim() !== '' && each(step),
    )
  }

  /** Reads rounds for as long as the condition is known to hold. */
  #loop({ line, body }: { line: number; body: Node }, holds: () => Truth, step?: () => void): Truth {
    const last = this.#steps + MAX_LOOP_STEPS
    let before: string | undefined
    for (let truth = holds(); truth !== false; truth = holds()) {
      if (launchesIn(body)) {
        this.notes.add(`line ${line}: only the first iteration of this loop was read`)
        this.#round(body)
        return true
      }
      if (truth === undefined || this.#steps > last) {
        const why =
          truth === undefined ? 'when this loop ends is not known before the script runs' : 'this loop is too long'
        const read = before === undefined ? 'it was skipped' : 'it was not read to its end'
        if (assigns(body)) this.notes.add(`line ${line}: ${why}; ${read}`)
        return true
      }
      if (!this.#round(body)) return true
      step?.()
      // A loop that waits: every further round would be the same.
      const after = this.variables.state()
      if (after === before) return true
      before = after
    }
    return true
  }

  /** One round of a loop; false: it is the last. */
  #round(body: Node): boolean {
    this.#loops++
    try {
      this.run(body)
    } finally {
      this.#loops--
    }
    const jump = this.#jump
    if (!jump) return true
    this.#jump = jump.levels > 1 && this.#loops > 0 ? { ...jump, levels: jump.levels - 1 } : undefined
    return jump.levels === 1 && !jump.ends
  }

  #for(node: Extract<Node, { type: 'for' }>): Truth {
    const lists = listsOf(node.words, this.variables)
    const values = lists.flatMap((list) => list.values)
    const rounds = launchesIn(node.body) ? values.slice(0, 1) : values
    if (values.length > rounds.length) {
      this.notes.add(
        `line ${node.line}: the loop runs for ${values.join(', ')}; only ${node.name}=${values[0]} was imported`,
      )
    }
    if (assigns(node.body) && !lists.every((list) => list.isKnown)) {
      const what = `what this loop runs over is not known before the script runs: ${values.join(', ')}`
      this.notes.add(`line ${node.line}: ${what}`)
    }
    for (const value of rounds) {
      this.variables.set(node.name, value)
      if (!this.#round(node.body)) break
    }
    return true
  }

  #case(node: Extract<Node, { type: 'case' }>): Truth {
    const text = assumeUnset(expandText(node.word, this.variables))
    for (const clause of node.clauses) {
      const patterns = clause.patterns.map((word) => expandText(word, this.variables))
      const hit =
        text === undefined
          ? launchesIn(clause.body)
          : patterns.some((glob) => globToRegExp(glob, { whole: true })?.test(text))
      if (hit) return stops(clause.body) ? true : this.run(clause.body)
    }
    if (text === undefined)
      this.notes.add(`line ${node.line}: the word of this 'case' is not known before the script runs; it was skipped`)
    return true
  }

  #simple(node: Extract<Node, { type: 'simple' }>): Truth {
    const rest = [...node.items]
    const leading: (Word | ArrayLiteral)[] = []
    while (rest.length > 0 && isAssignment(rest[0])) leading.push(rest.shift()!)
    const words = rest.filter((item): item is Word => item.kind === 'word')
    const name = plainText(words[0])
    if (name !== undefined && DECLARERS.has(name)) {
      for (const item of rest.slice(1)) this.#declare(item, name === 'export')
      return true
    }
    for (const item of leading) this.#assign(item)
    for (const document of node.heredocs) {
      if (mentionsLaunch(document.body)) {
        this.#nested(
          document.literal ? document.body : expandSource(document.body, this.variables, document.line, 0),
          document.line,
        )
      }
    }
    if (words.length === 0) return true
    return this.#command(words, node.line)
  }

  #command(words: Word[], line: number): Truth {
    const name = plainText(words[0])
    if (name === '[' || name === 'test')
      return evaluateTest(name === '[' ? words.slice(1, -1) : words.slice(1), this.variables)
    const fields = words.flatMap((word) => expandWord(word, this.variables))
    const command = fields[0] ?? ''
    const body = this.#functions.get(command)
    if (body !== undefined) return this.#call(body, fields.slice(1))
    if (command === 'true' || command === ':') return true
    if (command === 'false') return false
    if ((command === 'break' || command === 'continue') && this.#loops > 0) {
      this.#jump = { ends: command === 'break', levels: Math.max(1, Number(fields[1] ?? 1) || 1) }
      return true
    }
    if (command === 'eval') return this.#nested(fields.slice(1).join(' '), line)
    if (!this.#builtin(command, fields.slice(1), line)) this.#launch(fields, words, line)
    return undefined
  }

  /** Commands of the shell that change variables; false when it is none of them. */
  #builtin(command: string, args: string[], line: number): boolean {
    const variables = this.variables
    if (command === 'set' && args[0] === '--') variables.positional = args.slice(1)
    else if (command === 'shift') variables.positional = variables.positional?.slice(Number(args[0] ?? 1) || 1)
    else if (command === 'unset') args.forEach((name) => void variables.unset(name))
    else if (command === 'let') args.forEach((text) => void this.#arithmetic(text, line))
    else if (command === 'read') {
      const names = args.filter((name) => /^[A-Za-z_]\w*$/.test(name))
      names.forEach((name) => void variables.set(name, variables.markUnknown(`read ${name}`, line)))
    } else if (command === 'source' || command === '.') {
      this.notes.add(
        `line ${line}: the file ${args[0] ?? ''} is not read; what it assigns is taken from the environment`,
      )
    } else return false
    return true
  }

  #launch(fields: string[], words: Word[], line: number): void {
    const launch = findLaunch(fields, line)
    if (launch) {
      const passed = words.some((word) => word.parts.some((part) => part.kind === 'param' && /^[@*]/.test(part.body)))
      if (passed && this.variables.positional === undefined)
        this.notes.add(`line ${line}: arguments given to the script ($@) are not known; none were taken`)
      this.launches.push(launch)
      return
    }
    const script = fields.find((field) => /\s/.test(field) && mentionsLaunch(field))
    if (script !== undefined && !/^(echo|printf)$/.test(fields[0])) this.#nested(script, line)
    else if (/^[+~]{0,2}(data|actor_rollout_ref|algorithm|trainer|critic|reward_model)\.[\w.]+=/.test(fields[0])) {
      this.notes.add(
        `line ${line}: '${fields[0]}' is cut off from the command above (a comment or a missing \\ before it); bash would not pass it on, so it is left out`,
      )
    }
  }

  /** Shell code in a text: `eval`, `bash -c "…"`, a here-document. Text that is no shell code is left alone. */
  #nested(text: string, line: number): Truth {
    if (++this.#calls > MAX_CALLS)
      throw new TrinityError('verl/shell-limit', 'commands are nested over 30 deep', { path: `line ${line}` })
    try {
      return this.run(parseShell(tokenize(text)))
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code !== 'verl/shell-syntax') throw error
      this.notes.add(`line ${line}: the text given to this command could not be read (${error.message})`)
      return undefined
    } finally {
      this.#calls--
    }
  }

  #call(body: Node, args: string[]): Truth {
    if (++this.#calls > MAX_CALLS)
      throw new TrinityError('verl/shell-limit', 'functions call each other more than 30 deep')
    const outer = this.variables.positional
    this.variables.positional = args
    try {
      return this.run(body)
    } finally {
      this.variables.positional = outer
      this.#calls--
    }
  }

  #declare(item: Word | ArrayLiteral, exported: boolean): void {
    if (isAssignment(item)) this.#assign(item)
    const name = item.kind === 'array' ? item.name : ASSIGNMENT.exec(headOf(item))?.[1]
    if (exported && name !== undefined) this.variables.exported.add(name)
  }

  #assign(item: Word | ArrayLiteral): void {
    if (item.kind === 'array') {
      const words = item.words.flatMap((word) => expandBraces(word) ?? [word])
      const values = words.flatMap((word): [string | undefined, string][] => {
        const keyed = /^\[([^\]]+)\]=/.exec(headOf(word))
        if (!keyed) return expandWord(word, this.variables).map((value) => [undefined, value])
        return [[keyed[1], expandText(withoutHead(word, keyed[0].length), this.variables)]]
      })
      this.variables.setArray(item.name, values, item.append)
      return
    }
    const [head, name, index, plus] = ASSIGNMENT.exec(headOf(item))!
    const value = expandText(withoutHead(item, head.length), this.variables)
    if (index === undefined) this.variables.set(name, value, plus === '+')
    else this.variables.setArray(name, [[expandSource(index, this.variables, item.line, 0), value]], true)
  }

  /** `((x = 1))`, `((x++))` and `let`: a single assignment or a value. In a test, names that nothing sets are 0. */
  #arithmetic(body: string, line: number, test = false): number | undefined {
    const expanded = expandSource(body, this.variables, line, 0)
    const text = test ? (assumeUnset(expanded) ?? expanded) : expanded
    const step = /^\s*(?:([A-Za-z_]\w*)\s*(\+\+|--)|(\+\+|--)\s*([A-Za-z_]\w*))\s*$/.exec(text)
    const assignment = step
      ? [text, step[1] ?? step[4], (step[2] ?? step[3])[0], '1']
      : /^\s*([A-Za-z_]\w*)\s*([-+*/%]?)=(?!=)([\s\S]*)$/.exec(text)
    const source = assignment
      ? assignment[2]
        ? `${assignment[1]} ${assignment[2]} (${assignment[3]})`
        : assignment[3]
      : text
    const value = evaluateArithmetic(source, (name) => this.variables.get(name) ?? (test ? '0' : undefined))
    if (assignment)
      this.variables.set(
        assignment[1],
        value === undefined ? this.variables.markUnknown(`((${body.trim()}))`, line) : String(value),
      )
    return value
  }
}
