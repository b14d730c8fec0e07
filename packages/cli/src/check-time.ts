import { createClient, isLockstepError } from '@lockstep/client'
import { type Check, ok, once, wrong } from './check.ts'
import { causeOf } from './failure.ts'
import { duration } from './terminal.ts'

/** Tokens end at whole seconds; so much clocks may differ before a login seems to end early. */
const CLOCK_MS = 5_000
const SLOW_MS = 500
const PROBES = 5

/** How far the clocks are apart, and how long an answer takes. */
export async function checkTime(url: string): Promise<Check[]> {
  const probes: { took_ms: number; ahead_ms: number }[] = []
  for (let i = 0; i < PROBES; i++) {
    try {
      probes.push(await probe(url))
    } catch (error) {
      if (!isLockstepError(error)) throw error
      return [
        wrong('round trip', `no answer${causeOf(error)}`, 'The service answers now and then only: look at its log.'),
      ]
    }
  }
  const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
  // The first one has to make the connection.
  const took_ms = Math.round(median(probes.slice(1).map((each) => each.took_ms)))
  const ahead_ms = median(probes.map((each) => each.ahead_ms))
  return [clock(ahead_ms), trip(took_ms)]
}

/** A question that needs no store: who am I, without a token. */
async function probe(url: string): Promise<{ took_ms: number; ahead_ms: number }> {
  let date = Number.NaN
  const client = createClient({
    base_url: url,
    fetch: async (...asked) => {
      const response = await fetch(...asked)
      date = Date.parse(response.headers.get('date') ?? '')
      return response
    },
  })
  const started_at = Date.now()
  const started = performance.now()
  try {
    await client.getMe({}, once)
  } catch (error) {
    if (!isLockstepError(error, 'not_authenticated')) throw error
  }
  const took_ms = performance.now() - started
  // The header leaves out the part of a second: half of one on average. It was written half way through.
  return { took_ms, ahead_ms: date + 500 - (started_at + took_ms / 2) }
}

function clock(ahead_ms: number): Check {
  if (Number.isNaN(ahead_ms)) {
    return { name: 'clock', state: 'skipped', detail: 'not known: the answers have no Date' }
  }
  const apart_ms = Math.abs(ahead_ms)
  // Less than that the header cannot tell.
  if (apart_ms < 1_000) return ok('clock', 'as here')
  const direction = ahead_ms > 0 ? 'ahead of' : 'behind'
  const detail = `the service is ${duration(apart_ms)} ${direction} this machine`
  if (apart_ms < CLOCK_MS) return ok('clock', detail)
  const remedy = `Logins seem to end too early or too late, and times of events are wrong. Set both clocks by the network:
timedatectl set-ntp true      and look at it with: timedatectl timesync-status`
  return wrong('clock', detail, remedy)
}

function trip(took_ms: number): Check {
  const detail = `${took_ms} ms`
  if (took_ms < SLOW_MS) return ok('round trip', detail)
  const remedy =
    'That is slow. Look at the load of the service (duration_ms in its log), then at the network: ping, mtr.'
  return wrong('round trip', detail, remedy)
}
