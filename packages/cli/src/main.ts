#!/usr/bin/env node
import { parseArgs } from 'node:util'
import type { Client } from '@lockstep/client'
import { openClient, renewInTime } from './account.ts'
import { boards, show } from './boards.ts'
import { add, move } from './cards.ts'
import type { Command, Context } from './command.ts'
import { doctor } from './doctor.ts'
import { EXIT, failureOf, wrongUsage } from './failure.ts'
import { helpOf, overview } from './help.ts'
import { login, logout } from './login.ts'
import { seed } from './seed.ts'
import { harmless, painter } from './terminal.ts'
import { watch } from './watch.ts'

const commands: Record<string, Command> = { login, logout, boards, show, watch, add, move, seed, doctor }
const shared = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, url: { type: 'string' } } as const

// Who reads only the first lines, as `head` does, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(EXIT.ok)
})

const [name = 'help', ...rest] = process.argv.slice(2)
// Needed before the rest is understood: what is wrong with it is told in the same way.
const is_json = process.argv.slice(2).some((word, i, words) => word === '--json' && !words.slice(0, i).includes('--'))
let url: string | undefined
try {
  await run()
} catch (error) {
  const { message, code, request_id, exit_code } = failureOf(error, url)
  process.exitCode = exit_code
  if (is_json) console.error(JSON.stringify({ error: { code, detail: message, request_id, exit_code } }))
  else console.error(painter(process.stderr)('red', `lockstep: ${harmless(message)}`))
}

async function run(): Promise<void> {
  if (['help', '--help', '-h', '--json'].includes(name)) return help(rest.find((word) => !word.startsWith('-')))
  const command = commandOf(name)
  const { values, positionals } = parse(command)
  if (values['help'] === true) return help(name)
  const clients: Client[] = []
  const context: Context = {
    args: checkCount(command, positionals),
    values,
    is_json,
    paint: painter(process.stdout),
    client: () => {
      const client = openClient(typeof values['url'] === 'string' ? values['url'] : undefined)
      url = client.base_url
      clients.push(client)
      return client
    },
    print: (data, text) => console.log(is_json ? JSON.stringify(data) : typeof text === 'string' ? text : text()),
  }
  await command.run(context)
  for (const client of clients) {
    await renewInTime(client)
    client.close()
  }
}

function commandOf(word: string): Command {
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (!command) throw wrongUsage(`There is no command ${word}; lockstep help lists those that there are.`)
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
    // It says what is wrong in its first sentence, and how to quote in the next.
    const [sentence] = (error as Error).message.split('. ')
    throw wrongUsage(`${sentence?.replace(/\.$/, '')}; see lockstep help ${name}.`)
  }
}

function checkCount({ usage }: Command, args: string[]): string[] {
  const places = usage.match(/^(<\w+>|\[\w+\]| )*/)?.[0] ?? ''
  const needed = places.match(/</g)?.length ?? 0
  const possible = needed + (places.match(/\[/g)?.length ?? 0)
  if (args.length >= needed && args.length <= possible) return args
  throw wrongUsage(`This takes: lockstep ${name} ${usage}`)
}

function help(word: string | undefined): void {
  const paint = painter(process.stdout)
  const entry = (each: string, { usage, summary }: Command) => ({ name: each, usage, summary })
  if (word === undefined) {
    const list = Object.entries(commands).map(([each, command]) => entry(each, command))
    console.log(is_json ? JSON.stringify(list) : overview(commands, paint))
  } else {
    const command = commandOf(word)
    console.log(is_json ? JSON.stringify(entry(word, command)) : helpOf(word, command, paint))
  }
}
