import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { deflateSegment, inflateSegment, joinSegments } from './gzip-segments.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }).map((value) => Buffer.from(value)),
  fc.nat(200_000).map((length) => Buffer.alloc(length, 'lockstep ')),
  fc.nat(100_000).map((length) => randomBytes(length)),
)

test.prop([fc.array(text, { maxLength: 8 })], { numRuns: 60 })(
  '[READ-8] texts that are compressed one by one join to one gzip file, in any order',
  async (texts) => {
    const { bytes, segments } = joinSegments(await Promise.all(texts.map(deflateSegment)))
    expect(gunzipSync(bytes).equals(Buffer.concat(texts))).toBe(true)
    expect(bytes.buffer.byteLength).toBe(bytes.length)
    const reversed = joinSegments(segments.toReversed())
    expect(gunzipSync(reversed.bytes).equals(Buffer.concat(texts.toReversed()))).toBe(true)
    for (const [i, segment] of segments.entries())
      expect((await inflateSegment(segment)).equals(texts[i] as Buffer)).toBe(true)
  },
)
