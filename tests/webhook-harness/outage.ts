import { eventually } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { type HarnessBoard, HarnessService } from './environment.ts'
import { judge, type WatchedWebhook } from './judge.ts'
import { Receivers } from './receivers.ts'

/** Seconds between attempts, as documented; the last one repeats. */
const WAITS = [5, 30, 120, 600, 1_800, 3_600]
const JITTER = 0.2
/** `next_attempt_at` has milliseconds, and the attempt itself takes time. */
const INACCURACY = 0.5

export interface Outage {
  violations: string[]
  attempts: number
  events: number
  /** Seconds from the return of the receiver to its first event, in simulated time. */
  returnSeconds: number
  /** Hours until the webhook was paused, without any success. */
  pausedAfterHours: number
}

/**
 * A receiver that is down for a day, and then for more than `WEBHOOK_GIVE_UP_HOURS`. The clock is simulated: after each attempt,
 * SQL moves the times of the webhook back by the wait. Everything else is real.
 */
export async function surviveOutage(giveUpHours = 120): Promise<Outage> {
  await using service = await HarnessService.start(1, { settings: { WEBHOOK_GIVE_UP_HOURS: String(giveUpHours) } })
  const receivers = new Receivers(seeded(1), 60_000)
  await receivers.start(1)
  try {
    const [board] = (await service.makeBoards(1, 1)) as [HarnessBoard]
    const { secret, ...webhook } = await service.makeWebhook(board, receivers.urlOf(0))
    receivers.expect(webhook.id, secret)
    const clock = new SimulatedOutage(service, board, webhook)
    await receivers.setMode(0, 'down')
    const seconds = await clock.failFor(24 * 3_600)
    await receivers.setMode(0, 'well')
    const returnSeconds = seconds - 24 * 3_600
    await clock.catchUp()

    await receivers.setMode(0, 'down')
    const pausedAfter = await clock.failFor((giveUpHours + 24) * 3_600)
    if (!(await clock.isPaused())) clock.violations.push('the webhook was not paused')
    await receivers.setMode(0, 'well')
    await service
      .client(board.token)
      .call('resumeWebhook', { params: { board_id: board.id, webhook_id: webhook.id }, body: {} })
    await clock.catchUp()

    const { violations, deliveries } = judge({
      ...{ webhooks: [webhook], requests: receivers.requests, log: await service.readLog() },
      ...{ staleSaves: await service.staleSaves(), workers: 20, instances: 1 },
      ...{ kills: 0, freezes: 0, postgresStops: [] },
    })
    return {
      violations: [...clock.violations, ...violations],
      attempts: clock.attempts,
      events: deliveries,
      returnSeconds,
      pausedAfterHours: pausedAfter / 3_600,
    }
  } finally {
    await receivers.close()
  }
}

interface State {
  failed_attempts: number
  is_paused: boolean
  wait: number
}

class SimulatedOutage {
  attempts = 0
  readonly violations: string[] = []
  private readonly service: HarnessService
  private readonly board: HarnessBoard
  private readonly webhook: WatchedWebhook

  constructor(service: HarnessService, board: HarnessBoard, webhook: WatchedWebhook) {
    this.service = service
    this.board = board
    this.webhook = webhook
  }

  /** Lets attempts fail for some simulated seconds, or until the webhook is paused. Returns the time of the next attempt. */
  async failFor(seconds: number): Promise<number> {
    let now = 0
    for (let nth = 1; now < seconds; nth++) {
      await this.write(nth)
      const state = await eventually('the next attempt failed', async () => {
        const found = await this.state()
        return found.is_paused || found.failed_attempts === nth ? found : undefined
      })
      this.attempts++
      if (state.is_paused) return now
      const wait = WAITS[Math.min(nth, WAITS.length) - 1] as number
      const [least, most] = [wait * (1 - JITTER) - INACCURACY, wait * (1 + JITTER) + INACCURACY]
      if (state.wait < least || state.wait > most)
        this.violations.push(`after ${nth} failures the wait was ${state.wait} s instead of ${wait} s ± 20 %`)
      now += state.wait
      await this.service.query(
        `update webhooks set failing_since = failing_since - make_interval(secs => $2), next_attempt_at = clock_timestamp()
         where id = $1`,
        [this.webhook.id, state.wait],
      )
    }
    return now
  }

  async catchUp() {
    await eventually('everything has arrived', async () => (await this.service.behind()) === 0)
  }

  async isPaused(): Promise<boolean> {
    return (await this.state()).is_paused
  }

  /** Events go on meanwhile, and each makes the sender look for webhooks that are due. */
  private async write(nth: number) {
    const params = { card_id: this.board.card_id }
    await this.service.client(this.board.token).call('updateCard', { params, body: { title: `Title ${nth}` } })
  }

  private async state(): Promise<State> {
    const [state] = await this.service.query<State>(
      `select failed_attempts, paused_reason is not null as is_paused,
         extract(epoch from next_attempt_at - (select max(attempted_at) from webhook_deliveries where webhook_id = $1))::float8 as wait
       from webhooks where id = $1`,
      [this.webhook.id],
    )
    return state as State
  }
}
