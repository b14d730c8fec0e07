import { expect, test } from 'vitest'
import { Stream } from './stream.ts'

const numbers = () =>
  new Stream<number | 'missed'>(
    () => 'missed',
    () => {},
  )

test('[SYNC-15] however slow the reader, no more than 1,000 values wait for him; the gap is where it was', async () => {
  const stream = numbers()
  for (let i = 1; i <= 10_500; i++) stream.push(i)
  stream.end()
  const read: unknown[] = []
  for await (const value of stream) read.push(value)
  expect(read.length).toBeLessThanOrEqual(1_000)
  expect(read[0]).toBe('missed')
  expect(read.slice(1)).toEqual(Array.from({ length: read.length - 1 }, (_, i) => 10_500 - read.length + 2 + i))
})

test('[SYNC-15] who asks for the next before he has the last gets them in order', async () => {
  const stream = numbers()
  const asked = [stream.next(), stream.next(), stream.next()]
  stream.push(1)
  stream.push(2)
  stream.end()
  expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([1, 2, undefined])
})

test('[SYNC-15] who leaves is given no more, and keeps nothing', async () => {
  let left = 0
  const stream = new Stream<number>(
    () => 0,
    () => left++,
  )
  stream.push(1)
  stream.push(2)
  for await (const value of stream) {
    expect(value).toBe(1)
    break
  }
  stream.push(3)
  expect(await stream.next()).toEqual({ value: undefined, done: true })
  expect(left).toBe(1)
})
