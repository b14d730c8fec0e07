import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@lockstep/testing/processes'
import { startProxy, type TcpProxy } from '@lockstep/testing/tcp-proxy'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRedis } from '../platform/redis.ts'
import { Bus, channelOf } from './bus.ts'

let redis: TcpProxy
let bus: Bus
let other: Bus
const warnings: string[] = []
const received: string[] = []
const announced: [board_id: string, epoch: number, seq: number][] = []
beforeAll(async () => {
  redis = await startProxy(REDIS)
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) }
  const handlers = {
    onEvent: () => {},
    onAnnouncement: () => {},
    onPresence: () => {},
    onUserChange: () => {},
    onDegraded: () => {},
  }
  bus = new Bus(redis.url, randomUUID(), log, {
    ...handlers,
    onEvent: (board_id) => void received.push(board_id),
    onAnnouncement: (board_id, epoch, seq) => void announced.push([board_id, epoch, seq]),
    onPresence: (_, message) => void JSON.parse(message.slice(message.indexOf('|') + 1)),
  })
  other = new Bus(REDIS, randomUUID(), log, handlers)
  await eventually('both receive their canaries', () => !bus.isDegraded && !other.isDegraded)
})
afterAll(async () => {
  bus.close()
  other.close()
  await redis.close()
})

const subscribed = (board_id: string) => new Promise<void>((done) => bus.subscribe(board_id, done))
const publish = (board_id: string) =>
  other.announce({
    board_id,
    epoch: 1,
    events: [{ seq: 1, type: 'card.updated', subject_id: null, body: '{"type":"card.updated","data":1}' }],
  })

test('[LIVE-9] a board that is subscribed again during its unsubscribe receives messages', async () => {
  const board_id = randomUUID()
  await subscribed(board_id)
  bus.unsubscribe(board_id)
  await subscribed(board_id)
  // Until Redis has replied to both.
  await pause(100)
  publish(board_id)
  await expect.poll(() => received).toContain(board_id)
})

test('[SEC-7] a message that cannot be parsed is skipped and logged', async () => {
  const board_id = randomUUID()
  await subscribed(board_id)
  warnings.length = 0
  const publisher = makeRedis(REDIS)
  await publisher.connect()
  const garbage = [
    'p|1|not json',
    'p|',
    'p|9|null',
    'p|9|{}',
    'e|',
    'e|1|x||{"type":"card.updated"}',
    'e|1|2||not json',
  ]
  for (const message of garbage) await publisher.sPublish(channelOf(board_id), message)
  publisher.destroy()
  await expect.poll(() => warnings).toEqual(garbage.map(() => 'Skipped a Redis message that cannot be parsed'))
  expect(received).not.toContain(board_id)
  // The subscription is still active.
  publish(board_id)
  await expect.poll(() => received).toContain(board_id)
})

test('[LIVE-9] both connections are replaced when they stop responding without an error', async () => {
  const board_id = randomUUID()
  await subscribed(board_id)
  redis.forget()
  await expect.poll(() => bus.isDegraded, { timeout: 5_000 }).toBe(true)
  await expect.poll(() => bus.isDegraded, { timeout: 15_000 }).toBe(false)
  // Pending messages of the dead connection no longer count.
  await bus.ping()
  publish(board_id)
  await expect.poll(() => received).toContain(board_id)
})

test('[LIVE-12] only the number of a large event is published', async () => {
  const board_id = randomUUID()
  await subscribed(board_id)
  const body = (length: number) => `{"type":"card.updated","data":"${'x'.repeat(length)}"}`
  const event = (seq: number, length: number) => ({
    seq,
    type: 'card.updated' as const,
    subject_id: null,
    body: body(length),
  })
  other.announce({ board_id, epoch: 3, events: [event(7, 70_000), event(8, 60_000)] })
  await eventually('the small event is received', () => received.includes(board_id))
  expect(announced).toEqual([[board_id, 3, 7]])
})

test('[LIVE-12] the messages waiting for Redis are bounded in bytes', async () => {
  const board_id = randomUUID()
  const { dropped } = bus.counts
  redis.freeze()
  try {
    const body = `{"type":"card.updated","data":"${'x'.repeat(64_000)}"}`
    const events = Array.from({ length: 400 }, (_, i) => ({
      seq: i + 1,
      type: 'card.updated' as const,
      subject_id: null,
      body,
    }))
    bus.announce({ board_id, epoch: 1, events })
    // 400 messages of 64 kB are below the limit of messages, but above 16 MiB.
    expect(bus.counts.dropped - dropped).toBeGreaterThan(100)
    expect(bus.counts.dropped - dropped).toBeLessThan(200)
  } finally {
    redis.thaw()
  }
})
