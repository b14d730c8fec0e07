import { expect, test } from 'vitest'
import { LockstepError } from './errors.ts'
import { retryDelay, withRetries } from './retry.ts'

const busy = (retry_after_seconds?: number) =>
  new LockstepError({ code: 'board_busy', detail: 'Busy.', status: 503, retry_after_seconds })

test('[SDK-4] the wait grows, is bounded, is spread by chance, and is never shorter than what the service asks for', () => {
  expect([1, 2, 3, 9].map((tries) => retryDelay(busy(), tries, 1))).toEqual([500, 1000, 2000, 8000])
  expect(retryDelay(busy(), 3, 0.25)).toBe(500)
  expect([0, 1].map((random) => retryDelay(busy(3), 1, random))).toEqual([3000, 3500])
})

test('[SDK-6] work that does not listen to its signal is left behind, and no timer remains', async () => {
  const bounds = { tries: 1, timeout_ms: 50, try_timeout_ms: 1000, signal: undefined }
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await expect(withRetries(() => new Promise(() => {}), bounds)).rejects.toMatchObject({ code: 'timed_out' })
  await expect(withRetries(() => Promise.resolve('done'), { ...bounds, timeout_ms: 9000 })).resolves.toBe('done')
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBeLessThanOrEqual(before)
})

test('[SDK-4] a failure that does not pass is not tried again', async () => {
  let tries = 0
  const attempt = async () => {
    tries++
    throw new LockstepError({ code: 'internal', detail: 'Broken.', status: 500 })
  }
  const bounds = { tries: 4, timeout_ms: 5000, try_timeout_ms: 5000, signal: undefined }
  await expect(withRetries(attempt, bounds)).rejects.toMatchObject({ code: 'internal' })
  expect(tries).toBe(1)
})
