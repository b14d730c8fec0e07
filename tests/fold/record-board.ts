import { setTimeout as pause } from 'node:timers/promises'
import type { Board, FullBoard } from '@lockstep/contract/boards'
import { isAddedKind } from '@lockstep/contract/realtime'
import type { Restored } from '@lockstep/contract/removals'
import { type ApiResponse, Client, type Failure, type Inputs, type Operations } from '@lockstep/testing/client'
import { type Message, openSocket } from '@lockstep/testing/socket'
import type pg from 'pg'
import { miscounted } from '../race-pairs/check.ts'
import { type Known, knownOf, objectOf, type WritingOperation } from './writes.ts'

export interface FoldUser {
  id: string
  token: string
}
/** Two instances of the service, their database, and users. */
export interface FoldEnvironment {
  urls: readonly [string, string]
  sql: pg.Pool
  /** The first creates the boards, the last only watches, and the others are invited and removed. */
  users: readonly [founder: FoldUser, ...others: FoldUser[]]
}

/** An event in the log. */
export interface Logged {
  seq: number
  type: string
  data: Record<string, unknown>
  user_id: string | null
  timestamp: string
  version: string
}
/** A successful write, and the position in its response. */
interface CompletedWrite {
  name: WritingOperation
  user_id: string
  seq: number
}
interface Snapshot {
  seq: number
  board: FullBoard
}
/** Everything that was recorded about a board. */
export interface RecordedBoard {
  created: Board
  log: Logged[]
  /** GET responses at the end, and during the writes. */
  end: Snapshot
  snapshots: Snapshot[]
  done: CompletedWrite[]
  /**
   * All events that a socket with numbers received, and those that a plain one received after the event `plain_from`.
   */
  received: { numbered: Message[]; plain: Message[]; plainFrom: number }
  /** Problem codes and their counts. */
  rejections: Record<string, number>
  /** Invalid responses. */
  violations: string[]
}

/** Sends one write and records its response. */
export type Send = <N extends WritingOperation>(
  who: FoldUser,
  url: string,
  name: N,
  inputs: Inputs<Operations[N]>,
) => Promise<ApiResponse>
/** Writes to a board while it is recorded, and reports violations. */
export type BoardActivity = (scene: { known: Known; send: Send; complain: (sentence: string) => void }) => Promise<void>

/** Creates a board, and records it with two sockets and a reader while users write. */
export async function recordBoard({ urls, sql, users }: FoldEnvironment, act: BoardActivity): Promise<RecordedBoard> {
  const [founder] = users
  const writers = users.slice(0, -1)
  const watcher = users.at(-1) ?? founder
  const recorded: Pick<RecordedBoard, 'done' | 'snapshots' | 'rejections' | 'violations'> = {
    done: [],
    snapshots: [],
    rejections: {},
    violations: [],
  }
  const created = await new Client(urls[0], founder.token).call('createBoard', { body: { title: 'Life' } })
  const board_id = created.id
  const known = knownOf(board_id, ids(writers))

  const send: Send = async (who, url, name, inputs) => {
    const response = await new Client(url, who.token).send(name, inputs)
    if (response.status >= 400) {
      const { code } = response.body as Failure
      recorded.rejections[code] = (recorded.rejections[code] ?? 0) + 1
      if (!isExcused(response)) recorded.violations.push(`${name} was answered ${response.status} ${response.text}`)
    } else if (!response.headers.has('idempotent-replayed')) {
      recorded.done.push({ name, user_id: who.id, seq: seqOf(response) })
      learn(known, name, inputs, response)
    }
    return response
  }

  // One user is not a member at first, and must be invited.
  const params = { board_id }
  for (const user_id of [...ids(writers.slice(1, -1)), watcher.id])
    await send(founder, urls[0], 'inviteMember', { params, body: { user_id } })
  const second = writers[1] ?? founder
  await send(founder, urls[0], 'updateMember', { params: { ...params, user_id: second.id }, body: { role: 'owner' } })
  for (const title of ['One', 'Two']) await send(founder, urls[0], 'createColumn', { params, body: { title } })
  await send(founder, urls[0], 'createLabel', { params, body: { name: 'Label' } })
  const at = { ...params, column_id: known.ids.column[0] as string }
  await send(founder, urls[0], 'createCard', { params: at, body: { title: 'Card' } })
  const on = { card_id: known.ids.card[0] as string }
  await send(founder, urls[0], 'createChecklist', { params: on, body: { title: 'List' } })
  const of = { checklist_id: known.ids.checklist[0] as string }
  await send(founder, urls[0], 'createItem', { params: of, body: { content: 'Item' } })
  const [one = '', two = ''] = known.ids.column
  const onMove = { trigger_type: 'CARD_MOVED', trigger_column_id: two } as const
  const onLabel = { trigger_type: 'LABEL_ADDED', trigger_label_id: known.ids.label[0] as string } as const
  for (const rule of [
    { name: 'Assign', ...onMove, action_type: 'ASSIGN_MEMBER', action_user_id: second.id } as const,
    { name: 'Back', ...onLabel, action_type: 'MOVE_TO_COLUMN', action_column_id: one } as const,
  ])
    await send(founder, urls[0], 'createRule', { params, body: rule })
  const plainFrom = Math.max(...recorded.done.map(({ seq }) => seq))

  using numbered = openSocket({ baseUrl: urls[0], token: watcher.token }, board_id, { since: '1.0' })
  using plain = openSocket({ baseUrl: urls[1], token: watcher.token }, board_id)
  await Promise.all([numbered.next('user_joined'), plain.next('user_joined')])

  const reader = new Client(urls[1], watcher.token)
  const acting = { is_over: false }
  const reading = (async () => {
    while (!acting.is_over) {
      recorded.snapshots.push(await read(reader, board_id))
      await pause(50)
    }
  })()
  await act({ known, send, complain: (sentence) => void recorded.violations.push(sentence) })
  acting.is_over = true
  await reading

  const end = await read(reader, board_id)
  const log = await readLog(sql, board_id)
  const { rowCount } = await sql.query(`${miscounted} and board_id = $1`, [board_id])
  if (rowCount) recorded.violations.push('the counters of the board differ from what it holds')
  await numbered.upTo(log.length)
  const sent = log.slice(plainFrom).filter(({ type }) => !isAddedKind(type)).length
  if (sent > 0) await plain.next(() => plain.events.length >= sent)
  return { ...recorded, created, log, end, received: { numbered: numbered.events, plain: plain.events, plainFrom } }
}

const ids = (users: readonly FoldUser[]) => users.map(({ id }) => id)
const seqOf = ({ headers }: ApiResponse) => Number(headers.get('board-position')?.split('.')[1])
/** Statuses that concurrent writes can cause. */
const isExcused = ({ status }: ApiResponse) => [403, 404, 409].includes(status)

/** Keeps track of the ids that a successful write created or removed. */
export function learn({ ids: all }: Known, name: WritingOperation, inputs: object, { body }: ApiResponse) {
  const made = objectOf(name, 'create')
  if (made) all[made].push((body as { id: string }).id)
  if (name === 'restoreRemoved') {
    const { card, column } = body as Restored
    for (const [kind, back] of [['card', card] as const, ['column', column] as const])
      if (back) all[kind] = [...all[kind].filter((other) => other !== back.id), back.id]
  }
  const gone = objectOf(name, 'delete')
  if (!gone) return
  // Ids of archived and deleted resources stay known, at the front, so that some writes use them.
  const { params } = inputs as { params: Record<string, string> }
  const id = params[`${gone}_id`] as string
  all[gone] = [id, ...all[gone].filter((other) => other !== id)]
}

async function read(api: Client, board_id: string): Promise<Snapshot> {
  const response = await api.send('getBoard', { params: { board_id } })
  if (response.status !== 200) throw new Error(`The watcher could not read the board: ${response.text}`)
  return { seq: seqOf(response), board: response.body as FullBoard }
}

async function readLog(sql: pg.Pool, board_id: string): Promise<Logged[]> {
  const { rows } = await sql.query<{ seq: number; message: Omit<Logged, 'seq'> }>(
    'select seq::int, body::json as message from board_events where board_id = $1 order by seq',
    [board_id],
  )
  return rows.map(({ seq, message }) => ({ seq, ...message }))
}
