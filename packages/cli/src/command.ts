import type { ParseArgsConfig } from 'node:util'
import type { Client } from '@lockstep/client'
import type { Paint } from './terminal.ts'

/** What a command is given to work with. */
export interface Context {
  /** The words behind the command's name, as many as its usage asks for. */
  args: string[]
  values: Record<string, string | boolean | undefined>
  is_json: boolean
  paint: Paint
  /** The client of whoever is logged in. It ends the command when nobody is. */
  client: () => Client
  /** Prints the result: as JSON for `--json`, as text for people. */
  print: (data: unknown, text: string | (() => string)) => void
}

export interface Command {
  /** One line for the list of commands. */
  summary: string
  /** What stands behind the name: `<needed>`, `[optional]`. */
  usage: string
  options?: NonNullable<ParseArgsConfig['options']>
  /** What `help <command>` adds to that. */
  help?: string
  run: (context: Context) => Promise<void>
}

/** An option with a value, if it was given. */
export const textOption = ({ values }: Context, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}
