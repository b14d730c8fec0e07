import { expect, test } from 'vitest'
import { Batch } from './batch.ts'

/** A batch whose work ends on demand. */
function newBatch(expected: number) {
  const begun: { items: number[]; end: () => void; fail: (error: Error) => void }[] = []
  const work = (items: number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    begun.push({ items, end: () => resolve(items.map(String)), fail: reject })
    return promise
  }
  const batch = new Batch(work, { waitMs: 20, expected: () => expected })
  const run = (nth: number) => begun[nth] as (typeof begun)[number]
  return { batch, run, items: () => begun.map(({ items }) => items) }
}

test('calls within the wait are one batch, and each gets its own result', async () => {
  const { batch, run, items } = newBatch(10)
  const results = Promise.all([batch.add(1), batch.add(2), batch.add(3)])
  expect(items()).toEqual([])
  await expect.poll(items).toEqual([[1, 2, 3]])
  run(0).end()
  expect(await results).toEqual(['1', '2', '3'])
})

test('a batch of all expected calls does not wait', () => {
  const { batch, items } = newBatch(2)
  void batch.add(1)
  expect(items()).toEqual([])
  void batch.add(2)
  expect(items()).toEqual([[1, 2]])
})

test('calls while a batch runs are in the next one, also after an error', async () => {
  const { batch, run, items } = newBatch(1)
  const first = batch.add(1)
  const others = Promise.all([batch.add(2), batch.add(3)])
  expect(items()).toEqual([[1]])
  run(0).fail(new Error('lost'))
  await expect(first).rejects.toThrow('lost')
  await expect.poll(items).toEqual([[1], [2, 3]])
  run(1).end()
  expect(await others).toEqual(['2', '3'])
})
