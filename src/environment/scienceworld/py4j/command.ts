import { encodeArgument, type JavaArgument, JavaReference } from './value.js'

/** A command as it is sent: its name, its lines, and the line that ends it. */
export type Command = string

/** Something that has methods: an object, or a class for its static ones. */
export type Target = JavaReference | string

export function construct(className: string, ...args: readonly JavaArgument[]): Command {
  return `i\n${className}\n${lines(args)}e\n`
}

export function call(target: Target, method: string, ...args: readonly JavaArgument[]): Command {
  const on = target instanceof JavaReference ? target.id : `z:${target}`
  return `c\n${on}\n${method}\n${lines(args)}e\n`
}

/** Java lets go of the object. */
export function free({ id }: JavaReference): Command {
  return `m\nd\n${id}\ne\n`
}

function lines(args: readonly JavaArgument[]): string {
  return args.map((arg) => `${encodeArgument(arg)}\n`).join('')
}
