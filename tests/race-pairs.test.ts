import type { FullBoard } from '@lockstep/contract/boards'
import { Client } from '@lockstep/testing/client'
import { errorsIn } from '@lockstep/testing/log-errors'
import { endProcesses } from '@lockstep/testing/processes'
import { startSpoilingProxy } from '@lockstep/testing/spoiling-proxy'
import { REDIS } from '@lockstep/testing/template-database'
import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countDeadlocks } from './fuzz/watch.ts'
import { checkBoard, checkDatabase, checkDeleted, type Logged, readLog, type Standing } from './race-pairs/check.ts'
import { type Answered, judgeAnswers, type Meeting } from './race-pairs/check-responses.ts'
import { startRaceEnvironment } from './race-pairs/environment.ts'
import { race } from './race-pairs/run.ts'
import { pairs, writeNames } from './race-pairs/writes.ts'

/** A few rounds for every pair; `npm run prove -- race-pairs` runs 200. */
const SIZE = { rounds: 3, at_once: 6 }

const usual: Meeting = { pair: ['updateCard', 'updateCard'], isRepeated: false, isSharedId: false, position: 7 }
const ok = (position: number): Answered => ({ met: '200', position })

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

test('[RACE-1] [RACE-2] every two writes meet on one board, at two instances and at one: each is answered, and the board is whole', {
  timeout: 600_000,
}, async () => {
  const raced = await race(environment, pairs, SIZE)
  expect(raced.violations).toEqual([])
  expect(raced.pairs).toBe((writeNames.length * (writeNames.length + 1)) / 2)
  expect(raced.rounds).toBe(raced.pairs * SIZE.rounds)
  expect(raced.at_one_instance).toBe(raced.pairs)
  // They did collide.
  expect([...raced.refusals.keys()]).toEqual(expect.arrayContaining(['404 card_not_found', '404 board_not_found']))
  expect(await checkDatabase(environment.sql)).toEqual([])
  expect(environment.services.flatMap(({ output }) => errorsIn(output()))).toEqual([])
  expect(await countDeadlocks(environment.sql)).toBe(0)
})

describe('the check of a race', () => {
  let before: Standing
  let after: Standing
  let log: Logged[]
  let api: Client
  /** A board before and after a few writes, and what the log tells in between. */
  beforeAll(async () => {
    api = new Client(environment.urls[0], environment.users.racers[0].token)
    const { id: board_id } = await api.call('createBoard', { body: { title: 'Checked' } })
    const read = async (): Promise<Standing> => {
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

  test('[RACE-2] is content with what is right', () => expect(checkBoard(before, log, after)).toEqual([]))

  test('[RACE-2] finds two of one rank', () => {
    const spoilt = withCards((cards) => cards.map((card) => ({ ...card, rank: 1 })))
    expect(checkBoard(before, log, spoilt)).toContain('two in one list have the same rank')
  })
  test('[RACE-2] finds a hole in the log, and an event too much', () => {
    const hole = checkBoard(before, [log[0], log[2]] as Logged[], after)
    expect(hole).toContainEqual(expect.stringMatching(/does not go on by one/))
    expect(hole).toContain('the log does not fold to the board')
    expect(checkBoard(before, log, { ...after, seq: after.seq + 1 })).toContainEqual(expect.stringMatching(/stands at/))
  })
  test('[RACE-2] finds a lost update', () => {
    const spoilt = withCards((cards) => cards.slice(1))
    expect(checkBoard(before, log, spoilt)).toContain('the log does not fold to the board')
  })
  test('[RACE-2] finds a board without an owner, a stranger who is assigned, and a label from nowhere', () => {
    const members = after.board.members.map((member) => ({ ...member, role: 'member' as const }))
    const orphan = { ...after, board: { ...after.board, members } }
    expect(checkBoard(before, log, orphan)).toContain('the board has no owner')
    const person = { ...after.board.members[0]?.user, id: environment.users.nonMember.id }
    const strange = withCards((cards) => cards.map((card) => ({ ...card, assignees: [person], labels: [person] })))
    expect(checkBoard(before, log, strange)).toEqual(
      expect.arrayContaining(['somebody is assigned who is no member', 'a card has a label that the board has not']),
    )
  })
  test('[RACE-2] finds what is left of a deleted board, and what is broken in the database', async () => {
    expect(await checkDeleted(environment.sql, [after.board.id])).toHaveLength(1)
    await environment.sql.query(`delete from board_events where board_id = $1 and seq = 2`, [after.board.id])
    await environment.sql.query(`update board_members set role = 'member' where board_id = $1`, [after.board.id])
    expect(await checkDatabase(environment.sql)).toEqual([
      expect.stringMatching(/a board without an owner, 1 times/),
      expect.stringMatching(/a log with a hole, 1 times/),
    ])
  })
  test.each<[string, Partial<Meeting>, [Answered, Answered], string]>([
    [
      'a refusal for no reason',
      {},
      [ok(8), { met: '404 card_not_found', position: Number.NaN }],
      'nothing was in its way',
    ],
    ['a change that never happened', {}, [ok(8), ok(7)], 'where the board stood already'],
    ['a change that is another’s', {}, [ok(8), ok(8)], 'two changes at one position'],
    ['a change without a position', {}, [ok(8), ok(Number.NaN)], 'where the board stood already'],
    ['a repetition with another answer', { isRepeated: true }, [ok(8), { ...ok(8), json: 1 }], 'answered differently'],
  ])('[RACE-1] finds %s', (_, meeting, answers, complaint) => {
    const complaints = judgeAnswers({ ...usual, ...meeting }, answers)
    expect(complaints).toEqual([expect.stringContaining(complaint)])
  })
  test('[RACE-1] is content with a refusal that has a reason, and with writes that change nothing', () => {
    const refused = (met: string): [Answered, Answered] => [ok(8), { met, position: Number.NaN }]
    expect(judgeAnswers(usual, [ok(9), ok(8)])).toEqual([])
    expect(judgeAnswers({ ...usual, pair: ['deleteCard', 'updateCard'] }, refused('404 card_not_found'))).toEqual([])
    expect(judgeAnswers({ ...usual, pair: ['removeMember', 'updateCard'] }, refused('403 not_a_member'))).toEqual([])
    const creates = { ...usual, pair: ['createCard', 'createCard'] as const }
    expect(judgeAnswers({ ...creates, isSharedId: true }, refused('409 id_taken'))).toEqual([])
    expect(judgeAnswers(creates, refused('409 id_taken'))).toHaveLength(1)
    expect(judgeAnswers({ ...usual, pair: ['moveCard', 'moveCard'] }, [ok(8), ok(8)])).toEqual([])
  })
  test('[RACE-1] finds a refusal of both, and a 5xx', async () => {
    await using proxy = await startSpoilingProxy(environment.urls[0], {
      answer: ({ method, path }, answer) =>
        method === 'PATCH' && path.startsWith('/labels')
          ? { ...answer, status: 500, content: Buffer.from('{"detail":"x","code":"internal"}') }
          : method === 'PATCH' && path.startsWith('/cards')
            ? { ...answer, status: 404, content: Buffer.from('{"detail":"x","code":"card_not_found"}') }
            : answer,
    })
    const spoilt = { ...environment, urls: [proxy.base_url, proxy.base_url] as const }
    const { violations } = await race(
      spoilt,
      [
        ['updateLabel', 'updateLabel'],
        ['updateCard', 'updateCard'],
      ],
      { rounds: 1, at_once: 1 },
    )
    expect(violations.join('\n')).toMatch(/updateLabel × updateLabel.*one was answered 500 internal/)
    expect(violations.join('\n')).toMatch(/updateCard × updateCard.*both were refused, with 404 card_not_found and 404/)
  })
})
