import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from '@lockstep/testing/client'
import { type StoreOptions, type Stores, startStores } from '@lockstep/testing/environment'
import { makeAudience } from '@lockstep/testing/load/environment'
import { type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { WEBHOOK_SETTINGS } from '@lockstep/testing/webhook-receiver'
import type pg from 'pg'
import type { DeliveryHistory, LoggedEvent, WatchedWebhook } from './judge.ts'

/** Instances are started dozens of times. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

export interface HarnessBoard {
  id: string
  token: string
  card_id: string
}

export interface HarnessInstance extends ServiceProcess {
  startedAt: number
}

/** Instances of the service with their own PostgreSQL and Redis. */
export class HarnessService {
  readonly stores: Stores
  readonly instances: HarnessInstance[] = []
  frozen: HarnessInstance | undefined
  private readonly settings: Record<string, string>
  private readonly main: string | undefined

  constructor(stores: Stores, settings: Record<string, string>, main?: string) {
    this.stores = stores
    this.settings = settings
    this.main = main
  }

  static async start(
    count: number,
    {
      settings = {},
      main,
      stores: options,
    }: { settings?: Record<string, string>; main?: string; stores?: StoreOptions },
  ): Promise<HarnessService> {
    const stores = await startStores(options)
    const limits = { RATE_LIMITS: 'off', QUOTAS: 'off', DRAIN_SECONDS: '1', NODE_COMPILE_CACHE: COMPILED }
    const service = new HarnessService(
      stores,
      { ...stores.settings(), ...WEBHOOK_SETTINGS, ...limits, ...settings },
      main,
    )
    // The first one creates the database.
    await service.launch(0)
    await Promise.all(Array.from({ length: count - 1 }, (_, nth) => service.launch(nth + 1)))
    return service
  }

  /** Starts an instance, in place of one that has ended. */
  async launch(nth: number, more: Record<string, string> = {}) {
    const process = await startServiceProcess({ ...this.settings, ...more }, this.main)
    this.instances[nth] = { ...process, startedAt: Date.now() }
  }

  get sql(): pg.Pool {
    return this.stores.pool('lockstep')
  }

  /** Queries the database, and waits for it while it is down. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (let attempts = 1; ; attempts++)
      try {
        return (await this.sql.query<Row>(text, values)).rows
      } catch (error) {
        if (attempts === 100) throw error
        await pause(100)
      }
  }

  /** Boards of several users. */
  async makeBoards(count: number, users: number): Promise<HarnessBoard[]> {
    const { tokens } = await makeAudience(this.sql, users)
    const boards: HarnessBoard[] = []
    for (let nth = 0; nth < count; nth++) {
      const token = tokens[nth % users] as string
      const api = this.client(token)
      const { id } = await api.call('createBoard', { body: { title: `Board ${nth}` } })
      const column = await api.call('createColumn', { params: { board_id: id }, body: { title: 'To do' } })
      const params = { board_id: id, column_id: column.id }
      const card = await api.call('createCard', { params, body: { title: 'Card' } })
      boards.push({ id, token, card_id: card.id })
    }
    return boards
  }

  async makeWebhook({ id: board_id, token }: HarnessBoard, url: string): Promise<WatchedWebhook & { secret: string }> {
    const api = this.client(token)
    const webhook = await api.call('createWebhook', { params: { board_id }, body: { name: 'Receiver', url } })
    const { secret } = await api.call('getWebhookSecret', { params: { board_id, webhook_id: webhook.id } })
    const [epoch, seq] = webhook.position.split('.').map(Number) as [number, number]
    return { id: webhook.id, board_id, epoch, seq, secret }
  }

  client(token: string, nth = 0): Client {
    return new Client((this.instances[nth] as ServiceProcess).baseUrl, token)
  }

  /** How many events are still to be sent. */
  async behind(): Promise<number> {
    const [row] = await this.query<{ behind: number }>(
      `select coalesce(sum(stream.last_seq - hook.seq), 0)::int as behind
       from webhooks hook join board_stream stream on stream.board_id = hook.board_id`,
    )
    return row?.behind ?? 0
  }

  /** The log of every board. */
  async readLog(): Promise<DeliveryHistory['log']> {
    const rows = await this.query<LoggedEvent & { board_id: string }>(
      'select board_id, seq::int, body from board_events order by board_id, seq',
    )
    return Map.groupBy(rows, ({ board_id }) => board_id)
  }

  /** Attempts that were saved although their event had been accepted. */
  async staleSaves(): Promise<number> {
    const rows = await this.query(
      `select from (
         select seq, max(seq) filter (where is_accepted) over (
           partition by webhook_id, epoch order by attempted_at, seq rows between unbounded preceding and 1 preceding) as accepted
         from webhook_deliveries where seq is not null) saved
       where seq <= accepted`,
    )
    return rows.length
  }

  async [Symbol.asyncDispose]() {
    await this.stores[Symbol.asyncDispose]()
  }
}
