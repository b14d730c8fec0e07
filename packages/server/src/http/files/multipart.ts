import { invalid } from '../validation.ts'

const MAX_HEADER_BYTES = 16_384
const END_OF_HEADERS = '\r\n\r\n'

/** The headers of a part, by lower-case name. Values are latin1: one character per byte. */
export type PartHeaders = ReadonlyMap<string, string>

/**
 * A streaming parser of multipart bodies (RFC 7578): `next` goes to the next part, `content` yields its bytes. It buffers no
 * more than one chunk, whatever the size of the body, and reads only on demand.
 */
export class Multipart {
  private readonly chunks: AsyncIterator<Buffer>
  private readonly delimiter: Buffer
  /** Received bytes that were not consumed. The line break lets the first delimiter match at the start of the body. */
  private rest: Buffer = Buffer.from('\r\n')
  /** True at first: the preamble is skipped like the rest of a part. */
  private isInPart = true

  constructor(chunks: AsyncIterator<Buffer>, boundary: string) {
    this.chunks = chunks
    this.delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  }

  /** The headers of the next part; undefined after the last one. Skips what was not read of the current part. */
  async next(): Promise<PartHeaders | undefined> {
    for await (const _ of this.content());
    while (this.rest.length < 2) await this.readChunk()
    if (this.rest.subarray(0, 2).equals(LAST)) return undefined
    const [padding, ...lines] = (await this.readUntil(END_OF_HEADERS)).toString('latin1').split('\r\n')
    if (padding?.trim() !== '') throw malformed
    this.isInPart = true
    return new Map(lines.map(readHeader))
  }

  /** The bytes of the part, as they arrive. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.isInPart) {
      const end = this.rest.indexOf(this.delimiter)
      // The end of the chunk may be the beginning of a delimiter.
      const safe = end >= 0 ? end : Math.max(0, this.rest.length - this.delimiter.length + 1)
      const bytes = this.rest.subarray(0, safe)
      this.rest = this.rest.subarray(end >= 0 ? end + this.delimiter.length : safe)
      this.isInPart = end < 0
      if (bytes.length > 0) yield bytes
      if (this.isInPart) await this.readChunk()
    }
  }

  private async readUntil(mark: string): Promise<Buffer> {
    for (;;) {
      const end = this.rest.indexOf(mark)
      if (end > MAX_HEADER_BYTES || (end < 0 && this.rest.length > MAX_HEADER_BYTES)) throw malformed
      if (end < 0) await this.readChunk()
      else {
        const bytes = this.rest.subarray(0, end)
        this.rest = this.rest.subarray(end + mark.length)
        return bytes
      }
    }
  }

  private async readChunk() {
    const { value, done } = await this.chunks.next()
    if (done) throw malformed
    this.rest = this.rest.length === 0 ? value : Buffer.concat([this.rest, value])
  }
}
const LAST = Buffer.from('--')
const malformed = invalid([{ field: 'body', message: 'is not a complete multipart form' }])

function readHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw malformed
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
