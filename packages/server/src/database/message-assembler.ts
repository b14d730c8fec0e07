import { Problem } from '../platform/problem.ts'

/** One byte for the type of a message and four for its length, which counts itself but not the type. */
const HEADER_BYTES = 5
/** Smaller messages are left to the driver. */
const LARGE_BYTES = 65_536

/**
 * Passes the messages of PostgreSQL to the driver, each large one in a single buffer. The driver would double its buffer again
 * and again, and copy it each time, because it does not allocate by the length in the header: for an event of 39 MB that took
 * a quarter of the time on the event loop.
 */
export class MessageAssembler {
  private readonly maxBytes: number
  private readonly pass: (bytes: Buffer) => void
  /** A large message, and how much of it has arrived. */
  private large: Buffer | undefined
  private filled = 0
  /** How much of a small message is still to come. */
  private missing = 0
  /** The first bytes of a header. */
  private partialHeader: Buffer | undefined

  /** A message of more than `maxBytes` is rejected at its header. */
  constructor(maxBytes: number, pass: (bytes: Buffer) => void) {
    this.maxBytes = maxBytes
    this.pass = pass
  }

  push(received: Buffer) {
    const rest = this.large ? this.fill(this.large, received) : received
    if (rest.length === 0) return
    const bytes = this.partialHeader ? Buffer.concat([this.partialHeader, rest]) : rest
    this.partialHeader = undefined
    /** The end of what can be passed on: after a message, or within a small one. */
    let end = Math.min(this.missing, bytes.length)
    this.missing -= end
    while (end + HEADER_BYTES <= bytes.length) {
      const length = 1 + bytes.readUInt32BE(end + 1)
      if (length > this.maxBytes) throw new Problem('result_too_large')
      if (end + length > bytes.length && length > LARGE_BYTES) {
        if (end > 0) this.pass(bytes.subarray(0, end))
        this.large = Buffer.allocUnsafe(length)
        this.filled = bytes.copy(this.large, 0, end)
        return
      }
      this.missing = Math.max(0, end + length - bytes.length)
      end = Math.min(end + length, bytes.length)
    }
    if (end < bytes.length) this.partialHeader = bytes.subarray(end)
    if (end > 0) this.pass(bytes.subarray(0, end))
  }

  /** Returns what follows the large message. */
  private fill(large: Buffer, received: Buffer): Buffer {
    const copied = received.copy(large, this.filled)
    this.filled += copied
    if (this.filled === large.length) {
      this.large = undefined
      this.pass(large)
    }
    return received.subarray(copied)
  }
}
