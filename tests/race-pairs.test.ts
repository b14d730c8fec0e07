import type { FullBoard } from '@lockstep/contract/boards'
import { Client } from '@lockstep/testing/client'
import { errorsIn } from '@lockstep/testing/log-errors'
import { endProcesses } from '@lockstep/testing/processes'
import { isFullSize, REPEAT, sampleOf } from '@lockstep/testing/sample'
import { startTamperingProxy } from '@lockstep/testing/tampering-proxy'
import { REDIS } from '@lockstep/testing/template-database'
import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countDeadlocks } from './fuzz/monitor.ts'
import { type BoardState, checkBoard, checkDatabase, checkDeleted, type Logged, readLog } from './race-pairs/check.ts'
import { checkResponses, type Race, type RaceResponse } from './race-pairs/check-responses.ts'
import { startRaceEnvironment } from './race-pairs/environment.ts'
import { race } from './race-pairs/run.ts'
import { pairs, writeNames } from './race-pairs/writes.ts'

/** Few rounds. `npm run prove -- race-pairs` runs 200 for every pair. */
const SIZE = { rounds: isFullSize ? 3 : 1, concurrency: 6 }

const usual: Race = { pair: ['updateCard', 'updateCard'], isRepeated: false, isSharedId: false, position: 7 }
const ok = (position: number): RaceResponse => ({ outcome: '200', position })

let database: TestDatabase
let environment: Awaited<ReturnType<typeof startRaceEnvironment>>
beforeAll(async () => {
  database = await createTestDatabase()
  environment = await startRaceEnvironment(database.url, REDIS)
}, 180_000)
afterAll(async () => {
  await endProcesses()
  await environment?.sql.end()
  await database?.drop()
})

test('[RACE-1] [RACE-2] every two writes race on one board, at two instances and at one: both get a valid response, and the board is consistent', {
  timeout: 600_000,
}, async () => {
  expect(pairs).toHaveLength((writeNames.length * (writeNames.length + 1)) / 2)
  const chosen = sampleOf(pairs, 7)
  const results = await race(environment, chosen, SIZE)
  expect(results.violations, REPEAT).toEqual([])
  expect(results.pairs).toBe(chosen.length)
  expect(results.rounds).toBe(chosen.length * SIZE.rounds)
  expect(results.atOneInstance).toBeGreaterThan(0)
  if (isFullSize) {
    expect(results.atOneInstance).toBe(results.pairs)
    // Some writes did collide.
    const expected = ['404 card_not_found', '404 board_not_found', '404 removed_not_found', '409 board_archived']
    expect([...results.rejections.keys()]).toEqual(expect.arrayContaining(expected))
  }
  expect(await checkDatabase(environment.sql)).toEqual([])
  expect(environment.services.flatMap(({ output }) => errorsIn(output()))).toEqual([])
  expect(await countDeadlocks(environment.sql)).toBe(0)
})

describe('the checks of a race', () => {
  let before: BoardState
  let after: BoardState
  let log: Logged[]
  let api: Client
  /** A board before and after a few writes, and the log in between. */
  beforeAll(async () => {
    api = new Client(environment.urls[0], environment.users.racers[0].token)
    const { id: board_id } = await api.call('createBoard', { body: { title: 'Checked' } })
    const read = async (): Promise<BoardState> => {
      const { headers, body } = await api.send('getBoard', { params: { board_id } })
      return { seq: Number(headers.get('board-position')?.split('.')[1]), board: body as FullBoard }
    }
    before = await read()
    const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'Column' } })
    for (const title of ['One', 'Two'])
      await api.call('createCard', { params: { board_id, column_id }, body: { title } })
    after = await read()
    log = await readLog(environment.sql, board_id, before.seq)
  })
  const withCards = (change: (cards: FullBoard['columns'][number]['cards']) => unknown[]) => ({
    ...after,
    board: {
      ...after.board,
      columns: after.board.columns.map((column) => ({ ...column, cards: change(column.cards) })),
    } as FullBoard,
  })

  test('[RACE-2] accepts a correct board', () => expect(checkBoard(before, log, after)).toEqual([]))

  test('[RACE-2] finds two items with the same rank', () => {
    const spoilt = withCards((cards) => cards.map((card) => ({ ...card, rank: 1 })))
    expect(checkBoard(before, log, spoilt)).toContain('two items of a list have the same rank')
  })
  test('[RACE-2] finds a gap in the log, and an extra event', () => {
    const hole = checkBoard(before, [log[0], log[2]] as Logged[], after)
    expect(hole).toContainEqual(expect.stringMatching(/has a gap before/))
    expect(hole).toContain('the log does not fold to the board')
    expect(checkBoard(before, log, { ...after, seq: after.seq + 1 })).toContainEqual(expect.stringMatching(/is at/))
  })
  test('[RACE-2] finds a lost update', () => {
    const spoilt = withCards((cards) => cards.slice(1))
    expect(checkBoard(before, log, spoilt)).toContain('the log does not fold to the board')
  })
  test('[RACE-2] finds a board without an owner, an assigned non-member, and an unknown label', () => {
    const members = after.board.members.map((member) => ({ ...member, role: 'member' as const }))
    const orphan = { ...after, board: { ...after.board, members } }
    expect(checkBoard(before, log, orphan)).toContain('the board has no owner')
    const person = { ...after.board.members[0]?.user, id: environment.users.nonMember.id }
    const strange = withCards((cards) => cards.map((card) => ({ ...card, assignees: [person], labels: [person] })))
    expect(checkBoard(before, log, strange)).toEqual(
      expect.arrayContaining(['a non-member is assigned', 'a card has a label of another board']),
    )
  })
  test('[RACE-2] finds leftovers of a deleted board, and violations in the database', async () => {
    expect(await checkDeleted(environment.sql, [after.board.id])).toHaveLength(1)
    await environment.sql.query(`delete from board_events where board_id = $1 and seq = 2`, [after.board.id])
    await environment.sql.query(`update board_members set role = 'member' where board_id = $1`, [after.board.id])
    const [off, on] = after.board.columns[0]?.cards ?? []
    await environment.sql.query('update cards set column_id = null where id = $1', [off?.id])
    await environment.sql.query(
      `insert into removals (board_id, id, card_id, removed_as, removed_at) values ($1, $2, $2, 'archived', now())`,
      [after.board.id, on?.id],
    )
    await environment.sql.query(
      `insert into removals (board_id, id, title, removed_as, removed_at) values ($1, $2, '', 'archived', now())`,
      [after.board.id, on?.column_id],
    )
    expect(await checkDatabase(environment.sql)).toEqual([
      expect.stringMatching(/a board without an owner, 1 times/),
      expect.stringMatching(/a log with a gap, 1 times/),
      expect.stringMatching(/a board whose counters differ from what it holds, 1 times/),
      expect.stringMatching(/a removal of a card that is on its board, 1 times/),
      expect.stringMatching(/a removal of a column that is on its board, 1 times/),
      expect.stringMatching(/a card without a column and without a removal, 1 times/),
    ])
  })
  test.each<[string, Partial<Race>, [RaceResponse, RaceResponse], string]>([
    [
      'a rejection without a reason',
      {},
      [ok(8), { outcome: '404 card_not_found', position: Number.NaN }],
      'and nothing prevented it',
    ],
    ['an acknowledged change that did not happen', {}, [ok(8), ok(7)], 'which is not after the previous one'],
    ['two changes with the same position', {}, [ok(8), ok(8)], 'two changes at one position'],
    ['a change without a position', {}, [ok(8), ok(Number.NaN)], 'which is not after the previous one'],
    ['a repetition with another response', { isRepeated: true }, [ok(8), { ...ok(8), json: 1 }], 'different responses'],
  ])('[RACE-1] finds %s', (_, race, responses, complaint) => {
    const complaints = checkResponses({ ...usual, ...race }, responses)
    expect(complaints).toEqual([expect.stringContaining(complaint)])
  })
  test('[RACE-1] accepts a rejection with a reason, and writes that change nothing', () => {
    const rejected = (outcome: string): [RaceResponse, RaceResponse] => [ok(8), { outcome, position: Number.NaN }]
    expect(checkResponses(usual, [ok(9), ok(8)])).toEqual([])
    expect(checkResponses({ ...usual, pair: ['deleteCard', 'updateCard'] }, rejected('404 card_not_found'))).toEqual([])
    expect(checkResponses({ ...usual, pair: ['removeMember', 'updateCard'] }, rejected('403 not_a_member'))).toEqual([])
    const archives = { ...usual, pair: ['archiveBoard', 'updateCard'] as const }
    expect(checkResponses(archives, rejected('409 board_archived'))).toEqual([])
    expect(checkResponses(archives, rejected('404 card_not_found'))).toHaveLength(1)
    const restores = { ...usual, pair: ['purgeRemoved', 'restoreRemoved'] as const }
    expect(checkResponses(restores, rejected('404 removed_not_found'))).toEqual([])
    expect(checkResponses(restores, rejected('409 board_archived'))).toHaveLength(1)
    const creates = { ...usual, pair: ['createCard', 'createCard'] as const }
    expect(checkResponses({ ...creates, isSharedId: true }, rejected('409 id_taken'))).toEqual([])
    expect(checkResponses(creates, rejected('409 id_taken'))).toHaveLength(1)
    expect(checkResponses({ ...usual, pair: ['moveCard', 'moveCard'] }, [ok(8), ok(8)])).toEqual([])
  })
  test('[RACE-1] finds that both were rejected, and a 5xx', async () => {
    await using proxy = await startTamperingProxy(environment.urls[0], {
      replaceResponse: ({ method, path }, response) =>
        method === 'PATCH' && path.startsWith('/labels')
          ? { ...response, status: 500, content: Buffer.from('{"detail":"x","code":"internal"}') }
          : method === 'PATCH' && path.startsWith('/cards')
            ? { ...response, status: 404, content: Buffer.from('{"detail":"x","code":"card_not_found"}') }
            : response,
    })
    const spoilt = { ...environment, urls: [proxy.baseUrl, proxy.baseUrl] as const }
    const { violations } = await race(
      spoilt,
      [
        ['updateLabel', 'updateLabel'],
        ['updateCard', 'updateCard'],
      ],
      { rounds: 1, concurrency: 1 },
    )
    expect(violations.join('\n')).toMatch(/updateLabel × updateLabel.*one returned 500 internal/)
    expect(violations.join('\n')).toMatch(
      /updateCard × updateCard.*both were rejected, with 404 card_not_found and 404/,
    )
  })
})
