import type { Command } from './command.ts'
import type { Paint } from './terminal.ts'

const COMMON = `  --json        print the result as JSON on stdout, errors as JSON on stderr
  --url <url>   URL of the service (default: the one you logged in to)
  --version     print the version
  -h, --help    show this help`

/** Lists all commands. */
export function overview(commands: Record<string, Command>, paint: Paint): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, summary }]) => `  ${paint('bold', name.padEnd(10))} ${usage.padEnd(50)} ${summary}`,
  )
  return `Lockstep command line.

${paint('bold', 'lockstep <command>')}

${lines.join('\n')}
  ${paint('bold', 'help'.padEnd(10))} ${'[command]'.padEnd(50)} show the help of a command

Options of all commands:
${COMMON}

Boards, columns and cards can be given by id, by title, or by a unique prefix of either.
LOCKSTEP_URL and LOCKSTEP_TOKEN replace a login. NO_COLOR disables colours.
Exit codes: 0 success, 1 failure, 2 invalid usage, 3 not logged in, 4 not found.`
}

export const helpOf = (name: string, { usage, summary, help }: Command, paint: Paint) =>
  [paint('bold', `lockstep ${name} ${usage}`.trimEnd()), `  ${summary}`, ...(help ? [help] : []), COMMON].join('\n\n')
