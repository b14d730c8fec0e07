import { setTimeout as pause } from 'node:timers/promises'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { type Random, seeded } from '@lockstep/testing/random'
import { type HarnessBoard, type HarnessInstance, HarnessService } from './environment.ts'
import { type DeliveryHistory, type Judgement, judge, type Stop } from './judge.ts'
import { type Mode, Receivers } from './receivers.ts'

export interface FaultSize {
  /** At least. The faults are spread over them. */
  deliveries: number
  boards: number
  webhooksPerBoard: number
  users: number
  receivers: number
  instances: number
  writers: number
  kills: number
  freezes: number
  redisStops: number
  postgresStops: number
  /** Between two faults, at least. */
  gapMs: number
}
export interface FaultRun extends Judgement {
  seconds: number
  requests: number
  rejectedWrites: number
  modeChanges: number
}

const WORKERS = 20
const TIMEOUT_SECONDS = 3
/** Until others have found that the lease ended: it is five seconds longer than the timeout, and they poll every six seconds. */
const FREEZE_MS = (TIMEOUT_SECONDS + 5 + 6) * 1_000 + 1_000
const LATE_MS = TIMEOUT_SECONDS * 1_000 + 500
/** After this time, attempts to slow receivers are running. */
const SLOW_SEEN_MS = 500
/** How long nothing may arrive at the end while something is missing. */
const SETTLE_MS = 40_000
/** Writers wait for the receivers beyond this, so that events are written while others are delivered until the end. */
const MAX_BACKLOG = 5_000
const WRITE_TIMEOUT_MS = 5_000

/** Delivers events while instances, stores and receivers fail, and judges what the receivers got. */
export async function deliverThroughFaults(
  size: FaultSize,
  { seed, progress, main }: { seed: number; progress: (line: string) => void; main?: string },
): Promise<FaultRun> {
  const random = seeded(seed)
  const settings = { WEBHOOK_WORKERS: String(WORKERS), WEBHOOK_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) }
  await using service = await HarnessService.start(size.instances, { settings, ...(main && { main }) })
  const receivers = new Receivers(random, LATE_MS)
  await receivers.start(size.receivers)
  try {
    const boards = await service.makeBoards(size.boards, size.users)
    const webhooks: DeliveryHistory['webhooks'] = []
    for (let nth = 0; nth < size.boards * size.webhooksPerBoard; nth++) {
      const board = boards[nth % size.boards] as HarnessBoard
      const receiver = nth + Math.floor(nth / size.boards)
      const { secret, ...webhook } = await service.makeWebhook(board, receivers.urlOf(receiver))
      receivers.expect(webhook.id, secret)
      webhooks.push(webhook)
    }
    progress(`${webhooks.length} webhooks of ${size.boards} boards`)
    const began = performance.now()
    const load = new WriteLoad(service, boards, seeded(seed + 1))
    const trouble = new Trouble(service, receivers, size, random)
    /** Events that are to be delivered, relative to the size. */
    const share = () => (load.done * size.webhooksPerBoard) / size.deliveries
    const backlog = () => load.done * size.webhooksPerBoard - receivers.requests.length
    const writing = load.run(size.writers, () =>
      share() >= 1 && trouble.isOver ? 'end' : backlog() > MAX_BACKLOG ? 'wait' : 'write',
    )
    const timer = setInterval(
      () => progress(`${receivers.requests.length} requests, ${load.done} writes, ${trouble.text}`),
      10_000,
    )
    try {
      await Promise.all([writing, trouble.run(share)])
      progress('all faults injected: waiting for the rest')
      await trouble.settle()
    } finally {
      clearInterval(timer)
      load.stop()
      trouble.stop()
      await writing.catch(() => {})
    }
    const seconds = (performance.now() - began) / 1_000
    const { kills, freezes, postgresStops } = trouble
    const judgement = judge({
      ...{ webhooks, requests: receivers.requests, log: await service.readLog() },
      ...{ staleSaves: await service.staleSaves(), workers: WORKERS, instances: size.instances },
      ...{ kills, freezes, postgresStops },
    })
    const { modeChanges } = trouble
    return { ...judgement, seconds, requests: receivers.requests.length, rejectedWrites: load.rejected, modeChanges }
  } finally {
    await receivers.close()
  }
}

/** Users who change cards and write comments, at any instance. A change that fails is not repeated: the log is the truth. */
class WriteLoad {
  done = 0
  rejected = 0
  private readonly service: HarnessService
  private readonly boards: HarnessBoard[]
  private readonly random: Random
  private readonly clients = new Map<string, HttpClient>()
  private isStopped = false

  constructor(service: HarnessService, boards: HarnessBoard[], random: Random) {
    this.service = service
    this.boards = boards
    this.random = random
  }

  async run(writers: number, next: () => 'write' | 'wait' | 'end') {
    const writer = async () => {
      for (let step = next(); step !== 'end' && !this.isStopped; step = next())
        if (step === 'wait') await pause(20)
        else if (await this.write().catch(() => false)) this.done++
        else {
          this.rejected++
          await pause(20)
        }
    }
    await Promise.all(Array.from({ length: writers }, writer))
    for (const client of this.clients.values()) client.close()
  }

  stop() {
    this.isStopped = true
  }

  private async write(): Promise<boolean> {
    const { token, card_id } = this.random.pick(this.boards)
    // As a load balancer does, which notices that an instance is frozen.
    const { baseUrl } = this.random.pick(this.service.instances.filter((each) => each !== this.service.frozen))
    const key = `${baseUrl} ${token}`
    const client = this.clients.get(key) ?? new HttpClient(baseUrl, token, { timeoutMs: WRITE_TIMEOUT_MS })
    this.clients.set(key, client)
    const text = `${this.done} „quoted" \\ 🎉 ${'x'.repeat(this.random.below(300))}`
    const { status } =
      this.random.next() < 0.1
        ? await client.json('POST', `/cards/${card_id}/comments`, { body: text })
        : await client.json('PATCH', `/cards/${card_id}`, { description: text })
    return status < 300
  }
}

/** Injects faults: into instances and stores one after the other, and into receivers all the time. */
class Trouble {
  kills = 0
  freezes = 0
  redisStops = 0
  modeChanges = 0
  isOver = false
  readonly postgresStops: Stop[] = []
  private readonly service: HarnessService
  private readonly receivers: Receivers
  private readonly size: FaultSize
  private readonly random: Random
  private readonly timers: NodeJS.Timeout[] = []
  private changing = Promise.resolve()
  /** Instances that are being started. */
  private readonly starting = new Set<number>()

  constructor(service: HarnessService, receivers: Receivers, size: FaultSize, random: Random) {
    this.service = service
    this.receivers = receivers
    this.size = size
    this.random = random
  }

  get text(): string {
    return `${this.kills} kills, ${this.freezes} freezes, ${this.redisStops} stops of Redis, ${this.postgresStops.length} of PostgreSQL`
  }

  async run(share: () => number) {
    this.timers.push(setInterval(() => this.changeMode(), 1_000 / Math.max(1, this.size.receivers / 8)))
    // The waits of the schedule are too long for a run: the next attempt is moved to now.
    this.timers.push(setInterval(() => void this.retryNow(), 1_000))
    const { kills, freezes, redisStops, postgresStops } = this.size
    const faults = this.random.shuffled([
      ...Array.from({ length: kills }, () => () => this.kill()),
      ...Array.from({ length: freezes }, () => () => this.freeze()),
      ...Array.from({ length: redisStops }, () => () => this.stopRedis()),
      ...Array.from({ length: postgresStops }, () => () => this.stopPostgres()),
    ])
    for (const [nth, fault] of faults.entries()) {
      await pause(this.size.gapMs * (0.5 + this.random.next()))
      while (share() < nth / faults.length) await pause(50)
      await fault()
    }
    while (this.starting.size > 0) await pause(50)
    this.isOver = true
  }

  /** Ends the faults and waits until everything is sent. */
  async settle() {
    clearInterval(this.timers.shift())
    await this.changing
    for (let nth = 0; nth < this.size.receivers; nth++) await this.receivers.setMode(nth, 'well')
    let least = Number.POSITIVE_INFINITY
    for (let deadline = Date.now() + SETTLE_MS; least > 0 && Date.now() < deadline; await pause(200)) {
      const behind = await this.service.behind()
      if (behind < least) deadline = Date.now() + SETTLE_MS
      least = Math.min(least, behind)
    }
    // The end of a late answer.
    await pause(LATE_MS)
  }

  stop() {
    for (const timer of this.timers) clearInterval(timer)
  }

  /** Two instances always run. */
  private async kill() {
    while (this.starting.size > this.size.instances - 3) await pause(20)
    const nth = this.random.pick(this.running())
    this.kills++
    this.starting.add(nth)
    await (this.service.instances[nth] as HarnessInstance).end('SIGKILL')
    // In the background: PostgreSQL may be stopped before the instance has started, and then it starts again.
    const start = async () => {
      while (this.starting.has(nth))
        await this.service.launch(nth).then(
          () => this.starting.delete(nth),
          () => pause(100),
        )
    }
    void start()
  }

  /** While responses are slow, so that it happens during attempts. */
  private async freeze() {
    for (let nth = 0; nth < this.size.receivers; nth += 2) this.setMode(nth, 'slow')
    await this.changing
    await pause(SLOW_SEEN_MS)
    // One that was just started has nothing to send yet.
    const running = this.running().map((nth) => this.service.instances[nth] as HarnessInstance)
    const oldest = running.reduce((first, other) => (other.startedAt < first.startedAt ? other : first))
    this.freezes++
    oldest.signal('SIGSTOP')
    this.service.frozen = oldest
    await pause(FREEZE_MS)
    oldest.signal('SIGCONT')
    this.service.frozen = undefined
  }

  private running(): number[] {
    const all = Array.from({ length: this.size.instances }, (_, nth) => nth)
    return all.filter((nth) => !this.starting.has(nth))
  }

  private async stopRedis() {
    const { redis } = this.service.stores
    this.redisStops++
    await redis.process().end('SIGKILL')
    await pause(500)
    await redis.start()
  }

  private async stopPostgres() {
    const { postgres } = this.service.stores
    const from = Date.now()
    await postgres.process().end('SIGQUIT')
    this.postgresStops.push({ from, to: Date.now() })
    await pause(300)
    await postgres.start()
  }

  private changeMode() {
    const mode: Mode = this.random.next() < 0.5 ? 'well' : this.random.pick(['down', 'slow', 'late', 'reject', 'cut'])
    this.setMode(this.random.below(this.size.receivers), mode)
  }

  private setMode(nth: number, mode: Mode) {
    this.modeChanges++
    this.changing = this.changing.then(() => this.receivers.setMode(nth, mode))
  }

  private retryNow() {
    return this.service
      .query(
        `update webhooks set next_attempt_at = clock_timestamp()
         where failed_attempts > 0 and held_until is null and next_attempt_at > clock_timestamp()`,
      )
      .catch(() => {})
  }
}
