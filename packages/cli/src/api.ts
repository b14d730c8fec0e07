import { text } from 'node:stream/consumers'
import type { Client } from '@lockstep/client'
import type { Command } from './command.ts'
import { wrongUsage } from './failure.ts'

type Call = (input: Record<string, unknown>) => Promise<unknown>
/** Methods of the client that are not operations. */
const OWN = ['request', 'pages', 'close']
/** Operations with a secret in their input or output, which would end up in the shell's history or on the screen. */
const SECRET = /login|register|password|token|ticket|refresh|secret/i

export const api: Command = {
  summary: 'call any operation of the API',
  usage: '<operation> [input]',
  help: `  The operations and their input are in the API documentation, for example
  lockstep api createColumn '{"board_id": "…", "title": "Done"}'. “-” reads the input from stdin.

  Prints the response as JSON, or the bytes of a file. Operations with passwords or tokens cannot be called.`,
  async run({ args: [name = '', given], client, isJson }) {
    if (SECRET.test(name)) throw wrongUsage(`${name} has a secret in its input or output: use another client for it.`)
    const input = await readInput(given)
    const call = callOf(client(), name)
    const result = await call(input)
    if (result instanceof Blob) process.stdout.write(Buffer.from(await result.arrayBuffer()))
    else if (result !== undefined) console.log(JSON.stringify(result, null, isJson ? undefined : 2))
  },
}

function callOf(client: Client, name: string): Call {
  const method: unknown = Object.hasOwn(client, name) && !OWN.includes(name) ? Reflect.get(client, name) : undefined
  if (typeof method !== 'function') throw wrongUsage(`There is no operation ${name}.`)
  return method as Call
}

async function readInput(given: string | undefined): Promise<Record<string, unknown>> {
  const words = given === '-' ? await text(process.stdin) : (given ?? '{}')
  try {
    const input: unknown = JSON.parse(words)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input }
  } catch {}
  throw wrongUsage('The input must be a JSON object.')
}
