import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

describe('a board whose changes take long to commit', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService()
    await service.sql.query(`
      create function slow_commit() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return null; end $$;
      create constraint trigger slow_commit after insert on cards deferrable initially deferred
        for each row when (new.title like 'Slow%') execute function slow_commit()`)
  })
  afterAll(() => service.stop())

  test('[WRITE-11] [WRITE-6] the next change waits for the board lock while the one before commits, on one more connection', async () => {
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
    const responses = Promise.all(['Slow 1', 'Slow 2', 'Slow 3', 'Slow 4'].map(create)).finally(() => {
      isOver = true
    })
    const seen = new Set<number>()
    while (!isOver) seen.add(await waitingForLock())
    const positions = (await responses).map(({ headers }) => headers.get('board-position'))
    expect(new Set(positions)).toEqual(new Set(['1.4', '1.5', '1.6', '1.7']))
    expect(seen).toEqual(new Set([0, 1]))
  })
})
