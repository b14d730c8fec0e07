import { type ErrorCode, LockstepError } from '../../../client/src/index.ts'

// A minimal assertion library that also runs in a browser page.

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
export function fail(reason: string): never {
  throw new Error(reason)
}
export function assert(isTrue: boolean, what: string) {
  if (!isTrue) fail(`expected: ${what}`)
}
export function equal(found: unknown, expected: unknown) {
  const [a, b] = [found, expected].map((value) => (value instanceof Error ? String(value) : JSON.stringify(value)))
  if (a !== b) fail(`got ${a}, expected ${b}`)
}
export const rejectionOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => fail(`succeeded: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
export async function lockstepError(promise: Promise<unknown>, code: ErrorCode): Promise<LockstepError> {
  const error = await rejectionOf(promise)
  if (!(error instanceof LockstepError)) fail(`not a LockstepError: ${String(error)}`)
  equal(error.code, code)
  return error
}

/** Polls until the condition holds. */
export async function until(isTrue: () => boolean, what: string, withinMs = 15_000) {
  for (const started = Date.now(); !isTrue(); await sleep(20))
    if (Date.now() - started > withinMs) fail(`not within ${withinMs} ms: ${what}`)
}
