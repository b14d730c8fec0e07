import type { WebSocket } from 'ws'
import type { LiveEvent } from './hub.ts'

/**
 * Frames are built once and shared by all sockets that get them. This is the only file that knows ws from the inside: a
 * frame goes straight to the socket beneath, which keeps its place among whatever ws itself sends.
 */
interface Inside {
  _socket: { write: (frame: Buffer) => boolean; once: (event: 'drain', listener: () => void) => void } | null
}

/** A text message as one unmasked WebSocket frame. `begin` stands before the text: joined as strings, both would be copied. */
export function frame(text: string, begin = ''): Buffer {
  const length = Buffer.byteLength(text) + begin.length
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
  bytes.write(begin, head, 'latin1')
  bytes.write(text, head + begin.length)
  return bytes
}

export function writeFrame(socket: WebSocket, bytes: Buffer) {
  if (socket.readyState === socket.OPEN) (socket as unknown as Inside)._socket?.write(bytes)
}

export function onceDrained(socket: WebSocket, listener: () => void) {
  ;(socket as unknown as Inside)._socket?.once('drain', listener)
}

const plain = new WeakMap<readonly LiveEvent[], Buffer>()
const numbered = new WeakMap<readonly LiveEvent[], Buffer>()

/** A batch of events as one run of frames, made once for everybody who gets this batch in this form. */
export function framesOf(events: readonly LiveEvent[], withSeq: boolean): Buffer {
  const made = withSeq ? numbered : plain
  const known = made.get(events)
  if (known) return known
  const frames = events.map(({ seq, body }) => (withSeq ? frame(body.slice(1), `{"seq":${seq},`) : frame(body)))
  const bytes = frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames)
  made.set(events, bytes)
  return bytes
}
