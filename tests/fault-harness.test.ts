import type { Card } from '@lockstep/contract/cards'
import { endProcesses } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkAll, checkers } from './fault-harness/checkers.ts'
import { type FaultEnvironment, startFaultEnvironment } from './fault-harness/environment.ts'
import type { Connection, Dump, History } from './fault-harness/history.ts'
import { drainWithoutFlapping } from './fault-harness/presence-scenarios.ts'
import { startStandalone } from './fault-harness/redis.ts'
import { checkRemovals, type RemovalHistory } from './fault-harness/removal-model.ts'
import { removeUnderKills } from './fault-harness/removals-under-kills.ts'
import { messageFilter } from './fault-harness/resp-proxy.ts'
import { runSeed, type Size } from './fault-harness/run.ts'
import { loseMessages, stopRedis } from './fault-harness/scenarios.ts'
import { committedAt, endAt, fault, removal, soundHistory, soundRemovals } from './fault-harness/sound-history.ts'

const SEED = 7
/** With `REMOVALS=500`, it takes some minutes. */
const REMOVALS = Number(process.env['REMOVALS'] ?? 60)
const SIZE: Size = {
  seconds: 'once',
  rate: 50,
  numbered: 15,
  plain: 9,
  slow: 3,
  durations: { freeze: 1_200, redis: 1_200, lose: 1_200, gap: 200 },
}

describe('the checkers', () => {
  type Defect = (history: History, dump: Dump) => void
  const [NUMBERED, PLAIN, GUEST] = [0, 1, 2]
  const of = ({ connections }: History, index: number) => connections[index] as Connection
  const receipt = (history: History, index: number, seq: number) =>
    of(history, index).receipts[seq - 1] as Connection['receipts'][number]

  const seededDefects: [id: keyof typeof checkers, what: string, seed: Defect][] = [
    ['C1', 'a gap in the log', (_, dump) => dump.events.splice(4, 1)],
    [
      'C1',
      'a duplicate number',
      (_, { events }) => events.splice(4, 0, { ...(events[4] as never as object) } as never),
    ],
    ['C1', 'a stream at another position', (_, { streams }) => Object.assign(streams[0] ?? {}, { last_seq: 21 })],
    [
      'C2',
      'a rejected write that is delivered',
      ({ writes }) => Object.assign(writes[3] ?? {}, { outcome: 'rejected' }),
    ],
    ['C2', 'an event without a write', ({ writes }) => writes.splice(3, 1)],
    ['C3', 'an acknowledged write that is not in the log', (_, dump) => dump.events.pop()],
    ['C3', 'an acknowledged write after its position', ({ writes }) => Object.assign(writes[3] ?? {}, { seq: 3 })],
    [
      'C4',
      'a different text for one reader',
      (h) => Object.assign(receipt(h, NUMBERED, 5), { body: '{"type":"card.created"}' }),
    ],
    ['C4', 'a different text for a client without numbers', (h) => Object.assign(receipt(h, PLAIN, 5), { body: '{}' })],
    ['C5', 'a skipped event', (h) => of(h, NUMBERED).receipts.splice(4, 1)],
    ['C5', 'a duplicate event', (h) => of(h, NUMBERED).receipts.splice(4, 0, receipt(h, NUMBERED, 4))],
    [
      'C5',
      'two events in the wrong order',
      (h) => of(h, PLAIN).receipts.splice(4, 2, receipt(h, PLAIN, 6), receipt(h, PLAIN, 5)),
    ],
    ['C5', 'a skipped event for a client without numbers', (h) => of(h, PLAIN).receipts.splice(4, 1)],
    ['C6', 'a late event', (h) => Object.assign(receipt(h, PLAIN, 5), { at: committedAt(5) + 3_100 })],
    ['C6', 'a client without numbers that receives nothing', (h) => Object.assign(of(h, PLAIN), { receipts: [] })],
    ['C6', 'a lost last event of a quiet board', (h) => of(h, NUMBERED).receipts.pop()],
    [
      'C6',
      'an event that takes two seconds while only Redis is down',
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
      'a board that differs from its events',
      ({ snapshots }) => Object.assign(snapshots[0]?.board as object, { title: 'Other' }),
    ],
    ['C8', 'a client that never received an event', (h) => of(h, NUMBERED).receipts.splice(7, 1)],
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
      'a removed member who stays connected',
      (h) => {
        h.removals.push(removal(20, 30))
        endAt(of(h, GUEST), committedAt(20) + 1_200, 1008)
      },
    ],
    [
      'C9',
      'a removed member who is accepted',
      (h) => {
        h.removals.push(removal(5, 30))
        Object.assign(of(h, GUEST), { helloSeq: 6, receipts: [] })
      },
    ],
    [
      'C10',
      'a present user who is announced as gone',
      (h) => of(h, NUMBERED).presence.push({ at: 20_000, type: 'user_left', user_id: 'guest' }),
    ],
    [
      'C10',
      'a client that receives another user before its own',
      (h) => of(h, NUMBERED).presence.unshift({ at: 9, type: 'user_joined', user_id: 'guest' }),
    ],
    ['C11', 'a broken connection without a cause', (h) => endAt(of(h, NUMBERED), 21_000, 1006)],
    ['C11', 'a member who is closed with 1008', (h) => endAt(of(h, NUMBERED), 21_000, 1008)],
    ['C11', 'a fast reader who is closed with 1013', (h) => endAt(of(h, NUMBERED), 21_000, 1013)],
    [
      'C11',
      'a drain that closes sockets of another instance',
      (h) => {
        h.faults.push(fault('drain instance', 20_900, 22_000, 1))
        endAt(of(h, NUMBERED), 21_000, 1012)
      },
    ],
    ['C12', 'too much memory', ({ samples }) => samples.push({ at: 1, instance: 1, rss_mib: 700 })],
    ['C12', 'an unhandled rejection', ({ outputs }) => outputs.push('{"level":"error","msg":"unhandledRejection"}')],
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
      'a request that is interrupted by a drain',
      (h) => {
        h.faults.push(fault('drain instance', committedAt(6), committedAt(9), 0))
        Object.assign(h.writes[5] ?? {}, { outcome: 'unknown', said: 'ECONNRESET' })
      },
    ],
    [
      'C3',
      'an acknowledged restore without an event',
      ({ writes }) => Object.assign(writes[3] ?? {}, { kind: 'restore', seq: 9 }),
    ],
    [
      'C14',
      'an archived card that is still on the board',
      ({ writes }) => Object.assign(writes[3] ?? {}, { kind: 'archive' }),
    ],
    [
      'C14',
      'a deleted card that is gone',
      ({ writes }, dump) => {
        Object.assign(writes[3] ?? {}, { kind: 'delete' })
        dump.cards.splice(3, 1)
      },
    ],
    ['C14', 'a card that is nowhere', (_, { cards }) => Object.assign(cards[3] ?? {}, { state: 'lost' })],
  ]

  test('[LIVE-1] [LIVE-2] find nothing in a correct history', () => {
    const { history, dump } = soundHistory()
    expect(checkAll(history, dump)).toEqual([])
  })

  test('[LIVE-2] do not count time in which an instance was frozen', () => {
    const { history, dump } = soundHistory()
    Object.assign(receipt(history, NUMBERED, 5), { at: committedAt(5) + 4_500 })
    for (const seq of [6, 7, 8, 9]) Object.assign(receipt(history, NUMBERED, seq), { at: committedAt(5) + 4_500 })
    history.faults.push(fault('freeze instance', committedAt(5), committedAt(5) + 4_000, NUMBERED))
    expect(checkers.C6.check(history, dump)).toEqual([])
    history.faults.splice(0, 1, fault('freeze instance', committedAt(5), committedAt(5) + 4_000, PLAIN))
    expect(checkers.C6.check(history, dump)).toHaveLength(1)
  })

  test.each(seededDefects)('[LIVE-1] [LIVE-2] [LIVE-3] [LIVE-4] [LIVE-6] %s finds %s', (id, _, seed) => {
    const { history, dump } = soundHistory()
    seed(history, dump)
    expect(checkers[id].check(history, dump)).toContainEqual(expect.stringMatching(`^${id}: `))
  })
})

describe('the checker of removals', () => {
  const restored = ({ boards: [read] }: RemovalHistory) => read?.board.columns[0]?.cards[0] as Card
  const found = ({ contents: [read] }: RemovalHistory) => read?.found as RemovalHistory['contents'][number]['found']
  const seededDefects: [id: string, what: string, seed: (history: RemovalHistory, dump: Dump) => void][] = [
    ['R1', 'a restore that is rejected', ({ sent }) => Object.assign(sent[1] ?? {}, { outcome: 'rejected' })],
    ['R2', 'an acknowledged deletion without an event', (_, { events }) => events.shift()],
    [
      'R2',
      'a restore with the event of a card',
      (_, { events }) => Object.assign(events[1] ?? {}, { type: 'card.created' }),
    ],
    ['R3', 'a column that did not come back', ({ boards }) => boards[0]?.board.columns.pop()],
    ['R3', 'a column that came back without a card', ({ boards }) => boards[0]?.board.columns[0]?.cards.pop()],
    ['R3', 'cards in another order', ({ boards }) => boards[0]?.board.columns[0]?.cards.reverse()],
    ['R3', 'another number', (history) => Object.assign(restored(history), { number: 2 })],
    ['R3', 'a checklist that is lost', (history) => restored(history).checklists.pop()],
    ['R3', 'a label that is lost', (history) => restored(history).labels.pop()],
    ['R4', 'a comment that is lost', (history) => found(history).comments.pop()],
    ['R4', 'a file with other bytes', (history) => Object.assign(found(history), { files: ['other'] })],
    ['R5', 'a card that is lost', ({ cards }) => cards[0]?.found.pop()],
    ['R5', 'a purged card that is still there', ({ cards }) => cards[0]?.expected.pop()],
    [
      'R5',
      'a card that is archived instead of deleted',
      ({ cards }) => Object.assign(cards[0]?.found[0] ?? {}, { state: 'archived' }),
    ],
  ]

  test('[REMOVE-2] finds nothing in a correct history', () => {
    const { history, dump } = soundRemovals()
    expect(checkRemovals(history, dump)).toEqual([])
  })

  test.each(seededDefects)('[REMOVE-2] %s finds %s', (id, _, seed) => {
    const { history, dump } = soundRemovals()
    seed(history, dump)
    expect(checkRemovals(history, dump)).toEqual([expect.stringMatching(`^${id}: `)])
  })
})

test('[LIVE-2] the proxy drops pub/sub messages and nothing else, however the bytes are split', () => {
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

// Long timeouts: a test that times out leaves its load running, which breaks the next test.
describe('three instances', { timeout: 180_000 }, () => {
  let environment: FaultEnvironment
  beforeAll(async () => {
    environment = await startFaultEnvironment(await startStandalone(seeded(SEED)), 5)
  }, 180_000)
  afterAll(async () => {
    await environment?.close()
    await endProcesses()
  })

  test('[LIVE-1] [LIVE-2] [LIVE-3] [LIVE-4] [LIVE-6] [SOCK-8] [REMOVE-2] keep every guarantee under load while every fault is injected in turn', {
    timeout: 240_000,
  }, async () => {
    const { history, violations } = await runSeed(environment, SEED, SIZE, () => {})
    expect(violations).toEqual([])
    expect(new Set(history.faults.map(({ kind }) => kind)).size).toBe(11)
    const done = history.writes.filter((write) => write.outcome === 'ok')
    expect(done.length).toBeGreaterThan(200)
    expect(new Set(done.map(({ kind }) => kind)).size).toBe(7)
  })

  test.each(['kill', 'freeze'] as const)(
    '[LIVE-9] %s Redis: no write fails, events arrive within a second and once, and one error is logged',
    async (how) => {
      const { violations, events } = await stopRedis(environment, how, {
        seed: SEED,
        rounds: 1,
        roundMs: 2_000,
        rate: 50,
      })
      expect(violations).toEqual([])
      expect(events).toBeGreaterThan(30)
    },
  )

  test('[LIVE-9] [LIVE-2] with 10 % of the messages lost, no client is behind for longer than 2.5 seconds', async () => {
    const { violations, lost } = await loseMessages(environment, { seed: SEED, ms: 2_000, rate: 50, share: 0.1 })
    expect(violations).toEqual([])
    expect(lost).toBeGreaterThan(0)
  })

  test('[REMOVE-2] [REMOVE-3] [REMOVE-4] [REMOVE-6] cards and columns come back complete, and the log equals the board, while instances are killed', {
    timeout: 60_000 + 2_000 * REMOVALS,
  }, async () => {
    const load = { seed: SEED, boardCount: 3, operations: REMOVALS, kills: Math.ceil(REMOVALS / 20) }
    const { violations, ...figures } = await removeUnderKills(environment, load)
    console.log(figures)
    expect(violations).toEqual([])
    expect(figures.ofColumns).toBeGreaterThan(0)
    expect(figures.cutOff).toBeGreaterThan(0)
  })

  test('[PRES-4] [SOCK-8] a drain shows no user as gone', async () => {
    const { violations } = await drainWithoutFlapping(environment, { seed: SEED, watchMs: 1_000 })
    expect(violations).toEqual([])
  })
})
