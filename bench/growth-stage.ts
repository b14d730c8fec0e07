import type pg from 'pg'
import { openSocket } from '../packages/server/testing/socket.ts'
import { Asker } from '../tests/prove/asking.ts'
import { demand, median } from './measure.ts'
import { DESCRIPTION, TITLE } from './operations.ts'
import { cardOf, columnOf, idOf } from './seed.ts'

/** How many events somebody missed who comes back. */
const MISSED = 20

/** What is measured at every size, on one board: the median time of each, in milliseconds. */
export interface Times {
  create: number
  move: number
  load: number
  resume: number
}

/** Does the headline things on one board, again and again, and checks what each answered. */
export class Probe {
  private readonly asker: Asker
  private readonly base_url: string
  private readonly token: string
  private readonly board: number
  private turns = 0
  private position = ''

  constructor(base_url: string, token: string, board: number) {
    this.asker = new Asker(base_url, token)
    this.base_url = base_url
    this.token = token
    this.board = board
  }

  create = async (): Promise<number> => {
    const column = idOf('column', columnOf(this.board, 1))
    const path = `/boards/${idOf('board', this.board)}/columns/${column}/cards`
    const { ms, status, headers } = await this.asker.json('POST', path, { title: TITLE, description: DESCRIPTION })
    demand(status === 201, `a new card answered ${status}`)
    this.position = String(headers['board-position'])
    return ms
  }

  move = async (): Promise<number> => {
    const column_id = idOf('column', columnOf(this.board, 1 + (++this.turns % 3)))
    const path = `/cards/${idOf('card', cardOf(this.board, 4))}/move`
    const { ms, status } = await this.asker.json('POST', path, { column_id, position: 0 })
    demand(status === 200, `a move answered ${status}`)
    return ms
  }

  /** A load after a change. */
  load = async (): Promise<number> => {
    await this.create()
    const { ms, status, headers } = await this.asker.ask('GET', `/boards/${idOf('board', this.board)}`, {
      'accept-encoding': 'gzip',
    })
    demand(status === 200 && headers['board-position'] === this.position, `a load answered ${status}`)
    return ms
  }

  /** From opening a socket to the last of the events that were missed. */
  resume = async (): Promise<number> => {
    const [epoch, seq] = this.position.split('.').map(Number) as [number, number]
    const begun = performance.now()
    const opener = { base_url: this.base_url, token: this.token }
    const socket = openSocket(opener, idOf('board', this.board), { since: `${epoch}.${seq - MISSED}` })
    const { at } = await socket.next((message) => message.type !== 'hello' && message.seq === seq)
    const events = socket.arrivals.filter(({ message }) => message.type !== 'hello' && message.seq !== undefined)
    demand(events.length === MISSED, `${events.length} events came of ${MISSED} that were missed`)
    await socket.close()
    return at - begun
  }

  async warmUp() {
    for (let i = 0; i < MISSED + 5; i++) await this.create()
    for (const act of [this.move, this.load, this.resume]) await act()
  }

  close() {
    this.asker.close()
  }
}

/** Measures several boards in turns, so that what disturbs one disturbs the others too. */
export async function measureAll(probes: readonly Probe[], samples: number): Promise<Times[]> {
  for (const probe of probes) await probe.warmUp()
  const few = Math.max(3, Math.ceil(samples / 5))
  const counts = { create: samples, move: samples, load: few, resume: samples }
  const found = probes.map(() => ({ create: [], move: [], load: [], resume: [] }) as Record<keyof Times, number[]>)
  for (const [what, count] of Object.entries(counts) as [keyof Times, number][]) {
    for (let i = 0; i < count; i++) {
      for (const [nth, probe] of probes.entries()) found[nth]?.[what].push(await probe[what]())
    }
  }
  return found.map(({ create, move, load, resume }) => ({
    create: median(create),
    move: median(move),
    load: median(load),
    resume: median(resume),
  }))
}

/** Fills the log of every board evenly, so that all boards together have so many events more. */
export async function fillLog(sql: pg.Pool, more: number) {
  const { rows } = await sql.query<{ boards: string }>('select count(*) as boards from board_stream')
  const each = Math.ceil(more / Number(rows[0]?.boards))
  const body = `{"type":"card.updated","data":{"id":"${idOf('card', 1)}","title":"A card that changed long ago"},"user_id":"${idOf('user', 1)}","timestamp":"2026-01-01T00:00:00.000Z","version":"1.0"}`
  const half = (side: number) =>
    sql.query(
      `insert into board_events (board_id, seq, created_at, type, user_id, body)
      select board_id, last_seq + n, now(), 'card.updated', $2, $3
      from (select board_id, last_seq from board_stream where (hashtext(board_id::text) % 2 = 0) = $4) stream, generate_series(1, $1::int) n`,
      [each, idOf('user', 1), body, side === 0],
    )
  await Promise.all([half(0), half(1)])
  await sql.query('update board_stream set last_seq = last_seq + $1', [each])
  // As the database itself would do it, but now and not in the midst of a measurement.
  await sql.query('vacuum (analyze, freeze) board_events')
  await sql.query('checkpoint')
  const { rows: counted } = await sql.query<{ n: string }>('select sum(last_seq) as n from board_stream')
  return Number(counted[0]?.n)
}
