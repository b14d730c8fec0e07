import { LockstepError } from './errors.ts'

/** Whether the same request may succeed if it is sent again. */
const isTransient = ({ status, code }: LockstepError) =>
  code === 'network_failed' || code === 'timed_out' || [408, 429, 502, 503, 504].includes(status)

/**
 * Exponential backoff with full jitter: `random` (0 to 1) spreads clients that failed at the same moment.
 * `Retry-After` is a lower bound.
 */
export function retryDelay({ retryAfterSeconds }: LockstepError, tries: number, random: number): number {
  return (retryAfterSeconds ?? 0) * 1000 + random * Math.min(250 * 2 ** tries, 8000)
}

export interface AttemptLimits {
  /** Maximum number of attempts. */
  tries: number
  timeoutMs: number
  tryTimeoutMs: number
  signal: AbortSignal | undefined
}

/** Retries transient failures until an attempt succeeds, or the attempts or the time run out. */
export async function withRetries<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { tries, timeoutMs, tryTimeoutMs, signal }: AttemptLimits,
): Promise<T> {
  const endsAt = performance.now() + timeoutMs
  for (let n = 1; ; n++) {
    try {
      return await withTimeout(
        attempt,
        Math.ceil(Math.max(0, Math.min(tryTimeoutMs, endsAt - performance.now()))),
        signal,
      )
    } catch (error) {
      if (!(error instanceof LockstepError && isTransient(error)) || n >= tries) throw error
      const waitMs = retryDelay(error, n, Math.random())
      if (performance.now() + waitMs >= endsAt) throw error
      await sleep(waitMs, signal)
    }
  }
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let wake = () => {}
  const timer = setTimeout(() => wake(), ms)
  await new Promise<void>((resolve) => {
    wake = resolve
    signal?.addEventListener('abort', wake)
  })
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}

/**
 * Runs `work` with a timeout and an abort signal, even if `work` ignores its signal. Throws a LockstepError, or the
 * signal's reason.
 */
async function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any(signal ? [signal, timeout] : [timeout])
  try {
    // Not every `fetch` observes its signal.
    return await Promise.race([work(either), rejectedBy(either)])
  } catch (error) {
    signal?.throwIfAborted()
    if (timeout.aborted) throw new LockstepError({ code: 'timed_out', detail: `No response within ${timeoutMs} ms.` })
    if (error instanceof LockstepError) throw error
    throw new LockstepError({ code: 'network_failed', detail: 'The service could not be reached.', cause: error })
  }
}

/** Rejects when the signal is aborted. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
