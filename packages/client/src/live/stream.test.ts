import { expect, test } from 'vitest'
import { EventStream } from './stream.ts'

const numbers = () => new EventStream<number | 'missed'>('missed', () => {})

test('[SYNC-15] at most 1,000 values are buffered for a slow reader, and the overflow marker is where values were dropped', async () => {
  const stream = numbers()
  for (let i = 1; i <= 10_500; i++) stream.push(i)
  stream.end()
  const read: unknown[] = []
  for await (const value of stream) read.push(value)
  expect(read.length).toBeLessThanOrEqual(1_000)
  expect(read[0]).toBe('missed')
  expect(read.slice(1)).toEqual(Array.from({ length: read.length - 1 }, (_, i) => 10_500 - read.length + 2 + i))
})

test('[SYNC-15] concurrent reads get the values in order', async () => {
  const stream = numbers()
  const reads = [stream.next(), stream.next(), stream.next()]
  stream.push(1)
  stream.push(2)
  stream.end()
  expect((await Promise.all(reads)).map(({ value }) => value)).toEqual([1, 2, undefined])
})

test('[SYNC-15] a reader that stops gets nothing more and holds no values', async () => {
  let ended = 0
  const stream = new EventStream<number>(0, () => ended++)
  stream.push(1)
  stream.push(2)
  for await (const value of stream) {
    expect(value).toBe(1)
    break
  }
  stream.push(3)
  expect(await stream.next()).toEqual({ value: undefined, done: true })
  expect(ended).toBe(1)
})
