import { randomBytes } from 'node:crypto'
import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { MessageAssembler } from './message-assembler.ts'

const LARGE = 65_536
const message = (length: number) => {
  const bytes = randomBytes(1 + length)
  bytes.writeUInt32BE(length, 1)
  return bytes
}
/** Many small messages, some around the size that counts as large, and some that are much larger. */
const lengths = fc.oneof(
  fc.integer({ min: 4, max: 40 }),
  fc.integer({ min: LARGE - 3, max: LARGE + 3 }),
  fc.integer({ min: 4, max: 5 * LARGE }),
)

test.prop([fc.array(lengths, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 2 * LARGE }), { minLength: 1 })], {
  numRuns: 300,
})('[RUN-7] what PostgreSQL sends reaches the driver unchanged, however it is split', (sizes, chunks) => {
  const messages = sizes.map(message)
  const all = Buffer.concat(messages)
  const passed: Buffer[] = []
  const assembler = new MessageAssembler(1_000_000_000, (bytes) => passed.push(Buffer.from(bytes)))
  for (let from = 0, nth = 0; from < all.length; nth++) {
    const to = from + (chunks[nth % chunks.length] as number)
    assembler.push(all.subarray(from, to))
    from = to
  }
  expect(Buffer.concat(passed).equals(all)).toBe(true)
  // A large message is in one piece.
  const starts = new Set<number>()
  let at = 0
  for (const piece of passed) {
    starts.add(at)
    at += piece.length
  }
  let begin = 0
  for (const { length } of messages) {
    if (length > LARGE) for (const start of starts) expect(start > begin && start < begin + length).toBe(false)
    begin += length
  }
})

test('[RUN-7] a message above the limit is rejected at its header', () => {
  const assembler = new MessageAssembler(100_000, () => {})
  assembler.push(message(90_000))
  expect(() => assembler.push(message(100_000).subarray(0, 5))).toThrow(
    expect.objectContaining({ code: 'result_too_large' }),
  )
})
