import { createClient, isLockstepError } from '@lockstep/client'
import { type Check, noRetry, ok, wrong } from './check.ts'
import { causeOf } from './failure.ts'
import { duration } from './terminal.ts'

/** Clocks may differ by this much before logins seem to expire too early. */
const CLOCK_MS = 5_000
const SLOW_MS = 500
const PROBES = 5

/** Checks the clock difference and the round-trip time. */
export async function checkTime(url: string): Promise<Check[]> {
  const probes: { tookMs: number; aheadMs: number }[] = []
  for (let i = 0; i < PROBES; i++) {
    try {
      probes.push(await probe(url))
    } catch (error) {
      if (!isLockstepError(error)) throw error
      return [
        wrong('round trip', `no response${causeOf(error)}`, 'The service responds only intermittently: check its log.'),
      ]
    }
  }
  const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
  // The first probe also opens the connection.
  const tookMs = Math.round(median(probes.slice(1).map((each) => each.tookMs)))
  const aheadMs = median(probes.map((each) => each.aheadMs))
  return [clock(aheadMs), trip(tookMs)]
}

/** A request that needs neither database nor Redis: `getMe` without a token. */
async function probe(url: string): Promise<{ tookMs: number; aheadMs: number }> {
  let date = Number.NaN
  const client = createClient({
    strict: true,
    baseUrl: url,
    fetch: async (...args) => {
      const response = await fetch(...args)
      date = Date.parse(response.headers.get('date') ?? '')
      return response
    },
  })
  const startedAt = Date.now()
  const started = performance.now()
  try {
    await client.getMe({}, noRetry)
  } catch (error) {
    if (!isLockstepError(error, 'not_authenticated')) throw error
  }
  const tookMs = performance.now() - started
  // The Date header has whole seconds, so add half a second. It was written about half way through.
  return { tookMs, aheadMs: date + 500 - (startedAt + tookMs / 2) }
}

function clock(aheadMs: number): Check {
  if (Number.isNaN(aheadMs)) {
    return { name: 'clock', state: 'skipped', detail: 'unknown: the responses have no Date header' }
  }
  const apartMs = Math.abs(aheadMs)
  // The Date header cannot show smaller differences.
  if (apartMs < 1_000) return ok('clock', 'in sync')
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  const detail = `the service is ${duration(apartMs)} ${direction} this machine`
  if (apartMs < CLOCK_MS) return ok('clock', detail)
  const remedy = `Logins expire too early or too late, and event times are wrong. Synchronize both clocks with NTP:
timedatectl set-ntp true      check with: timedatectl timesync-status`
  return wrong('clock', detail, remedy)
}

function trip(tookMs: number): Check {
  const detail = `${tookMs} ms`
  if (tookMs < SLOW_MS) return ok('round trip', detail)
  const remedy = 'Slow. Check the load of the service (duration_ms in its log), then the network (ping, mtr).'
  return wrong('round trip', detail, remedy)
}
