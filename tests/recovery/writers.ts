import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Failure } from '@lockstep/testing/client'
import { eventually } from '@lockstep/testing/processes'
import { ask } from './cluster.ts'

const PASSWORD = 'hush-hush correct horse'

/** Somebody new, logged in. */
export async function newUser(base_url: string) {
  const anybody = new Client(base_url)
  const username = `user-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token: token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, token, api: new Client(base_url, token) }
}

/** A board with a column. */
export async function newBoard(api: Client) {
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  return { board_id, column_id }
}
export type Place = Awaited<ReturnType<typeof newBoard>>

/** A card that was asked for: its title tells it from every other. */
export interface Write {
  title: string
  board_id: string
  /** When it was acknowledged, by the clock of `performance.now()`; undefined while it is not. */
  acknowledged_at?: number
}

/** Creates a card under a key. The same call again is the same request again. */
export const createCard = (api: Client, params: Place, title: string) =>
  api.send('createCard', { params, body: { title }, headers: { 'idempotency-key': title } })

/**
 * Some who write until they are told to stop. Each write has a key, and is sent again under it until it is acknowledged:
 * as a client should that was told 503, or that was told nothing.
 */
export function startWriters(api: Client, places: Place[], count: number) {
  const writes: Write[] = []
  /** Answers that are neither an acknowledgement nor 503 with `unavailable`, `overloaded` or `board_busy`. */
  const strange: string[] = []
  let refusals = 0
  let isOver = false
  const send = async (params: Place, title: string) => {
    try {
      const { status, body, text } = await createCard(api, params, title)
      if (status === 201) return true
      const isLater = status === 503 && ['unavailable', 'overloaded', 'board_busy'].includes((body as Failure).code)
      if (!isLater) strange.push(`${status}: ${text}`)
    } catch (error) {
      strange.push(String(error))
    }
    refusals++
    return false
  }
  const writers = Array.from({ length: count }, async (_, nth) => {
    const params = places[nth % places.length] as Place
    while (!isOver) {
      const write: Write = { title: randomUUID(), board_id: params.board_id }
      writes.push(write)
      while (!(await send(params, write.title))) await pause(30)
      write.acknowledged_at = performance.now()
      await pause(5)
    }
  })
  const acknowledged = () => writes.filter((write) => write.acknowledged_at !== undefined)
  return {
    writes,
    strange,
    refusals: () => refusals,
    acknowledged,
    more: (by = 20) => {
      const enough = acknowledged().length + by
      return eventually('the writers go on', () => acknowledged().length >= enough)
    },
    /** How long after a moment the first write was acknowledged that was not before another moment. */
    firstAfter: (moved_at: number, since: number) =>
      Math.min(...acknowledged().flatMap(({ acknowledged_at: at = 0 }) => (at > moved_at ? [at - since] : []))),
    stop: async () => {
      isOver = true
      await Promise.all(writers)
    },
  }
}

/** What became of acknowledged writes in a database: those that are not there, or there more than once, as card or as event. */
export async function checkKept(url: string, writes: readonly Write[]): Promise<string[]> {
  const titles = writes.map(({ title }) => title)
  const counts = async (text: string) =>
    new Map((await ask<{ title: string; count: string }>(url, text, [titles])).map((row) => [row.title, row.count]))
  const cards = await counts('select title, count(*) from cards where title = any ($1) group by title')
  const events = await counts(
    `select body::json->'data'->>'title' as title, count(*) from board_events
     where type = 'card.created' and body::json->'data'->>'title' = any ($1) group by 1`,
  )
  return titles.flatMap((title) => {
    const [card = '0', event = '0'] = [cards.get(title), events.get(title)]
    return card === '1' && event === '1'
      ? []
      : [`the acknowledged card ${title} is there ${card} times, and in the log ${event} times`]
  })
}

/** Logs that do not count 1, 2, 3 … up to the position of their board. */
export async function checkLogs(url: string): Promise<string[]> {
  const rows = await ask<{ board_id: string }>(
    url,
    `select board_id from board_stream left join board_events using (board_id) group by board_id, last_seq
     having count(seq) <> last_seq or coalesce(max(seq), 0) <> last_seq`,
  )
  return rows.map(({ board_id }) => `the log of ${board_id} has a hole`)
}
