import { operations } from '@lockstep/contract'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkLife } from './fold/check.ts'
import { play } from './fold/random-writes.ts'
import { type Act, type Life, type Logged, live, type Person, type Stage } from './fold/record-board.ts'
import { Dice, inputsOf, writeNames } from './fold/writes.ts'

const SIZE = { lanes: 8, steps: 30 }
const SEEDS = [1, 2, 3]

let service: TestService
/** A second instance on the same database: what one process puts in order by itself, two must settle in PostgreSQL. */
let twin: TestService
let stage: Stage
beforeAll(async () => {
  service = await startService()
  twin = await startService({}, { beside: service })
  const users = await Promise.all(Array.from({ length: 5 }, () => service.user()))
  const people = users.map(({ id, api }): Person => ({ id, token: api.token as string }))
  stage = { urls: [service.base_url, twin.base_url], sql: service.sql, people: people as [Person, ...Person[]] }
})
afterAll(async () => {
  await twin.stop()
  await service.stop()
})

describe('several clients at once', () => {
  const lives: Life[] = []

  test.each(SEEDS)(
    '[EVENT-1] [EVENT-2] [EVENT-3] [EVENT-5] [LIVE-1] [LIVE-4] [WRITE-3] [WRITE-6] whatever they do, the log folds to the board, and is what sockets were told (seed %i)',
    async (seed) => {
      const life = await live(stage, play(seed, SIZE, stage))
      lives.push(life)
      expect(checkLife(life)).toEqual([])
    },
  )

  test('[EVENT-3] they collided, made room and set off rules', () => {
    const refusals = new Set(lives.flatMap((life) => Object.keys(life.refusals)))
    expect([...refusals]).toEqual(
      expect.arrayContaining(['not_a_member', 'role_too_low', 'card_not_found', 'id_taken']),
    )
    const madeRoom = ({ log }: Life) =>
      log.some(({ type, data }, i) => {
        const before = log[i - 1]
        const isMove = before?.type === 'card.moved' && before.user_id === null
        return isMove && type === 'card.created' && before.data['column_id'] === data['column_id']
      })
    expect(lives.filter(madeRoom)).not.toEqual([])
    const by_nobody = lives.flatMap(({ log }) => log.filter(({ user_id }) => user_id === null).map(({ type }) => type))
    expect(by_nobody).toEqual(expect.arrayContaining(['card.moved', 'card.assigned']))
    expect(Math.min(...lives.map(({ snapshots }) => snapshots.length))).toBeGreaterThan(1)
  })
})

test('[EVENT-3] [EVENT-5] everything that can be done on a board is among what they do, and can succeed', async () => {
  const failed: string[] = []
  // What is deleted is gone for those behind, and the founder can lose his own rights.
  const deletes = writeNames.filter((name) => name.startsWith('delete')).toReversed()
  const roles = writeNames.filter((name) => name.endsWith('Member'))
  const others = writeNames.filter((name) => !deletes.includes(name) && !roles.includes(name))
  const creates = others.filter((name) => name.startsWith('create'))
  const names = [...creates, ...others.filter((name) => !creates.includes(name)), ...deletes, ...roles]
  const everything: Act = async ({ known, send }) => {
    for (const name of names) {
      let status = 0
      for (let n = 0; n < 100 && status !== operations[name].returns.status; n++) {
        const rolls = Array.from({ length: 14 }, (_, i) => n * 31 + i * 7)
        const inputs = inputsOf(name, new Dice(rolls), known)
        status = (await send(stage.people[0], stage.urls[0], name, inputs as never)).status
      }
      if (status >= 400) failed.push(name)
    }
  }
  expect(checkLife(await live(stage, everything))).toEqual([])
  expect(failed).toEqual([])
})

describe('the check of a life', () => {
  /** A card is moved to and fro: the order of the last two moves decides where it is. */
  const toAndFro: Act = async ({ known, send }) => {
    const [{ id, token }] = stage.people
    const [one = '', two = ''] = known.ids.column
    const write: typeof send = (_, ...rest) => send({ id, token }, ...rest)
    const [who, url] = [stage.people[0], stage.urls[0]]
    await write(who, url, 'createCard', {
      params: { board_id: known.board_id, column_id: one },
      body: { title: 'Card' },
    })
    const [card_id = ''] = known.ids.card
    for (const column_id of [two, one]) await write(who, url, 'moveCard', { params: { card_id }, body: { column_id } })
  }
  const renumbered = (log: Logged[]) => log.map((event, i) => ({ ...event, seq: i + 1 }))

  const mutations: Record<string, [(life: Life) => Partial<Life>, RegExp]> = {
    'an event that is missing': [({ log }) => ({ log: log.slice(0, -1) }), /stands at/],
    'an event that is missing, though all the numbers are there': [
      ({ log }) => ({ log: renumbered([...log.slice(0, -2), ...log.slice(-1), ...log.slice(-1)]) }),
      /numbered socket/,
    ],
    'two moves that changed places': [
      ({ log }) => ({ log: renumbered([...log.slice(0, -2), ...log.slice(-2).reverse()]) }),
      /does not fold to the board: board\.columns/,
    ],
    'a field that leaks': [
      ({ log }) => ({ log: log.map((event) => ({ ...event, data: { ...event.data, hashed_password: 'x' } })) }),
      /breaks the contract/,
    ],
    'another author': [
      ({ log }) => ({ log: log.map((event) => ({ ...event, user_id: stage.people[1]?.id ?? null })) }),
      /is not what createCard by .* leaves behind/,
    ],
    'an event by nobody that somebody caused': [
      ({ log }) => ({ log: log.map((event) => ({ ...event, user_id: null })) }),
      /is not what/,
    ],
    'a socket that missed one': [
      ({ heard }) => ({ heard: { ...heard, plain: heard.plain.slice(0, -1) } }),
      /plain socket/,
    ],
    'a socket that was told one twice': [
      ({ heard }) => ({ heard: { ...heard, numbered: [...heard.numbered, ...heard.numbered.slice(-1)] } }),
      /numbered socket/,
    ],
    'a board that GET shows otherwise': [
      ({ end }) => ({ end: { ...end, board: { ...end.board, title: 'Other' } } }),
      /does not fold to the board: board\.title/,
    ],
  }
  let life: Life
  beforeAll(async () => {
    life = await live(stage, toAndFro)
  })

  test('[EVENT-3] is content with what is right', () => expect(checkLife(life)).toEqual([]))

  test.each(Object.entries(mutations))('[EVENT-3] [LIVE-1] finds %s', (_, [mutate, sentence]) => {
    expect(checkLife({ ...life, ...mutate(life) })).toContainEqual(expect.stringMatching(sentence))
  })
})
