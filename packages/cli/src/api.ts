import { text } from 'node:stream/consumers'
import { type Client, createClient } from '@lockstep/client'
import type { Command } from './command.ts'
import { wrongUsage } from './failure.ts'
import { findBoard, findCard, findColumn, isId } from './find.ts'

type Input = Record<string, unknown>
type Call = (input: Input) => Promise<unknown>
/** Properties of the client that are not operations. */
const OWN = ['baseUrl', 'session', 'request', 'pages', 'close']
/** Operations with a secret in their input or output, which would end up in the shell's history or on the screen. */
const SECRET = /login|register|password|token|ticket|refresh|secret/i

export const api: Command = {
  summary: 'call any operation of the API',
  usage: '[operation] [input]',
  help: `  The operations and their input are in the API documentation, for example
  lockstep api createColumn '{"board_id": "…", "title": "Done"}'. “-” reads the input from stdin.
  “board_id” and “card_id” can be titles too; “column_id” as well, beside one of them. Without an operation, lists them all.

  Prints the response as JSON, or the bytes of a file. Operations with passwords or tokens cannot be called.`,
  async run({ args: [name, given], client: open, isJson, print }) {
    if (name === undefined) return print(names(), () => names().join('\n'))
    if (SECRET.test(name)) throw wrongUsage(`${name} has a secret in its input or output: use another client for it.`)
    if (!names().includes(name)) throw wrongUsage(`There is no operation ${name}; lockstep api lists them.`)
    const input = await readInput(given)
    const client = open()
    const call = Reflect.get(client, name) as Call
    const result = await call(await withIds(client, input)).catch((error: unknown) => {
      // The client library reports a missing input of the path in this way, before it sends anything.
      const isIncomplete = error instanceof TypeError && error.message.startsWith(`${name} needs `)
      throw isIncomplete ? wrongUsage(`${error.message}.`) : error
    })
    if (result instanceof Blob) process.stdout.write(Buffer.from(await result.arrayBuffer()))
    else if (result !== undefined) console.log(JSON.stringify(result, null, isJson ? undefined : 2))
  },
}

/** The operations that can be called. */
const names = () => Object.keys(createClient({ baseUrl: '' })).filter((name) => isOperation(name) && !SECRET.test(name))
const isOperation = (name: string) => !OWN.includes(name)

/** The input with ids instead of titles, as far as its other fields say which board is meant. */
async function withIds(client: Client, input: Input): Promise<Input> {
  const { board_id, card_id, column_id } = input
  const ids: Input = {}
  if (isTitle(board_id)) ids['board_id'] = (await findBoard(client, board_id)).id
  const known = ids['board_id'] ?? board_id
  const boardName = typeof known === 'string' ? known : undefined
  const found = isTitle(card_id) ? await findCard(client, card_id, boardName) : undefined
  if (found) ids['card_id'] = found.card.id
  if (isTitle(column_id) && (found || boardName !== undefined)) {
    const board = found?.board ?? (await client.getBoard({ board_id: boardName ?? '' }))
    ids['column_id'] = findColumn(board, column_id).id
  }
  return { ...input, ...ids }
}
const isTitle = (value: unknown): value is string => typeof value === 'string' && !isId(value)

async function readInput(given: string | undefined): Promise<Input> {
  const words = given === '-' ? await text(process.stdin) : (given ?? '{}')
  try {
    const input: unknown = JSON.parse(words)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input }
  } catch {}
  throw wrongUsage('The input must be a JSON object.')
}
