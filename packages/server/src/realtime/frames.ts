import { isAddedKind } from '@lockstep/contract/realtime'
import type { LiveEvent } from './hub-environment.ts'

/** Encodes a text message as one unmasked WebSocket frame. `prefix` avoids the copy that concatenating strings would make. */
export function frame(text: string, prefix = ''): Buffer {
  const length = Buffer.byteLength(text) + prefix.length
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const bytes = Buffer.allocUnsafe(head + length)
  bytes[0] = 0x81
  if (head === 2) {
    bytes[1] = length
  } else if (head === 4) {
    bytes[1] = 126
    bytes.writeUInt16BE(length, 2)
  } else {
    bytes[1] = 127
    bytes.writeBigUInt64BE(BigInt(length), 2)
  }
  bytes.write(prefix, head, 'latin1')
  bytes.write(text, head + prefix.length)
  return bytes
}

const plain = new WeakMap<readonly LiveEvent[], Buffer>()
const numbered = new WeakMap<readonly LiveEvent[], Buffer>()

/**
 * Encodes a batch of events as consecutive frames. Cached, so that sockets which receive the same batch share the buffer. Without
 * numbers, the batch has only the kinds of the specification, and can be empty.
 */
export function framesOf(events: readonly LiveEvent[], withSeq: boolean): Buffer {
  const cache = withSeq ? numbered : plain
  const cached = cache.get(events)
  if (cached) return cached
  const frames = withSeq
    ? events.map(({ seq, body }) => frame(body.slice(1), `{"seq":${seq},`))
    : events.filter(({ type }) => !isAddedKind(type)).map(({ body }) => frame(body))
  const bytes = frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames)
  cache.set(events, bytes)
  return bytes
}
