import { type ParseArgsConfig, parseArgs } from 'node:util'
import { VERSION } from './version.ts'

type Options = NonNullable<ParseArgsConfig['options']>
interface CommandLine<O extends Options> {
  /** Printed by `--help`. The first line is the command. */
  help: string
  options?: O
  allowPositionals?: boolean
  args?: string[]
}

/** Exit code of a command that was not understood, as in most command lines. */
const WRONG_USAGE = 2

/** Parses the arguments of a command. `--help` and `--version` end the process, and so does an argument that is not understood. */
export function readArguments<const O extends Options = Record<never, never>>({
  help,
  options,
  allowPositionals = false,
  args = process.argv.slice(2),
}: CommandLine<O>) {
  const shared = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const
  const { values, positionals } = attempt(() =>
    parseArgs({ args, allowPositionals, options: { ...shared, ...(options as O) } }),
  )
  const { help: wantsHelp, version } = values as { help?: boolean; version?: boolean }
  if (wantsHelp) printAndExit(help)
  if (version) printAndExit(VERSION)
  return { values, positionals: positionals as string[] }
}

/** Ends the process with a sentence about a wrong argument. */
export function exitWithUsage(sentence: string): never {
  console.error(sentence)
  process.exit(WRONG_USAGE)
}

function printAndExit(text: string): never {
  console.log(text)
  process.exit(0)
}

function attempt<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    // Only the first sentence: the rest explains how to pass a positional argument that begins with a dash.
    const [sentence = ''] = (error as Error).message.split(/\.\s/)
    return exitWithUsage(`${sentence.replace(/\.$/, '')}. See --help.`)
  }
}
