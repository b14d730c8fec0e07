import { type Client, type ClientOptions, createClient, type OperationName } from '../../../client/src/index.ts'
import type { Fault } from './faulty-proxy.ts'

/** What a scenario is given: plain data, so that it can be handed to a browser or to another Node. */
export interface Setting {
  base_url: string
  /** The faulty proxy before the same service. */
  faulty_url: string
  /** A service whose tokens live for five seconds. */
  short_url: string
  email: string
  password: string
  /** A valid input for each operation, each on a board of its own. */
  walk: { name: OperationName; input: Record<string, unknown>; token: string }[]
}

const opened: Client[] = []
/** A client that `closeAll` ends. */
export function open(options: ClientOptions | Setting): Client {
  const client = createClient('walk' in options ? { base_url: options.base_url } : options)
  opened.push(client)
  return client
}
/** Ends what the scenarios opened. */
export function closeAll() {
  for (const client of opened.splice(0)) client.close()
}

export async function loggedIn({ base_url, email, password }: Setting): Promise<Client> {
  const client = open({ base_url })
  await client.login({ username: email, password })
  return client
}

/** A board with a column, and its owner. */
export async function newBoard(setting: Setting) {
  const client = await loggedIn(setting)
  const { id: board_id } = await client.createBoard({ title: 'Plan' })
  const { id: column_id } = await client.createColumn({ board_id, title: 'To do' })
  return { client, board_id, column_id }
}

/** A client whose first n requests fail, and what it sent. */
export function faulty({ faulty_url }: Setting, fault: Fault, n: number, token?: string) {
  const run = `run${Math.random().toString(36).slice(2)}`
  const client = open({ base_url: `${faulty_url}/${fault}/${n}/${run}`, ...(token !== undefined && { token }) })
  const seen = async () =>
    (await (await fetch(`${faulty_url}/seen/${run}`)).json()) as { method: string; path: string; key?: string }[]
  /** Breaks the sockets of this client (`cut`), or lets nothing more through them without a word (`deaden`). */
  const spoil = (how: 'cut' | 'deaden') => fetch(`${faulty_url}/${how}/${run}`)
  return { client, seen, spoil }
}
