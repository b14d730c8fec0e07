import { expect, test } from 'vitest'
import { Problem } from './problem.ts'
import { Semaphore } from './semaphore.ts'

const limit = { maxWaiting: 3, waitMs: 10_000, reject: () => new Problem('overloaded') }

/** Tasks that run until they are ended, and the order in which they started. The first letter of a task is its key. */
function tasks(semaphore: Semaphore) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    run: (name: string) =>
      semaphore.run(
        () => {
          started.push(name)
          return new Promise<void>((resolve) => ends.set(name, resolve))
        },
        { key: name.slice(0, 1) },
      ),
    end: async (name: string) => {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('[LOAD-6] a semaphore whose queue is full rejects at once', async () => {
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

test('[LOAD-11] [HOOK-30] a share leaves the rest of a semaphore to other keys', async () => {
  const { run, end, started } = tasks(new Semaphore(3, { ...limit, share: 1 }))
  const all = ['a1', 'a2', 'b1', 'a3'].map(run)
  await end('none')
  expect(started).toEqual(['a1', 'b1'])
  await end('b1')
  expect(started).toEqual(['a1', 'b1'])
  for (const name of ['a1', 'a2', 'a3']) await end(name)
  await Promise.all(all)
  expect(started).toEqual(['a1', 'b1', 'a2', 'a3'])
})

test('[LOAD-11] the next task is of the key that holds least, and keys that hold as much take turns', async () => {
  const { run, end, started } = tasks(new Semaphore(2))
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']
  const all = names.map(run)
  await end('none')
  for (const name of ['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4']) await end(name)
  await Promise.all(all)
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4'])
})

test('[LOAD-5] a permit that is taken without waiting counts, and its release works once', async () => {
  const semaphore = new Semaphore(1)
  const first = await semaphore.acquire()
  const second = semaphore.take()
  let isStarted = false
  const third = semaphore.run(async () => {
    isStarted = true
  })
  first()
  first()
  await new Promise((resolve) => setImmediate(resolve))
  expect(isStarted).toBe(false)
  second()
  await third
  expect(semaphore.isIdle).toBe(true)
})
