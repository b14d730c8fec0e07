import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type TestService } from '#testing/service'
import { Turns } from './board-queue.ts'

describe('the turns of a board', () => {
  test('[WRITE-11] who passes his turn on lets one in, however often he says so and however he ends', async () => {
    const turns = new Turns(10_000)
    const begun: string[] = []
    const { promise: isCommitted, resolve: commit } = Promise.withResolvers<void>()
    const take = (name: string, end: () => Promise<void>) =>
      turns.take('hot', (passOn) => {
        begun.push(name)
        if (name !== 'second') passOn()
        if (name === 'first') passOn()
        return end()
      })
    const first = take('first', () => isCommitted)
    const second = take('second', () => isCommitted)
    const third = take('third', () => Promise.reject(new Error('failed')))
    const fourth = take('fourth', async () => {})
    const failed = expect(third).rejects.toThrow('failed')
    await new Promise(setImmediate)
    expect(begun).toEqual(['first', 'second'])
    commit()
    await Promise.all([first, second, failed, fourth])
    expect(begun).toEqual(['first', 'second', 'third', 'fourth'])
    expect(turns.waiting).toBe(0)
  })

  test('[LOAD-6] 500 changes wait for one board, and not one more; other boards have lines of their own', async () => {
    const turns = new Turns(10_000)
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = Array.from({ length: 501 }, () => turns.take('hot', () => promise))
    await expect(turns.take('hot', () => promise)).rejects.toMatchObject({ code: 'board_busy' })
    expect(await turns.take('quiet', async () => 'done')).toBe('done')
    resolve()
    await Promise.all(all)
    expect(await turns.take('hot', async () => 'done')).toBe('done')
  })
})

describe('a board whose changes take long to commit', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService()
    await service.sql.query(`
      create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return null; end $$;
      create constraint trigger linger after insert on cards deferrable initially deferred
        for each row when (new.title like 'Slow%') execute function linger()`)
  })
  afterAll(() => service.stop())

  test('[WRITE-11] [WRITE-6] the next waits for its lock while the one before commits, on one more connection', async () => {
    const board = await service.board()
    const params = { board_id: board.id, column_id: board.columns[0].id }
    const create = (title: string) => board.member.api.send('createCard', { params, body: { title } })
    const waitingForLock = async () => {
      const { rows } = await service.sql.query<{ count: string }>(
        `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return Number(rows[0]?.count)
    }
    let isOver = false
    const answers = Promise.all(['Slow 1', 'Slow 2', 'Slow 3', 'Slow 4'].map(create)).finally(() => {
      isOver = true
    })
    const seen = new Set<number>()
    while (!isOver) seen.add(await waitingForLock())
    const positions = (await answers).map(({ headers }) => headers.get('board-position'))
    expect(new Set(positions)).toEqual(new Set(['1.4', '1.5', '1.6', '1.7']))
    expect(seen).toEqual(new Set([0, 1]))
  })
})
