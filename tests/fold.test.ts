import { join } from 'node:path'
import { events, operations } from '@lockstep/contract'
import type { FullBoard } from '@lockstep/contract/boards'
import { isAddedKind } from '@lockstep/contract/realtime'
import { emptyBoard } from '@lockstep/testing/fold'
import { isFullSize, REPEAT, SEED } from '@lockstep/testing/sample'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkRecordedBoard } from './fold/check.ts'
import { randomWrites } from './fold/random-writes.ts'
import {
  type BoardActivity,
  type FoldEnvironment,
  type FoldUser,
  type Logged,
  type RecordedBoard,
  recordBoard,
} from './fold/record-board.ts'
import { Dice, inputsOf, writeNames } from './fold/writes.ts'
import { unpackPreviousSource, withoutLaterFields } from './previous-version.ts'

const SIZE = { clients: 8, steps: 30 }
const SEEDS = Array.from({ length: isFullSize ? 50 : 2 }, (_, i) => SEED + i)

let service: TestService
/** A second instance on the same database: races between processes are serialized by PostgreSQL. */
let second: TestService
let environment: FoldEnvironment
beforeAll(async () => {
  service = await startService()
  second = await startService({}, { beside: service })
  const users = await Promise.all(Array.from({ length: 5 }, () => service.user()))
  const people = users.map(({ id, api }): FoldUser => ({ id, token: api.token as string }))
  environment = {
    urls: [service.baseUrl, second.baseUrl],
    sql: service.sql,
    users: people as [FoldUser, ...FoldUser[]],
  }
})
afterAll(async () => {
  await second.stop()
  await service.stop()
})

describe('several clients at once', () => {
  const boards: RecordedBoard[] = []

  test.each(SEEDS)(
    '[EVENT-1] [EVENT-2] [EVENT-3] [EVENT-5] [LIVE-1] [LIVE-4] [WRITE-3] [WRITE-6] [COMPAT-3] [COMPAT-5] [COMMENT-8] after random writes the log folds to the board, and equals what sockets received (seed %i)',
    async (seed) => {
      const recorded = await recordBoard(environment, randomWrites(seed, SIZE, environment))
      boards.push(recorded)
      expect(checkRecordedBoard(recorded), REPEAT).toEqual([])
    },
  )

  test('[COMPAT-4] [UPG-14] the client of the previous release folds the log to the same board, in the fields that it knows', async () => {
    using previous = unpackPreviousSource()
    const path = join(previous.folder, 'packages/client/src/live/fold.ts')
    const { applyEvent } = (await import(path)) as { applyEvent: (board: FullBoard, event: Logged) => FullBoard }
    expect(boards).toHaveLength(SEEDS.length)
    for (const { created, log, end } of boards)
      expect(withoutLaterFields(log.reduce(applyEvent, emptyBoard(created)))).toEqual(withoutLaterFields(end.board))
  })

  test.runIf(isFullSize)('[EVENT-3] the writes collided, rebalanced ranks and triggered rules', async () => {
    const madeRoom = ({ log }: RecordedBoard) =>
      log.some(({ type, data }, i) => {
        const before = log[i - 1]
        const isMove = before?.type === 'card.moved' && before.user_id === null
        return isMove && type === 'card.created' && before.data['column_id'] === data['column_id']
      })
    const expected = ['not_a_member', 'role_too_low', 'card_not_found', 'id_taken', 'removed_not_found']
    const missing = () => {
      const refusals = boards.flatMap(({ rejections }) => Object.keys(rejections))
      const byNobody = boards.flatMap(({ log }) => log.flatMap(({ user_id, type }) => (user_id === null ? type : [])))
      return [
        ...expected.filter((code) => !refusals.includes(code)),
        ...['card.moved', 'card.assigned'].filter((type) => !byNobody.includes(type)),
        ...(boards.some(madeRoom) ? [] : ['space for a card']),
      ]
    }
    // The seed does not decide the order of the writes, so few boards may lack one of these by chance.
    for (let more = 0; missing().length > 0 && more < 10; more++)
      boards.push(await recordBoard(environment, randomWrites(SEED + SEEDS.length + more, SIZE, environment)))
    expect(missing()).toEqual([])
    expect(Math.min(...boards.map(({ snapshots }) => snapshots.length))).toBeGreaterThan(1)
  })
})

test('[COMPAT-5] the specification has 31 kinds of events; those of comments are the only others', () => {
  const kinds = Object.keys(events)
  expect(kinds.filter(isAddedKind)).toEqual(['comment.created', 'comment.updated', 'comment.deleted'])
  expect(kinds).toHaveLength(31 + 3)
})

test('[EVENT-3] [EVENT-5] every operation on a board is among the random writes, and can succeed', async () => {
  const failed: string[] = []
  // Removals come last, because later writes need the resources, and then what needs something that was removed. Role changes
  // come after them, because the creator can lose access.
  const deletes = writeNames.filter((name) => /^(?:delete|archive(?!Board))/.test(name)).toReversed()
  const roles = writeNames.filter((name) => name.endsWith('Member'))
  const removed = writeNames.filter((name) => name.endsWith('Removed'))
  const others = writeNames.filter((name) => ![deletes, roles, removed].some((list) => list.includes(name)))
  const creates = others.filter((name) => name.startsWith('create'))
  const changes = others.filter((name) => !creates.includes(name))
  // Twice, because cards and columns are removed in two ways.
  const names = [...creates, ...creates, ...changes, ...deletes, ...removed, ...roles]
  const everything: BoardActivity = async ({ known, send }) => {
    for (const name of names) {
      let status = 0
      for (let n = 0; n < 100 && status !== operations[name].returns.status; n++) {
        const rolls = Array.from({ length: 14 }, (_, i) => n * 31 + i * 7)
        const inputs = inputsOf(name, new Dice(rolls), known)
        status = (await send(environment.users[0], environment.urls[0], name, inputs as never)).status
      }
      if (status >= 400) failed.push(name)
    }
  }
  expect(checkRecordedBoard(await recordBoard(environment, everything))).toEqual([])
  expect(failed).toEqual([])
})

describe('the check of a recorded board', () => {
  /** Moves a card back and forth, so that the order of the last two moves matters. */
  const toAndFro: BoardActivity = async ({ known, send }) => {
    const [{ id, token }] = environment.users
    const [one = '', two = ''] = known.ids.column
    const write: typeof send = (_, ...rest) => send({ id, token }, ...rest)
    const [who, url] = [environment.users[0], environment.urls[0]]
    await write(who, url, 'createCard', {
      params: { board_id: known.board_id, column_id: one },
      body: { title: 'Card' },
    })
    const [card_id = ''] = known.ids.card
    for (const column_id of [two, one]) await write(who, url, 'moveCard', { params: { card_id }, body: { column_id } })
  }
  const renumbered = (log: Logged[]) => log.map((event, i) => ({ ...event, seq: i + 1 }))

  const mutations: Record<string, [(recorded: RecordedBoard) => Partial<RecordedBoard>, RegExp]> = {
    'a missing event': [({ log }) => ({ log: log.slice(0, -1) }), /is at/],
    'a missing event with renumbered successors': [
      ({ log }) => ({ log: renumbered([...log.slice(0, -2), ...log.slice(-1), ...log.slice(-1)]) }),
      /numbered socket/,
    ],
    'two moves in the wrong order': [
      ({ log }) => ({ log: renumbered([...log.slice(0, -2), ...log.slice(-2).reverse()]) }),
      /does not fold to the board: board\.columns/,
    ],
    'a leaked field': [
      ({ log }) => ({ log: log.map((event) => ({ ...event, data: { ...event.data, hashed_password: 'x' } })) }),
      /breaks the contract/,
    ],
    'another author': [
      ({ log }) => ({ log: log.map((event) => ({ ...event, user_id: environment.users[1]?.id ?? null })) }),
      /is not what createCard by .* leaves behind/,
    ],
    'an event without its author': [
      ({ log }) => ({ log: log.map((event) => ({ ...event, user_id: null })) }),
      /is not what/,
    ],
    'a socket that missed an event': [
      ({ received }) => ({ received: { ...received, plain: received.plain.slice(0, -1) } }),
      /plain socket/,
    ],
    'a plain socket that heard of a comment': [
      ({ received }) => ({ received: { ...received, plain: [...received.plain, { type: 'comment.created' }] } }),
      /plain socket was sent comment\.created/,
    ],
    'a socket that received an event twice': [
      ({ received }) => ({
        received: { ...received, numbered: [...received.numbered, ...received.numbered.slice(-1)] },
      }),
      /numbered socket/,
    ],
    'a GET that returns another board': [
      ({ end }) => ({ end: { ...end, board: { ...end.board, title: 'Other' } } }),
      /does not fold to the board: board\.title/,
    ],
  }
  let recorded: RecordedBoard
  beforeAll(async () => {
    recorded = await recordBoard(environment, toAndFro)
  })

  test('[EVENT-3] accepts a correct record', () => expect(checkRecordedBoard(recorded)).toEqual([]))

  test.each(Object.entries(mutations))('[EVENT-3] [LIVE-1] finds %s', (_, [mutate, sentence]) => {
    expect(checkRecordedBoard({ ...recorded, ...mutate(recorded) })).toContainEqual(expect.stringMatching(sentence))
  })
})
