import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw, constants as zlib } from 'node:zlib'

/**
 * A part of a text, compressed on its own. Parts can be joined to one gzip file in any order and number, so changing a part of a
 * large text does not compress the rest again.
 */
export interface GzipSegment {
  /** Deflate blocks that end on a byte boundary and refer to nothing before them. */
  deflated: Buffer
  /** CRC-32 and size of the text. */
  crc: number
  textBytes: number
}

const deflateAsync = promisify(deflateRaw)
const inflateAsync = promisify(inflateRaw)
/** Level 1 takes half the time of the default level, for output that is a fifth larger. */
const LEVEL = 1
const MIN_CHUNK_BYTES = 1_024
/** Every chunk of output costs a round trip to the thread pool, so the output of a segment is usually one chunk. */
const chunkSizeFor = (bytes: number) => Math.max(bytes, MIN_CHUNK_BYTES)

/** Ends the segment with an empty block on a byte boundary instead of the final block. */
const ON_BYTE_BOUNDARY = { finishFlush: zlib.Z_SYNC_FLUSH }

export async function deflateSegment(text: Buffer): Promise<GzipSegment> {
  const chunkSize = chunkSizeFor(text.length / 2)
  const deflated = await deflateAsync(text, { level: LEVEL, chunkSize, ...ON_BYTE_BOUNDARY })
  return { deflated, crc: crc32(text), textBytes: text.length }
}

export const inflateSegment = ({ deflated, textBytes }: GzipSegment): Promise<Buffer> =>
  inflateAsync(deflated, { chunkSize: chunkSizeFor(textBytes), ...ON_BYTE_BOUNDARY })

/** Magic number, deflate, no flags, no time, fastest level, Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3])
/** An empty block that is marked as the last. */
const FINAL_BLOCK = Buffer.from([3, 0])
const TRAILER_BYTES = 8

/** One gzip file with the text of all segments. Returns the segments as parts of it, so that they need no memory of their own. */
export function joinSegments<S extends GzipSegment>(segments: readonly S[]): { bytes: Buffer; segments: S[] } {
  const size = segments.reduce((sum, { deflated }) => sum + deflated.length, 0)
  // Not from the pool of small buffers: caching a small file would hold a whole slab.
  const bytes = Buffer.allocUnsafeSlow(HEADER.length + size + FINAL_BLOCK.length + TRAILER_BYTES)
  let end = HEADER.copy(bytes)
  let [crc, textBytes] = [0, 0]
  const joined = segments.map((segment) => {
    const start = end
    end += segment.deflated.copy(bytes, start)
    crc = combineCrc32(crc, segment.crc, segment.textBytes)
    textBytes += segment.textBytes
    return { ...segment, deflated: bytes.subarray(start, end) }
  })
  end += FINAL_BLOCK.copy(bytes, end)
  end = bytes.writeUInt32LE(crc, end)
  bytes.writeUInt32LE(textBytes % 2 ** 32, end)
  return { bytes, segments: joined }
}

/** The polynomial of CRC-32, bits reversed. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

/** The product of two polynomials modulo that of CRC-32, as in zlib. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1
  }
  return product >>> 0
}

/** The powers x^(8 · 2^n), for n from 0. */
const powers = [0x00800000]
for (let n = 1; n < 32; n++) powers.push(multiply(powers[n - 1] as number, powers[n - 1] as number))

/** The CRC-32 of two texts together: the first is shifted by the length of the second. */
function combineCrc32(first: number, second: number, secondBytes: number): number {
  let shift = ONE
  for (const [n, power] of powers.entries()) if (secondBytes & (1 << n)) shift = multiply(shift, power)
  return (multiply(shift, first) ^ second) >>> 0
}
