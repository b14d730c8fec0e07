import { invalid } from '../validation.ts'

const MAX_HEADER_BYTES = 16_384
const END_OF_HEADERS = '\r\n\r\n'

/** The headers of a part, by their names in lower case. Their values are bytes, each written as one character. */
export type PartHeaders = ReadonlyMap<string, string>

/**
 * Takes a body of several parts (RFC 7578) apart as it arrives: `next` leads to the next part, `content` hands out its
 * bytes. It keeps no more than the end of the last piece, whatever the size of the body, and reads on only when asked.
 */
export class Multipart {
  private readonly pieces: AsyncIterator<Buffer>
  private readonly delimiter: Buffer
  /** What has arrived and was not handed out. The first delimiter may stand at the very beginning. */
  private rest: Buffer = Buffer.from('\r\n')
  /** Whatever comes before the first part is skipped like the rest of a part. */
  private isInside = true

  constructor(pieces: AsyncIterator<Buffer>, boundary: string) {
    this.pieces = pieces
    this.delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  }

  /** The headers of the next part, and undefined after the last one. What was not read of a part is skipped. */
  async next(): Promise<PartHeaders | undefined> {
    for await (const _ of this.content());
    while (this.rest.length < 2) await this.readOn()
    if (this.rest.subarray(0, 2).equals(LAST)) return undefined
    const [padding, ...lines] = (await this.takeUntil(END_OF_HEADERS)).toString('latin1').split('\r\n')
    if (padding?.trim() !== '') throw malformed
    this.isInside = true
    return new Map(lines.map(readHeader))
  }

  /** The bytes of the part, as they come. */
  async *content(): AsyncGenerator<Buffer> {
    while (this.isInside) {
      const end = this.rest.indexOf(this.delimiter)
      // What looks like the beginning of a delimiter may be one.
      const safe = end >= 0 ? end : Math.max(0, this.rest.length - this.delimiter.length + 1)
      const bytes = this.rest.subarray(0, safe)
      this.rest = this.rest.subarray(end >= 0 ? end + this.delimiter.length : safe)
      this.isInside = end < 0
      if (bytes.length > 0) yield bytes
      if (this.isInside) await this.readOn()
    }
  }

  private async takeUntil(mark: string): Promise<Buffer> {
    for (;;) {
      const end = this.rest.indexOf(mark)
      if (end > MAX_HEADER_BYTES || (end < 0 && this.rest.length > MAX_HEADER_BYTES)) throw malformed
      if (end < 0) await this.readOn()
      else {
        const bytes = this.rest.subarray(0, end)
        this.rest = this.rest.subarray(end + mark.length)
        return bytes
      }
    }
  }

  private async readOn() {
    const { value, done } = await this.pieces.next()
    if (done) throw malformed
    this.rest = this.rest.length === 0 ? value : Buffer.concat([this.rest, value])
  }
}
const LAST = Buffer.from('--')
const malformed = invalid([{ field: 'body', message: 'is not a complete form of several parts' }])

function readHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw malformed
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
