import { setTimeout as pause } from 'node:timers/promises'
import { v7 as newUuid } from 'uuid'
import type { Db } from '../database/database.ts'
import { Batch } from '../platform/batch.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { SecretBox } from '../security/secret-box.ts'
import type { Log } from '../telemetry/log.ts'
import {
  claimWebhooks,
  type HeldWebhook,
  listBoardsWithWebhooks,
  type NextEvent,
  type RecordedAttempt,
  readNextEvents,
  releaseWebhooks,
  saveAttempts,
} from './dispatch-queries.ts'
import { eventMessage, type Message, resyncMessage, signedHeaders } from './message.ts'
import type { AttemptResult, Outgoing } from './outgoing.ts'
import { nextStep } from './retry-schedule.ts'

/** How often every instance looks for webhooks that are due, in case the instance that committed an event was killed. */
const POLL_MS = 5_000
const POLL_JITTER = 0.2
/** Changes of boards within this time are looked up together. */
const GATHER_MS = 20
/** While boards keep changing, they are looked up this often: what is sent together costs a fraction of its statements. */
const LOOK_EVERY_MS = 250
/** Longest time between the starts of two requests: normally, and while webhooks wait for a worker. */
const START_EVERY_MS = 10
const START_EVERY_MS_WHILE_WAITING = 1
/** Attempts that end within this time are saved together. */
const SAVE_MS = 10
/** After this time, a webhook makes way for others that wait. */
const TURN_MS = 2_000
/** A receiver that takes longer shares the workers for slow receivers, from this moment on. */
const SLOW_MS = 500
/** How many requests may be sent at once, relative to the workers, while receivers turn out to be slow. */
const MAX_LOAD = 2
/** A lease ends this long after the timeout of an attempt, and no attempt begins later than this before. */
const LEASE_MARGIN_MS = 5_000
const SAFETY_MS = 1_000
/** How long requests that are being sent may take when the instance stops. */
const STOP_MS = 5_000

export interface DispatcherSettings {
  /** How many requests are sent at once; 0: this instance sends none. */
  workers: number
  timeoutMs: number
  giveUpHours: number
  /** Larger events are sent without their data. */
  maxBytes: number
  /** How many statements run at once. */
  concurrentStatements: number
}
export interface DispatcherDeps {
  db: Db
  outgoing: Outgoing
  secrets: SecretBox
  log: Log
  onAttempt?: (outcome: 'accepted' | 'rejected' | 'failed') => void
  /** Seconds between the commit of an event and its acceptance. */
  onAccepted?: (seconds: number) => void
  onPaused?: (reason: 'failing' | 'gone') => void
}

/** A webhook that is being sent. */
interface Turn {
  webhook: HeldWebhook
  isSlow: boolean
  /** When the lease ends at the earliest, by the monotonic clock. */
  leaseEndsAt: number
  endsAt: number
  /** False once the lease has ended: with the last event, with a failed attempt, or because another sender has taken over. */
  isHeld: boolean
  /** How many events are known that are still to be sent. */
  toSend: number
}
interface Position {
  epoch: number
  seq: number
}
/** What is sent in one attempt. */
interface Outbound {
  message: Message
  event: Position
  /** The position of the webhook after it was accepted: behind events that it does not want. */
  next: Position
  /** Whether nothing follows. */
  isLast: boolean
  committedAt?: number
}

/**
 * Sends the events of boards to their webhooks. Each webhook is a position in the log of its board: events are read from the log,
 * sent in order, and the position moves when the receiver has accepted one. One instance at a time sends for a webhook, by a
 * lease. Commits of this instance start it at once, and a poll finds everything else.
 */
export class Dispatcher {
  private readonly settings: DispatcherSettings
  private readonly deps: DispatcherDeps
  private readonly db: Db
  private readonly leaseSeconds: number
  private readonly turns = new Set<Turn>()
  /** Boards that have webhooks, as of the last poll. */
  private known = new Set<string>()
  /** Those whose webhooks changed since the last poll began. */
  private readonly recent = new Set<string>()
  private readonly changed = new Set<string>()
  /** One at a time, because a claim depends on how many workers are free. */
  private readonly claims = new Semaphore(1)
  /** Whether webhooks may wait for a free worker. */
  private hasWaiting = false
  private gathering: NodeJS.Timeout | undefined
  private lookAt = 0
  private lookedAt = 0
  private pollTimer: NodeJS.Timeout | undefined
  private readonly work = new Set<Promise<void>>()
  private readonly attempts: Batch<RecordedAttempt, number | undefined>
  private readonly releases: Batch<HeldWebhook, unknown>
  /** When the last request started or will start, by the monotonic clock. */
  private lastStart = 0
  private isStopping = false
  /** Requests that were being sent have been cancelled. */
  private isCancelled = false

  constructor(settings: DispatcherSettings, deps: DispatcherDeps) {
    this.settings = settings
    this.deps = deps
    this.leaseSeconds = (settings.timeoutMs + LEASE_MARGIN_MS) / 1_000
    // Deliveries never take all connections.
    const statements = new Semaphore(settings.concurrentStatements)
    this.db = { run: (statement, args) => statements.run(() => deps.db.run(statement, args)) }
    const options = { waitMs: SAVE_MS, expected: () => this.turns.size }
    this.attempts = new Batch((attempts) => saveAttempts(this.db, attempts, this.leaseSeconds), options)
    this.releases = new Batch((webhooks) => releaseWebhooks(this.db, webhooks), options)
  }

  start() {
    if (this.settings.workers > 0) this.schedulePoll(Math.random() * POLL_MS * POLL_JITTER)
  }

  /** To be called when a board has new events. Boards without webhooks cost a lookup in a set. */
  boardChanged(board_id: string) {
    if (this.known.has(board_id)) this.look(board_id)
  }

  /** To be called when an owner created or changed a webhook. */
  webhookChanged(board_id: string) {
    if (this.settings.workers === 0) return
    this.known.add(board_id)
    this.recent.add(board_id)
    this.look(board_id)
  }

  /** Stops sending. What is not finished in time is released, and sent by another instance. */
  async stop() {
    this.isStopping = true
    clearTimeout(this.pollTimer)
    clearTimeout(this.gathering)
    const timeout = new AbortController()
    await Promise.race([Promise.all(this.work), pause(STOP_MS, undefined, { signal: timeout.signal }).catch(() => {})])
    timeout.abort()
    this.isCancelled = true
    this.deps.outgoing.close()
    await Promise.all(this.work)
  }

  private schedulePoll(ms = POLL_MS * (1 - POLL_JITTER + 2 * POLL_JITTER * Math.random())) {
    this.pollTimer = setTimeout(() => this.track(this.poll()), ms)
  }

  private async poll() {
    try {
      this.recent.clear()
      const board_ids = await listBoardsWithWebhooks(this.db)
      this.known = new Set([...board_ids, ...this.recent])
    } catch (err) {
      this.deps.log.warn({ err }, 'webhooks cannot be read')
    }
    await this.claim('any')
    if (!this.isStopping) this.schedulePoll()
  }

  private look(board_id: string, soonest = this.lookedAt + LOOK_EVERY_MS) {
    if (this.isStopping) return
    this.changed.add(board_id)
    const at = Math.max(performance.now() + GATHER_MS, soonest)
    if (this.gathering && this.lookAt <= at) return
    clearTimeout(this.gathering)
    this.lookAt = at
    this.gathering = setTimeout(() => this.lookNow(), at - performance.now())
  }

  private lookNow() {
    this.gathering = undefined
    this.lookedAt = performance.now()
    const board_ids = [...this.changed]
    this.changed.clear()
    this.track(this.claim(this.hasWaiting ? 'any' : board_ids))
  }

  private claim(board_ids: string[] | 'any'): Promise<void> {
    return this.claims.run(async () => {
      this.hasWaiting = false
      try {
        // Slow and failing receivers get a quarter of the workers, so that they do not delay others.
        await this.claimFor(board_ids, { isSlow: false, workers: this.settings.workers })
        await this.claimFor(board_ids, { isSlow: true, workers: Math.ceil(this.settings.workers / 4) })
      } catch (err) {
        this.deps.log.warn({ err }, 'webhooks cannot be claimed')
      }
    })
  }

  private async claimFor(board_ids: string[] | 'any', { isSlow, workers }: { isSlow: boolean; workers: number }) {
    const inLane = [...this.turns].filter((turn) => turn.isSlow === isSlow).length
    const free = Math.min(workers - inLane, MAX_LOAD * this.settings.workers - this.turns.size)
    const busy_users = this.busyUsers()
    if (free <= 0 || busy_users.length > 0) this.hasWaiting = true
    if (free <= 0 || this.isStopping) return
    const startedAt = performance.now()
    const args = { lease_seconds: this.leaseSeconds, is_slow: isSlow, busy_users, limit: free }
    const claimed = await claimWebhooks(this.db, args, board_ids)
    if (claimed.length === free) this.hasWaiting = true
    const leaseEndsAt = startedAt + this.leaseSeconds * 1_000
    if (claimed.length === 0) return
    const turns = claimed.map((webhook) => ({
      webhook,
      isSlow,
      leaseEndsAt,
      endsAt: startedAt + TURN_MS,
      isHeld: true,
      toSend: 0,
    }))
    for (const turn of turns) this.turns.add(turn)
    this.track(this.sendAll(turns))
  }

  /** Users whose webhooks use half of the workers: the other half is for others. */
  private busyUsers(): string[] {
    const counts = new Map<string, number>()
    for (const { webhook } of this.turns) counts.set(webhook.created_by, (counts.get(webhook.created_by) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= this.settings.workers / 2).map(([user_id]) => user_id)
  }

  private track(task: Promise<void>) {
    this.work.add(task)
    void task.finally(() => this.work.delete(task))
  }

  private async sendAll(turns: Turn[]) {
    const webhooks = turns.map(({ webhook }) => webhook)
    const pages = readNextEvents(this.db, webhooks, this.settings.maxBytes)
    await Promise.all(turns.map((turn) => this.send(turn, pages)))
  }

  private async send(turn: Turn, pages: Promise<Map<string, NextEvent[]>>) {
    const { webhook } = turn
    try {
      await this.sendEvents(turn, (await pages).get(webhook.id) ?? [])
      if (turn.isHeld) await this.releases.add(webhook)
    } catch (err) {
      // The lease ends by itself, and another attempt follows.
      const { board_id, id } = webhook
      this.deps.log.warn({ err, board_id, webhook_id: id }, 'a webhook cannot be sent')
    } finally {
      this.turns.delete(turn)
    }
    // Events may have been committed meanwhile, and a worker is free for webhooks that wait.
    this.look(webhook.board_id, this.hasWaiting ? 0 : undefined)
  }

  /** Sends until there is nothing left, the turn ends, or an attempt fails. */
  private async sendEvents(turn: Turn, firstPage: NextEvent[]) {
    const { webhook } = turn
    for (let events = firstPage; this.hasTime(turn); events = await this.readMore(turn)) {
      const [first, last] = [events[0], events.at(-1)]
      if (!first || !last) return
      const reason = resyncReason(webhook, first)
      if (reason) {
        const head = { epoch: first.head_epoch, seq: first.head_seq }
        const message = resyncMessage(webhook.board_id, { from: webhook, to: head, reason })
        await this.attempt(turn, { message, event: head, next: head, isLast: true })
        return
      }
      if (last.seq === null) return
      const isEnd = last.seq === last.head_seq
      const outbounds = outboundsOf(webhook, events, last.seq, isEnd)
      turn.toSend = outbounds.length
      for (const outbound of outbounds) {
        await this.nextStart()
        // After the wait, in which the process may have been frozen for longer than the lease.
        if (!this.hasTime(turn) || !(await this.attempt(turn, outbound))) return
        turn.toSend--
      }
      webhook.seq = last.seq
      if (isEnd) return
    }
  }

  private async readMore({ webhook }: Turn): Promise<NextEvent[]> {
    return (await readNextEvents(this.db, [webhook], this.settings.maxBytes)).get(webhook.id) ?? []
  }

  /** Whether another attempt may begin: it must end within the lease, or another instance could send at the same time. */
  private hasTime({ endsAt, leaseEndsAt }: Turn): boolean {
    const now = performance.now()
    return !this.isStopping && now < endsAt && now + this.settings.timeoutMs < leaseEndsAt - SAFETY_MS
  }

  /** Sends one message and saves the result. Returns whether it was accepted, and the webhook is still held. */
  private async attempt(turn: Turn, { message, event, next, isLast, committedAt }: Outbound): Promise<boolean> {
    const { webhook } = turn
    const { settings, deps } = this
    const result = await this.post(turn, message)
    const isAccepted = isSuccess(result)
    if (this.isCancelled && !isAccepted) return false
    deps.onAttempt?.(isAccepted ? 'accepted' : result.status === null ? 'failed' : 'rejected')
    const failedAttempts = webhook.failed_attempts + 1
    const { status, retryAfter } = result
    const failure = { status, retryAfter, failedAttempts, failingSeconds: webhook.failing_seconds }
    const options = { giveUpSeconds: settings.giveUpHours * 3_600, random: Math.random() }
    const { waitSeconds, pausedReason } = isAccepted
      ? { waitSeconds: 0, pausedReason: null }
      : nextStep(failure, options)
    if (!isAccepted) this.logFailure(webhook, result, waitSeconds, pausedReason)
    const { epoch, seq } = isAccepted ? next : webhook
    const savedAt = performance.now()
    const fence = await this.attempts.add({
      ...{
        board_id: webhook.board_id,
        webhook_id: webhook.id,
        fence: webhook.fence,
        id: newUuid(),
        type: message.type,
      },
      ...{ event_epoch: event.epoch, event_seq: event.seq, epoch, seq },
      attempt: failedAttempts,
      is_accepted: isAccepted,
      is_last: isLast,
      is_slow: result.durationMs > SLOW_MS,
      wait_seconds: waitSeconds,
      paused_reason: pausedReason,
      status,
      error: result.error,
      duration_ms: shownDuration(result),
      response: result.responseText,
    })
    turn.isHeld = isAccepted && !isLast && fence !== undefined
    if (fence === undefined) return false
    if (pausedReason) deps.onPaused?.(pausedReason)
    if (!isAccepted) return false
    if (committedAt !== undefined) deps.onAccepted?.(Math.max(0, Date.now() - committedAt) / 1_000)
    Object.assign(webhook, { epoch, seq, fence, failed_attempts: 0, failing_seconds: 0 })
    turn.leaseEndsAt = savedAt + this.leaseSeconds * 1_000
    return turn.isHeld
  }

  private async post(turn: Turn, message: Message): Promise<AttemptResult> {
    const slowTimer = setTimeout(() => this.foundSlow(turn), SLOW_MS)
    try {
      return await sendSigned(this.deps, turn.webhook, message)
    } finally {
      clearTimeout(slowTimer)
    }
  }

  /**
   * Spreads requests over the time until the next look: each takes the event loop up to a millisecond, and many at once would
   * delay the writes of this instance.
   */
  private async nextStart() {
    const toSend = [...this.turns].reduce((sum, turn) => sum + turn.toSend, 0)
    const now = performance.now()
    const most = this.hasWaiting ? START_EVERY_MS_WHILE_WAITING : START_EVERY_MS
    this.lastStart = Math.max(now, this.lastStart + Math.min(most, LOOK_EVERY_MS / toSend))
    if (this.lastStart > now) await pause(this.lastStart - now)
  }

  /** Many webhooks may turn out to be slow at once. Others do not wait for their responses. */
  private foundSlow(turn: Turn) {
    turn.isSlow = true
    if (this.hasWaiting) this.track(this.claim('any'))
  }

  /** The log names the webhook, never its URL, which may contain a secret. */
  private logFailure(
    { board_id, id: webhook_id, failed_attempts }: HeldWebhook,
    { status, error, reason }: AttemptResult,
    waitSeconds: number,
    pausedReason: string | null,
  ) {
    const facts = { board_id, webhook_id, status, error, reason, failed_attempts: failed_attempts + 1 }
    if (pausedReason) this.deps.log.warn({ ...facts, paused_reason: pausedReason }, 'webhook paused')
    else this.deps.log.info({ ...facts, wait_seconds: Math.round(waitSeconds) }, 'webhook attempt failed')
  }
}

/** What the encryption of a webhook's secret is bound to. */
export const secretContext = (webhook_id: string) => `webhooks:${webhook_id}`

/** Signs a message with the secret of a webhook, and with its previous one while both sign, and sends it. */
export async function sendSigned(
  { outgoing, secrets }: { outgoing: Outgoing; secrets: SecretBox },
  { id, url, secret, old_secret }: Pick<HeldWebhook, 'id' | 'url' | 'secret' | 'old_secret'>,
  message: Message,
): Promise<AttemptResult> {
  const open = (box: Buffer | null) => {
    try {
      return box && secrets.open(box, secretContext(id))
    } catch {
      return null
    }
  }
  const [current, old] = [open(secret), open(old_secret)]
  if (current === null) return UNREADABLE
  // A previous one that cannot be decrypted may be why it was replaced.
  return outgoing.send(url, signedHeaders(message, id, old === null ? [current] : [current, old]), message.body)
}
const UNREADABLE: AttemptResult = {
  ...{ status: null, error: 'secret_unreadable', reason: 'neither key decrypts the secret' },
  ...{ retryAfter: null, durationMs: 0, responseText: null },
}

export const isSuccess = ({ status }: Pick<AttemptResult, 'status'>) => status !== null && status >= 200 && status < 300

/** How long an address took to be unreachable would tell whether it exists. */
export const shownDuration = ({ error, durationMs }: AttemptResult) =>
  error === 'unreachable' ? null : Math.round(durationMs)

/** The events of a page that the webhook wants, each as a message. */
function outboundsOf(
  { board_id, epoch }: HeldWebhook,
  events: NextEvent[],
  lastSeq: number,
  isEnd: boolean,
): Outbound[] {
  const wanted = events.filter(isWanted)
  return wanted.map((event, nth) => {
    const following = wanted[nth + 1]
    return {
      message: eventMessage({ ...event, board_id, epoch }),
      event: { epoch, seq: event.seq },
      next: { epoch, seq: following ? following.seq - 1 : lastSeq },
      isLast: isEnd && !following,
      committedAt: event.created_at,
    }
  })
}

const isWanted = (event: NextEvent): event is NextEvent & { seq: number; body: string } => event.body !== null

/** Why the next events cannot be sent: the log begins a new epoch, or does not have them any more. */
function resyncReason(webhook: HeldWebhook, first: NextEvent): 'epoch' | 'history_gone' | undefined {
  if (first.head_epoch !== webhook.epoch) return 'epoch'
  if (webhook.seq < first.head_seq && first.seq !== webhook.seq + 1) return 'history_gone'
  return undefined
}
