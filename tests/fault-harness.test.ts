import { endProcesses } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkAll, checkers } from './fault-harness/checkers.ts'
import { buildWorld, type World } from './fault-harness/environment.ts'
import type { Connection, Dump, History } from './fault-harness/history.ts'
import { drainWithoutFlapping } from './fault-harness/presence-scenarios.ts'
import { startStandalone } from './fault-harness/redis.ts'
import { messageFilter } from './fault-harness/resp-proxy.ts'
import { runSeed, type Size } from './fault-harness/run.ts'
import { loseMessages, stopRedis } from './fault-harness/scenarios.ts'
import { committedAt, endAt, fault, removal, soundHistory } from './fault-harness/sound-history.ts'

const SEED = 7
const SIZE: Size = {
  seconds: 'once',
  rate: 50,
  numbered: 15,
  plain: 9,
  slow: 3,
  durations: { freeze: 1_200, redis: 1_200, lose: 1_200, gap: 200 },
}

describe('the checkers', () => {
  type Plant = (history: History, dump: Dump) => void
  const [NUMBERED, PLAIN, GUEST] = [0, 1, 2]
  const of = ({ connections }: History, index: number) => connections[index] as Connection
  const receipt = (history: History, index: number, seq: number) =>
    of(history, index).receipts[seq - 1] as Connection['receipts'][number]

  const planted: [id: keyof typeof checkers, what: string, plant: Plant][] = [
    ['C1', 'a hole in the log', (_, dump) => dump.events.splice(4, 1)],
    [
      'C1',
      'a number that is there twice',
      (_, { events }) => events.splice(4, 0, { ...(events[4] as never as object) } as never),
    ],
    ['C1', 'a stream that stands elsewhere', (_, { streams }) => Object.assign(streams[0] ?? {}, { last_seq: 21 })],
    ['C2', 'a refused write that is seen', ({ writes }) => Object.assign(writes[3] ?? {}, { outcome: 'refused' })],
    ['C2', 'an event that nobody wrote', ({ writes }) => writes.splice(3, 1)],
    ['C3', 'an acknowledged write that is not in the log', (_, dump) => dump.events.pop()],
    [
      'C3',
      'an acknowledged write behind the position it was told',
      ({ writes }) => Object.assign(writes[3] ?? {}, { seq: 3 }),
    ],
    [
      'C4',
      'another text for one reader',
      (h) => Object.assign(receipt(h, NUMBERED, 5), { body: '{"type":"card.created"}' }),
    ],
    ['C4', 'another text for one without numbers', (h) => Object.assign(receipt(h, PLAIN, 5), { body: '{}' })],
    ['C5', 'an event that is skipped', (h) => of(h, NUMBERED).receipts.splice(4, 1)],
    ['C5', 'an event that comes twice', (h) => of(h, NUMBERED).receipts.splice(4, 0, receipt(h, NUMBERED, 4))],
    [
      'C5',
      'two events in the wrong order',
      (h) => of(h, PLAIN).receipts.splice(4, 2, receipt(h, PLAIN, 6), receipt(h, PLAIN, 5)),
    ],
    ['C5', 'an event that one without numbers is never given', (h) => of(h, PLAIN).receipts.splice(4, 1)],
    ['C6', 'an event that is late', (h) => Object.assign(receipt(h, PLAIN, 5), { at: committedAt(5) + 3_100 })],
    [
      'C6',
      'a reader without numbers who is given nothing at all',
      (h) => Object.assign(of(h, PLAIN), { receipts: [] }),
    ],
    ['C6', 'the last event of a quiet board that never comes', (h) => of(h, NUMBERED).receipts.pop()],
    [
      'C6',
      'an event that takes two seconds while only Redis is away',
      (h) => {
        h.faults.push(fault('kill Redis', committedAt(5) - 500, committedAt(9)))
        Object.assign(receipt(h, NUMBERED, 6), { at: committedAt(6) + 2_000 })
      },
    ],
    [
      'C7',
      'a resume that skips',
      (h) => Object.assign(of(h, NUMBERED), { since: 0, receipts: of(h, NUMBERED).receipts.slice(1) }),
    ],
    ['C7', 'a resume that repeats', (h) => Object.assign(of(h, NUMBERED), { since: 1 })],
    [
      'C8',
      'a board that is read otherwise than the events make it',
      ({ snapshots }) => Object.assign(snapshots[0]?.board as object, { title: 'Other' }),
    ],
    ['C8', 'a client that was never given an event', (h) => of(h, NUMBERED).receipts.splice(7, 1)],
    [
      'C9',
      'an event after the removal',
      (h) => {
        h.removals.push(removal(5, 30))
        endAt(of(h, GUEST), committedAt(6) + 100, 1008)
      },
    ],
    [
      'C9',
      'a removed member who stays',
      (h) => {
        h.removals.push(removal(20, 30))
        endAt(of(h, GUEST), committedAt(20) + 1_200, 1008)
      },
    ],
    [
      'C9',
      'a removed member who is let in',
      (h) => {
        h.removals.push(removal(5, 30))
        Object.assign(of(h, GUEST), { hello_seq: 6, receipts: [] })
      },
    ],
    [
      'C10',
      'somebody who is told to have left and is there',
      (h) => of(h, NUMBERED).presence.push({ at: 20_000, type: 'user_left', user_id: 'guest' }),
    ],
    [
      'C10',
      'somebody who hears of others before himself',
      (h) => of(h, NUMBERED).presence.unshift({ at: 9, type: 'user_joined', user_id: 'guest' }),
    ],
    ['C11', 'a line that breaks without a cause', (h) => endAt(of(h, NUMBERED), 21_000, 1006)],
    ['C11', 'a member who is sent away', (h) => endAt(of(h, NUMBERED), 21_000, 1008)],
    ['C11', 'a reader who is called slow', (h) => endAt(of(h, NUMBERED), 21_000, 1013)],
    [
      'C11',
      'a drain that is felt on another instance',
      (h) => {
        h.faults.push(fault('drain instance', 20_900, 22_000, 1))
        endAt(of(h, NUMBERED), 21_000, 1012)
      },
    ],
    ['C12', 'too much memory', ({ samples }) => samples.push({ at: 1, instance: 1, rss_mib: 700 })],
    ['C12', 'an unhandled rejection', ({ outputs }) => outputs.push('{"level":50,"msg":"unhandledRejection"}')],
    [
      'C13',
      'a write that fails because of Redis',
      (h) => {
        h.faults.push(fault('freeze Redis', committedAt(4), committedAt(9)))
        Object.assign(h.writes[5] ?? {}, { outcome: 'unknown', said: '503' })
      },
    ],
    [
      'C13',
      'a request that is cut off by a drain',
      (h) => {
        h.faults.push(fault('drain instance', committedAt(6), committedAt(9), 0))
        Object.assign(h.writes[5] ?? {}, { outcome: 'unknown', said: 'ECONNRESET' })
      },
    ],
  ]

  test('[LIVE-1] [LIVE-2] find nothing in a history in which all is right', () => {
    const { history, dump } = soundHistory()
    expect(checkAll(history, dump)).toEqual([])
  })

  test('[LIVE-2] excuse what nobody could have done better', () => {
    const { history, dump } = soundHistory()
    Object.assign(receipt(history, NUMBERED, 5), { at: committedAt(5) + 4_500 })
    for (const seq of [6, 7, 8, 9]) Object.assign(receipt(history, NUMBERED, seq), { at: committedAt(5) + 4_500 })
    history.faults.push(fault('freeze instance', committedAt(5), committedAt(5) + 4_000, NUMBERED))
    expect(checkers.C6.check(history, dump)).toEqual([])
    history.faults.splice(0, 1, fault('freeze instance', committedAt(5), committedAt(5) + 4_000, PLAIN))
    expect(checkers.C6.check(history, dump)).toHaveLength(1)
  })

  test.each(planted)('[LIVE-1] [LIVE-2] [LIVE-3] [LIVE-4] [LIVE-6] %s finds %s', (id, _, plant) => {
    const { history, dump } = soundHistory()
    plant(history, dump)
    expect(checkers[id].check(history, dump)).toContainEqual(expect.stringMatching(`^${id}: `))
  })
})

test('[LIVE-2] the proxy loses messages of subscriptions and nothing else, however the bytes are cut', () => {
  const message = (text: string) => `*3\r\n$8\r\nsmessage\r\n$4\r\n{0}a\r\n$${text.length}\r\n${text}\r\n`
  const replies = [
    '+OK\r\n',
    message('one'),
    ':1\r\n',
    '*2\r\n$2\r\nhi\r\n*-1\r\n',
    message('two\r\n*3'),
    '$-1\r\n',
    message('three'),
  ]
  const bytes = Buffer.from(replies.join(''))
  const kept = replies.filter((_, i) => i !== 4).join('')
  for (let cut = 1; cut < bytes.length; cut++) {
    let seen = 0
    let passed = ''
    const pass = messageFilter(
      () => ++seen === 2,
      (part) => {
        passed += part.toString()
      },
    )
    for (let at = 0; at < bytes.length; at += cut) pass(bytes.subarray(at, at + cut))
    expect(passed).toBe(kept)
  }
})

// Long patience: a test that is given up leaves its load running, and takes the next one with it.
describe('three instances', { timeout: 60_000 }, () => {
  let world: World
  beforeAll(async () => {
    world = await buildWorld(await startStandalone(seeded(SEED)), 5)
  }, 60_000)
  afterAll(async () => {
    await world?.close()
    await endProcesses()
  })

  test('[LIVE-1] [LIVE-2] [LIVE-3] [LIVE-4] [LIVE-6] [SOCK-8] keep every promise under load while everything fails in turn', {
    timeout: 90_000,
  }, async () => {
    const { history, violations } = await runSeed(world, SEED, SIZE, () => {})
    expect(violations).toEqual([])
    expect(new Set(history.faults.map((blow) => blow.kind)).size).toBe(11)
    expect(history.writes.filter((write) => write.outcome === 'ok').length).toBeGreaterThan(200)
  })

  test.each(['kill', 'freeze'] as const)(
    '[LIVE-9] %s Redis: no write fails, events come within a second, none twice, and it is said once',
    async (how) => {
      const { violations, events } = await stopRedis(world, how, { seed: SEED, rounds: 1, round_ms: 2_000, rate: 50 })
      expect(violations).toEqual([])
      expect(events).toBeGreaterThan(30)
    },
  )

  test('[LIVE-9] [LIVE-2] a tenth of the messages lost: nobody is behind for longer than two and a half seconds', async () => {
    const { violations, lost } = await loseMessages(world, { seed: SEED, ms: 2_000, rate: 50, share: 0.1 })
    expect(violations).toEqual([])
    expect(lost).toBeGreaterThan(0)
  })

  test('[PRES-4] [SOCK-8] a drain makes nobody flap', async () => {
    const { violations } = await drainWithoutFlapping(world, { seed: SEED, watch_ms: 1_000 })
    expect(violations).toEqual([])
  })
})
