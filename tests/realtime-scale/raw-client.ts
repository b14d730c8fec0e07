import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A frame as a client sends it, with a mask of zeros, which leaves the content unchanged. */
export function clientFrame(opcode: number, content: Buffer | string, { fin = true, masked = true } = {}): Buffer {
  const bytes = Buffer.from(content)
  const { length } = bytes
  const bit = masked ? 0x80 : 0
  const size =
    length < 126
      ? Buffer.from([bit | length])
      : length < 65_536
        ? Buffer.from([bit | 126, length >> 8, length & 0xff])
        : Buffer.from([bit | 127, 0, 0, 0, 0, ...Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length)])
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode]), size, Buffer.alloc(masked ? 4 : 0), bytes])
}

const handshake = (path: string, address = '127.0.0.1') =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Forwarded-For: ${address}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`

/** How a connection was closed: with a code, or cut without one. */
export interface CloseResult {
  code: number | 'cut'
}

/** A WebSocket client on a raw TCP socket, which can violate the protocol. It does not read until `readAll` or `readSlowly`. */
export class RawClient {
  readonly socket: Socket
  readonly closed: Promise<CloseResult>
  /** Resolves with the first `user_joined`, or when the connection is closed before. */
  readonly joined: Promise<void>
  /** The numbers of the received events. */
  readonly seqs: number[] = []
  epoch = 1
  position = -1
  isOpen = false
  private rest: Buffer = Buffer.alloc(0)
  private code: number | undefined
  private timer: NodeJS.Timeout | undefined
  private onJoined: () => void

  constructor(baseUrl: string, path: string, address?: string) {
    this.socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1', noDelay: true })
    this.socket.on('error', () => {})
    this.socket.write(handshake(path, address))
    const { promise, resolve: onJoined } = Promise.withResolvers<void>()
    this.joined = promise
    this.onJoined = onJoined
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        onJoined()
        clearInterval(this.timer)
        resolve({ code: this.code ?? 'cut' })
      })
    })
  }

  /** Reads everything from now on. */
  readAll(): this {
    clearInterval(this.timer)
    this.socket.on('data', (chunk: Buffer) => this.onData(chunk))
    this.socket.resume()
    return this
  }

  /** Reads at a fixed rate from now on. */
  readSlowly(bytesPerSecond: number): this {
    this.socket.pause()
    this.timer = setInterval(() => {
      const chunk = this.socket.read(Math.min(bytesPerSecond, this.socket.readableLength)) as Buffer | null
      if (chunk) this.onData(chunk)
    }, 1_000)
    return this
  }

  private onData(chunk: Buffer) {
    this.rest = Buffer.concat([this.rest, chunk])
    if (!this.isOpen) {
      const end = this.rest.indexOf('\r\n\r\n')
      if (end === -1) return
      this.isOpen = true
      this.rest = this.rest.subarray(end + 4)
    }
    for (;;) {
      const { rest } = this
      const short = (rest[1] ?? 0) & 0x7f
      const head = short < 126 ? 2 : short === 126 ? 4 : 10
      if (rest.length < head) return
      const length = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : rest.readUInt32BE(6)
      if (rest.length < head + length) return
      this.rest = rest.subarray(head + length)
      this.onFrame((rest[0] as number) & 0x0f, rest.subarray(head, head + length))
    }
  }

  private onFrame(opcode: number, content: Buffer) {
    if (opcode === opcodes.close) {
      this.code = content.readUInt16BE(0)
      this.socket.end(clientFrame(opcodes.close, content.subarray(0, 2)))
    }
    if (opcode !== opcodes.text) return
    const { type, seq, epoch } = JSON.parse(content.toString()) as { type: string; seq?: number; epoch?: number }
    if (type === 'user_joined') this.onJoined()
    if (type === 'ping') this.socket.write(clientFrame(opcodes.text, '{"type":"pong"}'))
    else if (type === 'hello') this.epoch = epoch ?? 1
    else if (seq !== undefined) this.seqs.push(seq)
    if (type === 'hello' && this.position === -1) this.position = seq ?? -1
    else if (type !== 'ping' && type !== 'hello' && seq !== undefined) this.position = seq
  }
}

/** Whether the numbers are consecutive. */
export const isGapless = (seqs: readonly number[]) => seqs.every((seq, i) => i === 0 || seq === (seqs[i - 1] ?? 0) + 1)
