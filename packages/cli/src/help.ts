import type { Command } from './command.ts'
import type { Paint } from './terminal.ts'

const COMMON = `  --json        the result as JSON on standard output, failures as JSON on standard error
  --url <url>   the service, in place of the one of the login
  -h, --help    this text`

/** All commands, a line each. */
export function overview(commands: Record<string, Command>, paint: Paint): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, summary }]) => `  ${paint('bold', name.padEnd(7))} ${usage.padEnd(50)} ${summary}`,
  )
  return `Lockstep in a terminal.

${paint('bold', 'lockstep <command>')}

${lines.join('\n')}
  ${paint('bold', 'help'.padEnd(7))} ${'[command]'.padEnd(50)} all that a command takes

Everywhere:
${COMMON}

A board, a column or a card is named by its id, its title, or the beginning of either, as long as only one has it.
LOCKSTEP_URL and LOCKSTEP_TOKEN take the place of a login. NO_COLOR turns colours off.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not logged in, 4 not found.`
}

export const helpOf = (name: string, { usage, summary, help }: Command, paint: Paint) =>
  [paint('bold', `lockstep ${name} ${usage}`.trimEnd()), `  ${summary}`, ...(help ? [help] : []), COMMON].join('\n\n')
