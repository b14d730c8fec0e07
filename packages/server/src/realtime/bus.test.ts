import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#testing/processes'
import { startProxy, type TcpProxy } from '#testing/tcp-proxy'
import { REDIS } from '#testing/template-database'
import { Bus } from './bus.ts'

let redis: TcpProxy
let bus: Bus
let other: Bus
const heard: string[] = []
beforeAll(async () => {
  redis = await startProxy(REDIS)
  const log = { info: () => {}, warn: () => {} }
  const ignore = { event: () => {}, presence: () => {}, user: () => {}, suspect: () => {} }
  bus = new Bus(redis.url, randomUUID(), log, { ...ignore, event: (board_id) => void heard.push(board_id) })
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
