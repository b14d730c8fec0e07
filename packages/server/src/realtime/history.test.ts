import type { LoggedEvent } from '@lockstep/contract/realtime'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { v7 as newUuid } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteExpiredEvents } from '../jobs/retention.ts'
import { startJobs } from '../jobs/scheduler.ts'
import { readEventPage, readHistory } from './realtime-queries.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const addColumns = async ({ id, owner }: TestBoard, count: number) => {
  for (let i = 0; i < count; i++) {
    await owner.api.call('createColumn', { params: { board_id: id }, body: { title: `Column ${i}` } })
  }
}
const read = (board: TestBoard, query: { after?: string; limit?: number } = {}, who = board.member) =>
  who.api.send('listEvents', { params: { board_id: board.id }, query })
const seqsOf = (body: unknown) => (body as LoggedEvent[]).map((event) => event.seq)
const run = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Appends old events to a board's log. */
const addOldEvents = (board: TestBoard, count: number, days: number) =>
  service.sql.query(
    `with stream as (update board_stream set last_seq = last_seq + $2::int8 where board_id = $1 returning last_seq - $2::int8 as last)
     insert into board_events (board_id, seq, created_at, type, body)
     select $1, last + nth, now() - make_interval(days => $3), 'column.updated', '{"type":"column.updated","data":{},"user_id":null,"timestamp":"2026-01-01T00:00:00.000Z","version":"1.0"}'
     from stream, generate_series(1, $2::int8) nth`,
    [board.id, count, days],
  )
const makeOld = ({ id }: TestBoard, upTo: number, days: number) =>
  service.sql.query(
    'update board_events set created_at = now() - make_interval(days => $3) where board_id = $1 and seq <= $2',
    [id, upTo, days],
  )
const openDatabase = () => new Database({ url: service.databaseUrl, size: 2, onError: () => {} })

describe('reading', () => {
  test('[HIST-1] members read the log in order, with the same events that sockets receive', async () => {
    const board = await service.board()
    using socket = openSocket(board.owner.api, board.id, { seq: true })
    await socket.next('user_joined')
    const before = (await board.events()).length
    await addColumns(board, 3)
    const { body, headers } = await read(board)
    const all = await board.events()
    expect(seqsOf(body)).toEqual(run(1, before + 3))
    expect((body as LoggedEvent[]).map((event) => event.data)).toEqual(all.map((event) => event.data))
    expect(headers.get('board-position')).toBe(`1.${before + 3}`)
    expect(headers.get('link')).toBeNull()
    await socket.upTo(before + 3)
    expect((await read(board, { after: `1.${before}` })).body).toEqual(
      socket.events.map((event) => ({ ...event, actor_id: board.owner.id })),
    )
    const nonMember = await service.user()
    expect((await read(board, {}, nonMember)).status).toBe(403)
  })

  test('[HIST-1] following Link pages through the whole log, also while it grows', async () => {
    const board = await service.board()
    await addColumns(board, 14)
    const last = (await board.events()).length
    const seen: number[] = []
    let path: string | undefined = `/boards/${board.id}/events?limit=5`
    while (path !== undefined) {
      const { status, body, headers } = await board.member.api.request('GET', path)
      expect(status).toBe(200)
      expect((body as unknown[]).length).toBeLessThanOrEqual(5)
      seen.push(...seqsOf(body))
      if (seen.length === 5) await addColumns(board, 1)
      path = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(run(1, last + 1))
  })

  test('[HIST-1] a page has 100 events by default, and at most 500', async () => {
    const board = await service.board()
    await addOldEvents(board, 600, 0)
    expect(seqsOf((await read(board)).body)).toEqual(run(1, 100))
    expect(seqsOf((await read(board, { limit: 500 })).body)).toEqual(run(1, 500))
    expect(seqsOf((await read(board, { after: '10', limit: 1 })).body)).toEqual([11])
    for (const limit of [0, 501, -1]) expect((await read(board, { limit })).status).toBe(422)
    for (const after of ['x', '-1', '1.', '1.2.3']) expect((await read(board, { after })).status).toBe(422)
  })
})

describe('large events', () => {
  /** Events of 1.5 MB each, which compress to a few kilobytes. Renaming a column with long cards produces such events. */
  const addLargeEvents = (board: TestBoard, count: number) =>
    service.sql.query(
      `with stream as (update board_stream set last_seq = last_seq + $2::int8 where board_id = $1 returning last_seq - $2::int8 as last)
       insert into board_events (board_id, seq, created_at, type, body)
       select $1, last + nth, now(), 'column.updated',
         '{"type":"column.updated","data":{"title":"' || repeat('x', 1500000) || '"},"user_id":null,"timestamp":"2026-01-01T00:00:00.000Z","version":"1.0"}'
       from stream, generate_series(1, $2::int8) nth`,
      [board.id, count],
    )

  test('[HIST-4] a page ends with the event that reaches one mebibyte, and following Link reads them all', async () => {
    const board = await service.board()
    const before = (await board.events()).length
    await addLargeEvents(board, 360)
    const { status, body, headers } = await read(board, { limit: 500 })
    expect(status).toBe(200)
    expect(seqsOf(body)).toEqual(run(1, before + 1))
    expect(headers.get('link')).toContain(`limit=500&cursor=1.${before + 1}`)
    const second = await read(board, { after: `1.${before + 1}`, limit: 500 })
    expect(seqsOf(second.body)).toEqual([before + 2])
    expect((await service.anybody.send('getLiveness', {})).status).toBe(200)
  })

  test('[HIST-4] reading a page does not decompress later events', async () => {
    const board = await service.board()
    await addLargeEvents(board, 100)
    const timed = async (work: () => Promise<unknown>) => {
      const started = performance.now()
      await work()
      return performance.now() - started
    }
    const db = openDatabase()
    await readEventPage(db, board.id, 0)
    const page = await timed(() => readEventPage(db, board.id, 10))
    const history = await timed(() => readHistory(db, board.id, 10, 100))
    const decompressed = await timed(() =>
      service.sql.query('select sum(length(body)) from board_events where board_id = $1', [board.id]),
    )
    await db.close()
    expect(page).toBeLessThan(decompressed / 4)
    expect(history).toBeLessThan(decompressed / 4)
  })
})

describe('positions that are gone', () => {
  test('[HIST-2] a position of another epoch, in the future, or whose next event was deleted is 410', async () => {
    const board = await service.board()
    await addColumns(board, 8)
    const last = (await board.events()).length
    await service.sql.query('delete from board_events where board_id = $1 and seq <= 5', [board.id])
    for (const after of [`2.${last}`, `0.${last}`, `1.${last + 1}`, String(last + 1), '1.4', '4', '1.1', '1.0']) {
      const { status, body } = await read(board, { after })
      expect([after, status, (body as { code: string }).code]).toEqual([after, 410, 'history_gone'])
    }
    expect(seqsOf((await read(board, { after: '1.5' })).body)).toEqual(run(6, last))
    expect((await read(board, { after: `1.${last}` })).body).toEqual([])
    // Without a position: everything that is stored.
    expect(seqsOf((await read(board)).body)).toEqual(run(6, last))
  })

  test('[HIST-2] a board whose whole log was deleted keeps its position', async () => {
    const board = await service.board()
    const last = (await board.events()).length
    await service.sql.query('delete from board_events where board_id = $1', [board.id])
    expect((await read(board, { after: `1.${last - 1}` })).status).toBe(410)
    const { status, body, headers } = await read(board, { after: `1.${last}` })
    expect([status, body, headers.get('board-position')]).toEqual([200, [], `1.${last}`])
    await addColumns(board, 1)
    expect(seqsOf((await read(board, { after: `1.${last}` })).body)).toEqual([last + 1])
  })
})

describe('retention', () => {
  afterEach(() => void vi.useRealTimers())

  test('[HIST-3] only events older than the retention are deleted; earlier positions are gone', async () => {
    const board = await service.board()
    await addColumns(board, 6)
    const last = (await board.events()).length
    await makeOld(board, 3, 91)
    await service.sql.query(
      `update board_events set created_at = now() - interval '89 days 23 hours' where board_id = $1 and seq = 4`,
      [board.id],
    )
    const db = openDatabase()
    expect(await deleteExpiredEvents(db, 90)).toBe(3)
    expect(await deleteExpiredEvents(db, 90)).toBe(0)
    await db.close()
    expect((await board.events()).map((event) => event.seq)).toEqual(run(4, last))
    expect((await read(board, { after: '1.2' })).status).toBe(410)
    expect(seqsOf((await read(board, { after: '1.3' })).body)).toEqual(run(4, last))
    using late = openSocket(board.member.api, board.id, { since: '1.2' })
    await late.next('resync')
  })

  test('[HIST-3] a long backlog is deleted in batches', async () => {
    const board = await service.board()
    await addOldEvents(board, 11_000, 100)
    const db = openDatabase()
    expect(await deleteExpiredEvents(db, 90)).toBe(11_000)
    await db.close()
  })

  test('[HIST-3] one of two instances deletes them; the other takes over when that one is gone', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const board = await service.board()
    const databases = [openDatabase(), openDatabase()] as const
    const done: [string, number][] = []
    const failed: object[] = []
    const ids = [newUuid(), newUuid()]
    const stops = databases.map((db, i) =>
      startJobs(
        db,
        ids[i] as string,
        { retention: () => deleteExpiredEvents(db, 90) },
        {
          info: (details) => void done.push([ids[i] as string, (details as { removed: number }).removed]),
          warn: (details) => void failed.push(details),
        },
      ),
    )
    const holder = async () => {
      const { rows } = await service.sql.query<{ holder: string }>(
        `select holder from job_leases where name = 'retention'`,
      )
      return rows[0]?.holder
    }
    const round = async () => {
      await addOldEvents(board, 10, 91)
      vi.advanceTimersByTime(60_000)
      const count = done.length + 1
      await eventually('old events were deleted', () => done.length === count)
    }
    // The service's own jobs do not interfere: they use real timers, which do not fire during this test.
    await service.sql.query('delete from job_leases')
    await round()
    const first = await holder()
    await round()
    expect(done).toEqual([
      [first, 10],
      [first, 10],
    ])
    // The holder of the lease dies, and the lease expires.
    stops[ids.indexOf(first ?? '')]?.()
    await service.sql.query(`update job_leases set held_until = now() - interval '1 second'`)
    await round()
    expect(done[2]?.[0]).not.toBe(first)
    expect(await holder()).toBe(done[2]?.[0])
    expect(failed).toEqual([])
    for (const stop of stops) stop()
    for (const db of databases) await db.close()
  })
})
