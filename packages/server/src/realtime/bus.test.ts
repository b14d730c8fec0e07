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
const heard: string[] = []
const announced: [board_id: string, epoch: number, seq: number][] = []
beforeAll(async () => {
  redis = await startProxy(REDIS)
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) }
  const ignore = { event: () => {}, announced: () => {}, presence: () => {}, user: () => {}, suspect: () => {} }
  bus = new Bus(redis.url, randomUUID(), log, {
    ...ignore,
    event: (board_id) => void heard.push(board_id),
    announced: (board_id, epoch, seq) => void announced.push([board_id, epoch, seq]),
    presence: (_, message) => void JSON.parse(message.slice(message.indexOf('|') + 1)),
  })
  other = new Bus(REDIS, randomUUID(), log, ignore)
  await eventually('both can be heard', () => !bus.isSuspect && !other.isSuspect)
})
afterAll(async () => {
  bus.close()
  other.close()
  await redis.close()
})

const subscribed = (board_id: string) => new Promise<void>((done) => bus.subscribe(board_id, done))
const ring = (board_id: string) =>
  other.announce({
    board_id,
    epoch: 1,
    events: [{ seq: 1, type: 'card.updated', subject_id: null, body: '{"type":"card.updated","data":1}' }],
  })

test('[LIVE-9] a board that somebody comes back to while the bell is being let go is heard', async () => {
  const board_id = randomUUID()
  await subscribed(board_id)
  bus.unsubscribe(board_id)
  await subscribed(board_id)
  // Until Redis has answered both.
  await pause(100)
  ring(board_id)
  await expect.poll(() => heard).toContain(board_id)
})

test('[SEC-7] a message that cannot be read is skipped, and logged as what it is', async () => {
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
  await expect.poll(() => warnings).toEqual(garbage.map(() => 'A message in Redis cannot be read, and is skipped'))
  expect(heard).not.toContain(board_id)
  // On the same subscription: nobody asks for it again.
  ring(board_id)
  await expect.poll(() => heard).toContain(board_id)
})

test('[LIVE-9] connections that died without a word are replaced, both of them', { timeout: 30_000 }, async () => {
  const board_id = randomUUID()
  await subscribed(board_id)
  redis.forget()
  await expect.poll(() => bus.isSuspect, { timeout: 5_000 }).toBe(true)
  await expect.poll(() => bus.isSuspect, { timeout: 15_000 }).toBe(false)
  // What was under way on the dead connection does not count any more.
  await bus.ping()
  ring(board_id)
  await expect.poll(() => heard).toContain(board_id)
})

test('[LIVE-12] a large event is published by its number alone', async () => {
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
  await eventually('the small one is heard', () => heard.includes(board_id))
  expect(announced).toEqual([[board_id, 3, 7]])
})

test('[LIVE-12] what waits for Redis is bounded in bytes', async () => {
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
    // 400 messages of 64 kB are fewer than may wait, but more than 16 MiB.
    expect(bus.counts.dropped - dropped).toBeGreaterThan(100)
    expect(bus.counts.dropped - dropped).toBeLessThan(200)
  } finally {
    redis.thaw()
  }
})
