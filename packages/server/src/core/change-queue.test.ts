import { expect, test } from 'vitest'
import { ChangeQueue } from './change-queue.ts'

/** Changes that run until they are ended, and the order in which they started. `ada2 at b` is a change of Ada on board b. */
function changes(queue: ChangeQueue) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const releases = new Map<string, () => void>()
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    started,
    settle,
    run: (name: string) =>
      queue.run(name.split(' at ')[1] ?? '', name.replace(/\d* at .*/, ''), (release) => {
        started.push(name)
        releases.set(name, release)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      }),
    release: async (name: string) => {
      releases.get(name)?.()
      await settle()
    },
    end: async (name: string) => {
      ends.get(name)?.()
      await settle()
    },
  }
}

test('[WRITE-11] the changes of a board begin one after the other, each when the one before commits or fails', async () => {
  const queue = new ChangeQueue(10_000)
  const { run, started, release, end, settle } = changes(queue)
  const all = ['ada at b', 'bob at b', 'eve at b'].map(run)
  await settle()
  expect(started).toEqual(['ada at b'])
  await release('ada at b')
  await release('ada at b')
  expect(started).toEqual(['ada at b', 'bob at b'])
  // Already released, so nothing begins when it ends.
  await end('ada at b')
  expect(started).toEqual(['ada at b', 'bob at b'])
  const failed = expect(queue.run('b', 'dan', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await end('bob at b')
  await end('eve at b')
  await failed
  await Promise.all(all)
  expect(queue.waiting).toBe(0)
})

test('[WRITE-11] the changes of a user begin one after the other, on all boards', async () => {
  const { run, started, release, end, settle } = changes(new ChangeQueue(10_000))
  const all = ['ada1 at b', 'ada2 at c', 'bob1 at c'].map(run)
  await settle()
  expect(started).toEqual(['ada1 at b', 'bob1 at c'])
  // At COMMIT both turns end. The next one waits for the other board.
  await release('ada1 at b')
  expect(started).toEqual(['ada1 at b', 'bob1 at c'])
  await end('bob1 at c')
  expect(started).toEqual(['ada1 at b', 'bob1 at c', 'ada2 at c'])
  for (const name of ['ada1 at b', 'ada2 at c']) await end(name)
  await Promise.all(all)
})

test('[LOAD-6] 500 changes may wait for one board, one more is rejected; other boards have their own queue', async () => {
  const queue = new ChangeQueue(10_000)
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = Array.from({ length: 501 }, (_, nth) => queue.run('hot', `user ${nth}`, () => promise))
  await new Promise((done) => setImmediate(done))
  await expect(queue.run('hot', 'late', () => promise)).rejects.toMatchObject({ code: 'board_busy' })
  expect(await queue.run('quiet', 'late', async () => 'done')).toBe('done')
  resolve()
  await Promise.all(all)
  expect(await queue.run('hot', undefined, async () => 'done')).toBe('done')
})
