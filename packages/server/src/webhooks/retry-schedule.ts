/** Waits in seconds after the first, second, … failed attempt; the last one repeats. */
const WAITS = [5, 30, 120, 600, 1_800, 3_600]
/** Each wait varies by this share, so that webhooks which failed together are not retried together. */
const JITTER = 0.2
const MAX_RETRY_AFTER = 12 * 3_600
const GONE = 410

/** A failed attempt. */
export interface Failure {
  /** Status of the response; null without one. */
  status: number | null
  /** Seconds of its `Retry-After`. */
  retryAfter: number | null
  /** How many attempts to send this event failed, with this one. */
  failedAttempts: number
  /** Seconds since the first of them. */
  failingSeconds: number
}
/** When the event is sent again, or why it is not. */
export type NextStep =
  | { waitSeconds: number; pausedReason: null }
  | { waitSeconds: 0; pausedReason: 'failing' | 'gone' }

/** `random` is between 0 and 1. */
export function nextStep(
  { status, retryAfter, failedAttempts, failingSeconds }: Failure,
  { giveUpSeconds, random }: { giveUpSeconds: number; random: number },
): NextStep {
  if (status === GONE) return { waitSeconds: 0, pausedReason: 'gone' }
  if (failingSeconds >= giveUpSeconds) return { waitSeconds: 0, pausedReason: 'failing' }
  const wait = WAITS[Math.min(failedAttempts, WAITS.length) - 1] as number
  const waitSeconds = wait * (1 - JITTER + 2 * JITTER * random)
  return { waitSeconds: Math.max(waitSeconds, Math.min(retryAfter ?? 0, MAX_RETRY_AFTER)), pausedReason: null }
}
