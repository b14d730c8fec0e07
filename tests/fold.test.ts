import { operations } from '@lockstep/contract'
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

const SIZE = { clients: 8, steps: 30 }
const SEEDS = [1, 2, 3]

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
    '[EVENT-1] [EVENT-2] [EVENT-3] [EVENT-5] [LIVE-1] [LIVE-4] [WRITE-3] [WRITE-6] after random writes the log folds to the board, and equals what sockets received (seed %i)',
    async (seed) => {
      const recorded = await recordBoard(environment, randomWrites(seed, SIZE, environment))
      boards.push(recorded)
      expect(checkRecordedBoard(recorded)).toEqual([])
    },
  )

  test('[EVENT-3] the writes collided, rebalanced ranks and triggered rules', () => {
    const refusals = new Set(boards.flatMap((recorded) => Object.keys(recorded.rejections)))
    expect([...refusals]).toEqual(
      expect.arrayContaining(['not_a_member', 'role_too_low', 'card_not_found', 'id_taken']),
    )
    const madeRoom = ({ log }: RecordedBoard) =>
      log.some(({ type, data }, i) => {
        const before = log[i - 1]
        const isMove = before?.type === 'card.moved' && before.user_id === null
        return isMove && type === 'card.created' && before.data['column_id'] === data['column_id']
      })
    expect(boards.filter(madeRoom)).not.toEqual([])
    const byNobody = boards.flatMap(({ log }) => log.filter(({ user_id }) => user_id === null).map(({ type }) => type))
    expect(byNobody).toEqual(expect.arrayContaining(['card.moved', 'card.assigned']))
    expect(Math.min(...boards.map(({ snapshots }) => snapshots.length))).toBeGreaterThan(1)
  })
})

test('[EVENT-3] [EVENT-5] every operation on a board is among the random writes, and can succeed', async () => {
  const failed: string[] = []
  // Deletes come last, because later writes need the resources. Role changes come after them, because the creator can
  // lose access.
  const deletes = writeNames.filter((name) => name.startsWith('delete')).toReversed()
  const roles = writeNames.filter((name) => name.endsWith('Member'))
  const others = writeNames.filter((name) => !deletes.includes(name) && !roles.includes(name))
  const creates = others.filter((name) => name.startsWith('create'))
  const names = [...creates, ...others.filter((name) => !creates.includes(name)), ...deletes, ...roles]
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
