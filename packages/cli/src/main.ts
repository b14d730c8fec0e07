#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Client } from '@lockstep/client'
import { adviceForToken, openClient, renewIfHalfExpired } from './account.ts'
import { api } from './api.ts'
import { boards, show } from './boards.ts'
import { add, due, move } from './cards.ts'
import type { Command, Context } from './command.ts'
import { comment } from './comments.ts'
import { completionOf } from './completion.ts'
import { doctor } from './doctor.ts'
import { EXIT, failureOf, wrongUsage } from './failure.ts'
import { helpOf, overview } from './help.ts'
import { inbox } from './inbox.ts'
import { invite } from './invite.ts'
import { login, logout, whoami } from './login.ts'
import { archive, restore } from './removals.ts'
import { seed } from './seed.ts'
import { escapeControlChars, painter } from './terminal.ts'
import { tokens } from './tokens.ts'
import { watch } from './watch.ts'
import { webhooks } from './webhooks.ts'

const commands: Record<string, Command> = {
  login,
  logout,
  whoami,
  boards,
  show,
  watch,
  add,
  move,
  due,
  comment,
  archive,
  restore,
  inbox,
  invite,
  api,
  seed,
  tokens,
  webhooks,
  doctor,
}
commands['completion'] = completionOf(commands)
const shared = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, url: { type: 'string' } } as const

// A closed pipe (as with `head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(EXIT.ok)
})

const [name = 'help', ...rest] = process.argv.slice(2)
// Parsed before the other arguments, because errors in those are also printed as JSON.
const hasFlag = (flag: string) =>
  process.argv.slice(2).some((word, i, words) => word === flag && !words.slice(0, i).includes('--'))
const isJson = hasFlag('--json')
let url: string | undefined
try {
  await run()
} catch (error) {
  const { message, code, requestId, exitCode } = failureOf(error, url, adviceForToken(url))
  process.exitCode = exitCode
  if (isJson)
    console.error(JSON.stringify({ error: { code, detail: message, request_id: requestId, exit_code: exitCode } }))
  else console.error(painter(process.stderr)('red', `lockstep: ${escapeControlChars(message)}`))
}

async function run(): Promise<void> {
  if (hasFlag('--version')) return printVersion()
  if (['help', '--help', '-h', '--json'].includes(name)) return help(rest.find((word) => !word.startsWith('-')))
  const command = commandOf(name)
  const { values, positionals } = parse(command)
  if (values['help'] === true) return help(name)
  const clients: Client[] = []
  const context: Context = {
    args: checkCount(command, positionals),
    values,
    isJson,
    paint: painter(process.stdout),
    client: () => {
      const client = openClient(typeof values['url'] === 'string' ? values['url'] : undefined)
      url = client.baseUrl
      clients.push(client)
      return client
    },
    print: (data, text) => console.log(isJson ? JSON.stringify(data) : typeof text === 'string' ? text : text()),
  }
  await command.run(context)
  for (const client of clients) {
    await renewIfHalfExpired(client)
    client.close()
  }
}

function printVersion(): void {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  console.log(isJson ? JSON.stringify({ version }) : version)
}

function commandOf(word: string): Command {
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (!command) throw wrongUsage(`Unknown command ${word}; see lockstep help.`)
  return command
}

function parse({ options }: Command): { values: Context['values']; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      allowPositionals: true,
      options: { ...shared, ...options },
    })
    return { values: values as Context['values'], positionals }
  } catch (error) {
    // Keep only the first sentence of the message.
    const [sentence] = (error as Error).message.split('. ')
    throw wrongUsage(`${sentence?.replace(/\.$/, '')}; see lockstep help ${name}.`)
  }
}

function checkCount({ usage }: Command, args: string[]): string[] {
  const positionals = usage.match(/^(<\w+>|\[\w+\]| )*/)?.[0] ?? ''
  const required = positionals.match(/</g)?.length ?? 0
  const allowed = required + (positionals.match(/\[/g)?.length ?? 0)
  if (args.length >= required && args.length <= allowed) return args
  throw wrongUsage(`Usage: lockstep ${name} ${usage}`)
}

function help(word: string | undefined): void {
  const paint = painter(process.stdout)
  const entry = (each: string, { usage, summary }: Command) => ({ name: each, usage, summary })
  if (word === undefined) {
    const list = Object.entries(commands).map(([each, command]) => entry(each, command))
    console.log(isJson ? JSON.stringify(list) : overview(commands, paint))
  } else {
    const command = commandOf(word)
    console.log(isJson ? JSON.stringify(entry(word, command)) : helpOf(word, command, paint))
  }
}
