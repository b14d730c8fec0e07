import { LockstepError } from './errors.ts'

/** Whether the same request may succeed a moment later. */
const isPassing = ({ status, code }: LockstepError) =>
  code === 'network_failed' || code === 'timed_out' || [408, 429, 502, 503, 504].includes(status)

/**
 * How long to wait before the next try. `random` (0 to 1) spreads clients that failed at the same moment over the whole
 * interval; what the service asks for is a lower bound.
 */
export function retryDelay({ retry_after_seconds }: LockstepError, tries: number, random: number): number {
  return (retry_after_seconds ?? 0) * 1000 + random * Math.min(250 * 2 ** tries, 8000)
}

export interface Bounds {
  /** How often it is tried at most. */
  tries: number
  timeout_ms: number
  try_timeout_ms: number
  signal: AbortSignal | undefined
}

/** Tries until it works, fails for good, or would take longer than it may. */
export async function withRetries<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { tries, timeout_ms, try_timeout_ms, signal }: Bounds,
): Promise<T> {
  const ends_at = performance.now() + timeout_ms
  for (let n = 1; ; n++) {
    try {
      return await limited(attempt, Math.max(0, Math.min(try_timeout_ms, ends_at - performance.now())), signal)
    } catch (error) {
      if (!(error instanceof LockstepError && isPassing(error)) || n >= tries) throw error
      const wait_ms = retryDelay(error, n, Math.random())
      if (performance.now() + wait_ms >= ends_at) throw error
      await sleep(wait_ms, signal)
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
 * Ends the work when its time is over or the caller no longer wants it, also work that does not listen. Whatever is thrown is a
 * LockstepError, or the signal's reason.
 */
async function limited<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeout_ms: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  const timer = setTimeout(
    () => controller.abort(new LockstepError({ code: 'timed_out', detail: `No answer within ${timeout_ms} ms.` })),
    timeout_ms,
  )
  try {
    return await Promise.race([
      work(controller.signal),
      new Promise<never>((_, reject) => {
        controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
      }),
    ])
  } catch (error) {
    controller.signal.throwIfAborted()
    if (error instanceof LockstepError) throw error
    throw new LockstepError({ code: 'network_failed', detail: 'The service could not be reached.', cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
