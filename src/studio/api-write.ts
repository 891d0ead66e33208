import type { Json } from './api.js'

/** Types of the page that writes a run: its form, what is wrong with it, what it would do. */

/** Everything that a form of the configuration needs to know, from the schema and the registries. */
export interface Form {
  /** By name; `Config` is the whole. */
  readonly records: Readonly<Record<string, FormRecord>>
  /** The keys that most runs set, in groups: they come first. */
  readonly common: readonly FormGroup[]
  /** What drop-downs offer, by the name that `FormField.choices` gives. */
  readonly choices: Readonly<Record<string, readonly Choice[]>>
  /** Folders whose plugins are among the choices. */
  readonly plugins: readonly string[]
}

export interface FormGroup {
  readonly title: string
  readonly keys: readonly string[]
  /** Only with algorithms of these schemas. */
  readonly schemas?: readonly string[]
  /** Only where this key is set, or is not. */
  readonly when?: string
  readonly unless?: string
}

export interface FormRecord {
  readonly doc: string
  readonly fields: readonly FormField[]
}

export type FormKind = 'int' | 'float' | 'bool' | 'str' | 'enum' | 'list' | 'map' | 'dict' | 'any' | 'record'

export interface FormField {
  readonly key: string
  readonly kind: FormKind
  /** One line. */
  readonly doc: string
  /** Absent: it must be given, or `auto` says what it becomes. */
  readonly default?: Json
  /** What a value left out becomes, in words. */
  readonly auto?: string
  /** `s`, `tokens`, `steps`. */
  readonly unit?: string
  /** Of an enumeration. */
  readonly values?: readonly string[]
  /** Values beside those are taken as well. */
  readonly isOpen?: boolean
  /** Name of a list in `Form.choices`. */
  readonly choices?: string
  /** The key beside it whose choice says which arguments these are. */
  readonly argsOf?: string
  /** Of the elements of a list or map. */
  readonly item?: FormField
  /** Name of a record in `Form.records`. */
  readonly record?: string
  readonly isSecret?: boolean
  /** It is there for existing files: why it does nothing. */
  readonly noEffect?: string
}

/** An entry of a registry. */
export interface Choice {
  readonly name: string
  readonly doc?: string
  /** Absent: not known. */
  readonly args?: readonly FormField[]
  /** Of an algorithm: what the trainer reads. */
  readonly schema?: string
}

/** A finding, in the words of `trinity config check`. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning' | 'note'
  readonly code: string
  /** `buffer.batch_size`; '' for the text as a whole. */
  readonly key: string
  readonly message: string
  readonly hint?: string
  /** From 1; absent: it stands in another file, or nowhere. */
  readonly line?: number
  readonly column?: number
  /** Another file, which the text extends. */
  readonly file?: string
}

export interface CheckQuery {
  readonly text: string
  /** Where it will be saved: what it names beside itself is looked for there. */
  readonly place?: Place
  /** With the resolved configuration, as a dry run prints it. */
  readonly isFull?: boolean
}

export interface CheckAnswer {
  readonly ok: boolean
  readonly problems: readonly ConfigProblem[]
  /** What it would do; absent: it could not be made sense of. */
  readonly stages?: readonly PlannedStage[]
  readonly warnings: readonly string[]
  /** The first stage with every value filled in; secrets are `***`. */
  readonly values?: Json
  /** All stages, as a dry run prints them. */
  readonly yaml?: string
}

export interface PlannedStage {
  readonly name?: string
  readonly plan: readonly (readonly [label: string, text: string])[]
  /** Folder of the run. */
  readonly dir: string
  /** It lies below the folders of this Studio: the run can be started and watched here. */
  readonly isInside: boolean
  /** Of the run in that folder, if there is one. */
  readonly run?: string
}

export interface Template {
  /** `quickstart/quickstart.yaml` */
  readonly name: string
  readonly doc: string
}

export interface TemplateList {
  readonly templates: readonly Template[]
}

/** Configurations below the folders. */
export interface FileList {
  readonly files: readonly Place[]
}

/** A text to begin with. */
export interface SourceText {
  readonly text: string
  /** Where it is from, in words. */
  readonly from: string
  /** What a person should know about it. */
  readonly notes: readonly string[]
  /** Where it lies below the folders: saving writes it there. */
  readonly place?: Place
}

export interface ImportQuery {
  readonly text: string
}

/** A file below one of the folders. */
export interface Place {
  /** As it was given to Studio. */
  readonly folder: string
  /** `countdown.yaml`, `more/countdown.yaml` */
  readonly path: string
}

export interface SaveQuery extends Place {
  readonly text: string
  /** Takes the place of another text. */
  readonly isSure?: boolean
}

export interface SaveAnswer {
  /** Absolute. */
  readonly file: string
}

export interface StartQuery extends SaveQuery {
  /** Deletes what earlier runs of this name have left. */
  readonly isFresh?: boolean
}

/** A process that this Studio has started. It goes on without it. */
export interface Started {
  readonly pid: number
  readonly file: string
  /** Of the run that it makes: there as soon as it has made its folder. */
  readonly run: string
  readonly began: number
  /** Absent: it runs. */
  readonly exit?: string
  /** Its last lines. */
  readonly output: readonly string[]
}

export interface StartedList {
  readonly started: readonly Started[]
}

export interface ExportQuery {
  readonly step: number
  /** `hf` is a directory; `f16`, `q4_k_m` and others are GGUF files. */
  readonly type: string
  /** Takes the place of an earlier export. */
  readonly isSure?: boolean
}

/** A checkpoint that this Studio writes, or has written, as a file for other programs. */
export interface Exported {
  readonly step: number
  readonly type: string
  /** Absolute. */
  readonly file: string
  readonly began: number
  /** Absent: it is under way. */
  readonly exit?: string
  /** The last lines of the process. */
  readonly output: readonly string[]
}

export interface ExportList {
  /** Where exports of this run are put. */
  readonly folder: string
  readonly types: readonly string[]
  /** Latest first. */
  readonly exports: readonly Exported[]
}

export interface StopQuery {
  /** Without finishing the step. */
  readonly isNow?: boolean
}

export interface StopAnswer {
  /** Processes that were told. */
  readonly pids: readonly number[]
}
