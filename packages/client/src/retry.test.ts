import { expect, test } from 'vitest'
import { LockstepError } from './errors.ts'
import { operations } from './operations.gen.ts'
import type { OperationRow } from './options.ts'
import { retryDelay, withRetries } from './retry.ts'

const busy = (retryAfterSeconds?: number) =>
  new LockstepError({ code: 'board_busy', detail: 'Busy.', status: 503, retryAfterSeconds })

test('[SDK-4] the backoff grows up to a limit, has jitter, and is never shorter than Retry-After', () => {
  expect([1, 2, 3, 9].map((tries) => retryDelay(busy(), tries, 1))).toEqual([500, 1000, 2000, 8000])
  expect(retryDelay(busy(), 3, 0.25)).toBe(500)
  expect([0, 1].map((random) => retryDelay(busy(3), 1, random))).toEqual([3000, 3500])
})

test('[SDK-6] an attempt that ignores its signal is abandoned, and no timer is left', async () => {
  const bounds = { tries: 1, timeoutMs: 50, tryTimeoutMs: 1000, signal: undefined }
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await expect(withRetries(() => new Promise(() => {}), bounds)).rejects.toMatchObject({ code: 'timed_out' })
  await expect(withRetries(() => Promise.resolve('done'), { ...bounds, timeoutMs: 9000 })).resolves.toBe('done')
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBeLessThanOrEqual(before)
})

test.each([
  ...[408, 429, 502, 503, 504].map((status) => [status, 2]),
  ...[400, 401, 403, 404, 409, 412, 422, 500].map((status) => [status, 1]),
])('[SDK-4] with status %i it is sent %i times if two attempts are allowed', async (status, expected) => {
  let tries = 0
  const attempt = async () => {
    tries++
    throw new LockstepError({ code: 'internal', detail: 'Failed.', status })
  }
  const bounds = { tries: 2, timeoutMs: 5000, tryTimeoutMs: 5000, signal: undefined }
  await expect(withRetries(attempt, bounds)).rejects.toMatchObject({ status })
  expect(tries).toBe(expected)
})

test('[SDK-5] only reads and session operations, which change no data, are retried without an idempotency key', () => {
  const rows = Object.entries<OperationRow>(operations)
  const unkeyed = rows.filter(([, { method, retry }]) => method !== 'GET' && retry === 'always')
  expect(unkeyed.map(([name]) => name).sort()).toEqual(['createTicket', 'logout', 'logoutEverywhere', 'refresh'])
  expect(rows.filter(([, { method, retry }]) => method !== 'GET' && retry === undefined).length).toBeGreaterThan(30)
})
