import { type ErrorCode, LockstepError } from '../../../client/src/index.ts'

// As much of a test runner as runs in a page.

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
export function fail(why: string): never {
  throw new Error(why)
}
export function truth(isTrue: boolean, what: string) {
  if (!isTrue) fail(`not so: ${what}`)
}
export function equal(found: unknown, expected: unknown) {
  const [a, b] = [found, expected].map((value) => (value instanceof Error ? String(value) : JSON.stringify(value)))
  if (a !== b) fail(`${a} instead of ${b}`)
}
export const caught = (promise: Promise<unknown>) =>
  promise.then(
    (value) => fail(`succeeded: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
export async function failure(promise: Promise<unknown>, code: ErrorCode): Promise<LockstepError> {
  const error = await caught(promise)
  if (!(error instanceof LockstepError)) fail(`no LockstepError: ${String(error)}`)
  equal(error.code, code)
  return error
}

/** Waits for something to become true. */
export async function until(isTrue: () => boolean, what: string, within_ms = 15_000) {
  for (const started = Date.now(); !isTrue(); await sleep(20))
    if (Date.now() - started > within_ms) fail(`not in ${within_ms} ms: ${what}`)
}
