import { describe, expect, test } from 'vitest'
import { FairShare, UserAndAddressShare } from './fair-share.ts'
import { Problem } from './problem.ts'
import { Semaphore } from './semaphore.ts'

const limit = { maxWaiting: 3, waitMs: 10_000, reject: () => new Problem('overloaded') }

/** Tasks that run until they are ended, and the order in which they started. */
function tasks(semaphore: Semaphore) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    run: (name: string, options: { key?: string; weight?: number } = {}) =>
      semaphore.run(() => {
        started.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      }, options),
    end: async (name: string) => {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('a semaphore', () => {
  test('[LOAD-14] a large result is returned at once and keeps its permit for a time, a small one does not', async () => {
    const semaphore = new Semaphore(1)
    const MEBIBYTE = 1_048_576
    const timed = async (bytes: number, count: number) => {
      const began = performance.now()
      const results = Array.from({ length: count }, () => semaphore.runPaced(async () => bytes, Number))
      const firstMs = await results[0]?.then(() => performance.now() - began)
      expect(await Promise.all(results)).toEqual(Array.from({ length: count }, () => bytes))
      return { firstMs, allMs: performance.now() - began }
    }
    const large = await timed(MEBIBYTE, 4)
    expect(large.firstMs).toBeLessThan(large.allMs / 2)
    // At 4 MiB per second; the last one is not awaited.
    expect(large.allMs).toBeGreaterThan(740)
    await semaphore.run(async () => {})
    expect((await timed(1_000, 100)).allMs).toBeLessThan(2_000)
    await expect(semaphore.runPaced(() => Promise.reject(new Error('no')), Number)).rejects.toThrow('no')
  })

  test('[LOAD-6] whose queue is full rejects at once', async () => {
    const semaphore = new Semaphore(1, { ...limit, maxWaiting: 1 })
    const { run, end } = tasks(semaphore)
    const first = run('first')
    const second = run('second')
    await expect(run('third')).rejects.toMatchObject({ code: 'overloaded' })
    await end('first')
    await end('second')
    await Promise.all([first, second])
    expect(await semaphore.run(async () => 'fourth')).toBe('fourth')
  })

  test('[LOAD-11] starts the task of the key with the fewest running tasks next', async () => {
    const semaphore = new Semaphore(2)
    const { run, end, started } = tasks(semaphore)
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name, { key: name.slice(0, 1) }))
    expect(started).toEqual(['a1', 'a2'])
    await end('a1')
    expect(started).toEqual(['a1', 'a2', 'b1'])
    for (const name of ['a2', 'b1', 'a3', 'a4']) await end(name)
    await Promise.all(all)
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  })

  test('[LOAD-11] drops the last task of the longest queue for a key with a shorter one', async () => {
    const semaphore = new Semaphore(1, limit)
    const { run, end, started } = tasks(semaphore)
    const greedy = ['a1', 'a2', 'a3', 'a4'].map((name) => run(name, { key: 'a' }))
    const outcomes = Promise.allSettled(greedy)
    const other = run('b1', { key: 'b' })
    await expect(run('a5', { key: 'a' })).rejects.toMatchObject({ code: 'overloaded' })
    for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name)
    await other
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  test('[LOAD-6] limits the total weight of running tasks, and runs a heavier task alone', async () => {
    const semaphore = new Semaphore(10)
    const { run, end, started } = tasks(semaphore)
    const all = [run('six', { weight: 6 }), run('five', { weight: 5 }), run('huge', { weight: 50 })]
    expect(started).toEqual(['six'])
    await end('six')
    expect(started).toEqual(['six', 'five'])
    await end('five')
    expect(started).toEqual(['six', 'five', 'huge'])
    await end('huge')
    await Promise.all(all)
  })
})

describe('a fair share', () => {
  test('[LOAD-11] applies once half is in use, and leaves the other half to other keys', () => {
    const share = new FairShare(8, 1)
    const greedy = Array.from({ length: 8 }, () => share.claim('a'))
    expect(greedy.map((release) => release !== undefined)).toEqual([true, true, true, true, false, false, false, false])
    expect(['b', 'c', 'd', 'e'].map((key) => share.claim(key) !== undefined)).toEqual([true, true, true, true])
    expect(share.claim('f')).toBeUndefined()
    greedy[0]?.()
    greedy[0]?.()
    expect(share.claim('f')).toBeDefined()
    expect(share.claim('g')).toBeUndefined()
  })

  test('[LOAD-11] lets a key that holds nothing exceed its share once', () => {
    const share = new FairShare(100, 10)
    expect(share.claim('a', 90)).toBeDefined()
    expect(share.claim('a', 1)).toBeUndefined()
    expect(share.claim('b', 11)).toBeUndefined()
    expect(share.claim('b', 10)).toBeDefined()
  })

  test('[LOAD-11] [LOAD-12] a user has one share for all their addresses, and an address one for all its users', () => {
    /** How many of 32 claims succeed. */
    const succeeding = (claim: (nth: string) => unknown) =>
      Array.from({ length: 32 }, (_, nth) => claim(String(nth))).filter(Boolean).length
    const byUser = new UserAndAddressShare(32, 2)
    expect(succeeding((address) => byUser.claim('user', address))).toBe(16)
    expect(byUser.claim('other', 'other')).toBeDefined()
    const byAddress = new UserAndAddressShare(32, 2)
    expect(succeeding((user) => byAddress.claim(user, 'address'))).toBe(16)
    expect(byAddress.claim('other', 'other')).toBeDefined()
  })
})
