import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Failure } from '@lockstep/testing/client'
import { eventually } from '@lockstep/testing/processes'
import { query } from './cluster.ts'

const PASSWORD = 'hush-hush correct horse'

/** Registers and logs in a new user. */
export async function newUser(baseUrl: string) {
  const anonymous = new Client(baseUrl)
  const username = `user-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  const { id } = await anonymous.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token: token } = await anonymous.call('login', { body: { username: email, password: PASSWORD } })
  return { id, token, api: new Client(baseUrl, token) }
}

/** Creates a board with a column. */
export async function newBoard(api: Client) {
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  return { board_id, column_id }
}
export type ColumnIds = Awaited<ReturnType<typeof newBoard>>

/** A requested card, identified by its title. */
export interface Write {
  title: string
  board_id: string
  /** When it was acknowledged (`performance.now()`); undefined until then. */
  acknowledgedAt?: number
}

/** Creates a card with its title as idempotency key, so that a second call is a retry. */
export const createCard = (api: Client, params: ColumnIds, title: string) =>
  api.send('createCard', { params, body: { title }, headers: { 'idempotency-key': title } })

/**
 * Starts writers that create cards until they are stopped. After a 503 or a lost response they retry with the same
 * idempotency key, until the write is acknowledged.
 */
export function startWriters(api: Client, columns: ColumnIds[], count: number) {
  const writes: Write[] = []
  /** Responses other than 201 and 503 with `unavailable`, `overloaded` or `board_busy`. */
  const strange: string[] = []
  let refusals = 0
  let isOver = false
  const send = async (params: ColumnIds, title: string) => {
    try {
      const { status, body, text } = await createCard(api, params, title)
      if (status === 201) return true
      const isRetryable = status === 503 && ['unavailable', 'overloaded', 'board_busy'].includes((body as Failure).code)
      if (!isRetryable) strange.push(`${status}: ${text}`)
    } catch (error) {
      strange.push(String(error))
    }
    refusals++
    return false
  }
  const writers = Array.from({ length: count }, async (_, nth) => {
    const params = columns[nth % columns.length] as ColumnIds
    while (!isOver) {
      const write: Write = { title: randomUUID(), board_id: params.board_id }
      writes.push(write)
      while (!(await send(params, write.title))) await pause(30)
      write.acknowledgedAt = performance.now()
      await pause(5)
    }
  })
  const acknowledged = () => writes.filter((write) => write.acknowledgedAt !== undefined)
  return {
    writes,
    strange,
    refusals: () => refusals,
    acknowledged,
    more: (by = 20) => {
      const enough = acknowledged().length + by
      return eventually('more writes are acknowledged', () => acknowledged().length >= enough)
    },
    /** The time from `since` to the first write acknowledged after `movedAt`. */
    firstAfter: (movedAt: number, since: number) =>
      Math.min(...acknowledged().flatMap(({ acknowledgedAt: at = 0 }) => (at > movedAt ? [at - since] : []))),
    stop: async () => {
      isOver = true
      await Promise.all(writers)
    },
  }
}

/** Finds acknowledged writes that are missing or duplicated in the database, as card or as event. */
export async function checkKept(url: string, writes: readonly Write[]): Promise<string[]> {
  const titles = writes.map(({ title }) => title)
  const counts = async (text: string) =>
    new Map((await query<{ title: string; count: string }>(url, text, [titles])).map((row) => [row.title, row.count]))
  const cards = await counts('select title, count(*) from cards where title = any ($1) group by title')
  const events = await counts(
    `select body::json->'data'->>'title' as title, count(*) from board_events
     where type = 'card.created' and body::json->'data'->>'title' = any ($1) group by 1`,
  )
  return titles.flatMap((title) => {
    const [card = '0', event = '0'] = [cards.get(title), events.get(title)]
    return card === '1' && event === '1'
      ? []
      : [`the acknowledged card ${title} exists ${card} times, and ${event} times in the log`]
  })
}

/** Finds event logs that are not 1, 2, 3 … up to the position of their board. */
export async function checkLogs(url: string): Promise<string[]> {
  const rows = await query<{ board_id: string }>(
    url,
    `select board_id from board_stream left join board_events using (board_id) group by board_id, last_seq
     having count(seq) <> last_seq or coalesce(max(seq), 0) <> last_seq`,
  )
  return rows.map(({ board_id }) => `the log of ${board_id} has a gap`)
}
