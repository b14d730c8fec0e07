import { type Client, type ClientOptions, createClient, type OperationName } from '../../../client/src/index.ts'
import type { Fault } from './faulty-proxy.ts'

/** Input of a scenario: plain data, so that it can be passed to a browser or another Node process. */
export interface ScenarioContext {
  baseUrl: string
  /** A faulty proxy in front of the same service. */
  faultyUrl: string
  email: string
  password: string
  /** A valid call of each operation, each on its own board. */
  calls: { name: OperationName; input: Record<string, unknown>; token: string; isEmpty: boolean }[]
}

const opened: Client[] = []
/** Creates a client that `closeAll` closes. */
export function open(options: ClientOptions | ScenarioContext): Client {
  const client = createClient('calls' in options ? { baseUrl: options.baseUrl } : options)
  opened.push(client)
  return client
}
/** Closes the clients of the scenarios. */
export function closeAll() {
  for (const client of opened.splice(0)) client.close()
}

export async function loggedIn({ baseUrl, email, password }: ScenarioContext): Promise<Client> {
  const client = open({ baseUrl })
  await client.login({ username: email, password })
  return client
}

/** Creates a board with a column. */
export async function newBoard(context: ScenarioContext) {
  const client = await loggedIn(context)
  const { id: board_id } = await client.createBoard({ title: 'Plan' })
  const { id: column_id } = await client.createColumn({ board_id, title: 'To do' })
  return { client, board_id, column_id }
}

/** A client whose first n requests fail, and a function that lists what it sent. */
export function faulty({ faultyUrl }: ScenarioContext, fault: Fault, n: number, token?: string) {
  const run = `run${Math.random().toString(36).slice(2)}`
  const client = open({ baseUrl: `${faultyUrl}/${fault}/${n}/${run}`, ...(token !== undefined && { token }) })
  const seen = async () =>
    (await (await fetch(`${faultyUrl}/seen/${run}`)).json()) as { method: string; path: string; key?: string }[]
  /** Resets the WebSockets of this client (`cut`), or silently drops their data (`blackhole`). */
  const breakSockets = (how: 'cut' | 'blackhole') => fetch(`${faultyUrl}/${how}/${run}`)
  return { client, seen, breakSockets }
}
