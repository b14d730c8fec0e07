import type { ParseArgsConfig } from 'node:util'
import type { Client } from '@lockstep/client'
import type { Paint } from './terminal.ts'

/** The input of a command. */
export interface Context {
  /** The positional arguments; their number has been checked. */
  args: string[]
  values: Record<string, string | boolean | undefined>
  isJson: boolean
  paint: Paint
  /** A client for the logged-in user. Throws if there is none. */
  client: () => Client
  /** Prints the result: JSON with `--json`, otherwise text. */
  print: (data: unknown, text: string | (() => string)) => void
}

export interface Command {
  /** Shown in the list of commands. */
  summary: string
  /** The arguments: `<required>`, `[optional]`. */
  usage: string
  options?: NonNullable<ParseArgsConfig['options']>
  /** Additional text of `help <command>`. */
  help?: string
  run: (context: Context) => Promise<void>
}

/** The value of an option, if given. */
export const textOption = ({ values }: Context, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}
