import { setTimeout as pause } from 'node:timers/promises'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { eventually, type ServiceProcess } from '@lockstep/testing/processes'
import { percentile } from '@lockstep/testing/statistics'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { HarnessService } from './environment.ts'

const BOARDS = 20
const USERS = 4
const SLOW_MS = 5_000
const WRITE_EVERY_MS = 25

export interface SlowReceiver {
  /** Delays of the other receivers in milliseconds, without and with the slow one. */
  p99: { without: number; with: number }
  most: { without: number; with: number }
  events: number
  slowRequests: number
}

/** Measures how long events take to well receivers, without and with a receiver that takes five seconds for each response. */
export async function delayWithSlowReceiver(seconds: number): Promise<SlowReceiver> {
  await using service = await HarnessService.start(1, {})
  const well = await WebhookReceiver.start()
  const slow = await WebhookReceiver.start()
  slow.respond = () => pause(SLOW_MS, 204)
  try {
    const boards = await service.makeBoards(BOARDS, USERS)
    for (const board of boards) await service.makeWebhook(board, well.url)
    const { baseUrl } = service.instances[0] as ServiceProcess
    const clients = boards.map(({ token }) => new HttpClient(baseUrl, token))
    const write = async (nth: number) => {
      const title = `Title ${performance.now()}`
      const response = await clients[nth]?.json('PATCH', `/cards/${boards[nth]?.card_id}`, { title })
      return Number(response?.status === 200)
    }
    const measure = async () => {
      const before = well.requests.length
      // Every board at once: no webhook is known to be slow yet.
      let written = (await Promise.all(boards.map((_, nth) => write(nth)))).reduce((sum, each) => sum + each, 0)
      for (const end = performance.now() + seconds * 1_000; performance.now() < end; await pause(WRITE_EVERY_MS))
        written += await write(Math.floor(Math.random() * BOARDS))
      await eventually('all events arrive', () => well.requests.length >= before + written)
      return delaysOf(service, well, before)
    }
    const without = await measure()
    // A webhook of every board, so that there are more than workers for them.
    for (const board of boards) await service.makeWebhook(board, slow.url)
    const together = await measure()
    for (const client of clients) client.close()
    return {
      p99: { without: percentile(without, 99), with: percentile(together, 99) },
      most: { without: Math.max(...without), with: Math.max(...together) },
      events: without.length + together.length,
      slowRequests: slow.requests.length,
    }
  } finally {
    await well.close()
    await slow.close()
  }
}

/** Milliseconds between the event and its arrival. */
async function delaysOf(service: HarnessService, receiver: WebhookReceiver, from: number): Promise<number[]> {
  const rows = await service.query<{ key: string; at: number }>(
    `select board_id || '.' || seq as key, (extract(epoch from created_at) * 1000)::float8 as at from board_events`,
  )
  const written = new Map(rows.map(({ key, at }) => [key, at]))
  return receiver.requests
    .slice(from)
    .map(({ message, at }) => at - (written.get(`${message.board_id}.${message.seq}`) as number))
}
