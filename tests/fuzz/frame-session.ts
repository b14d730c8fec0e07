import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { frameOf } from './frames.ts'

/**
 * How a session ended. `open`: it was still open. `cut`: without a close frame. `refusal`: the handshake was
 * rejected.
 */
export interface Ending {
  code: number | 'open' | 'cut'
  refusal: { status: number; text: string } | undefined
  messages: unknown[]
  /** Invalid frames of the server, and messages that are not JSON. */
  garbled: string[]
}

export interface Handshake {
  method: string
  target: string
  headers: readonly (readonly [string, string])[]
}
export const handshakeTo = (target: string): Handshake => ({
  method: 'GET',
  target,
  headers: [
    ['Host', '127.0.0.1'],
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', randomBytes(16).toString('base64')],
  ],
})

/** A low-level WebSocket client that records all messages. */
export class FrameSession {
  readonly socket: Socket
  /** Settles with the first message, the rejection or the end. */
  readonly begun: Promise<void>
  readonly ended: Promise<Ending>
  private readonly ending: Ending = { code: 'cut', refusal: undefined, messages: [], garbled: [] }
  private rest: Buffer = Buffer.alloc(0)
  private isOpen = false
  private begin: () => void
  private finish: (ending: Ending) => void

  constructor(baseUrl: string, { method, target, headers }: Handshake) {
    const [start, end] = [Promise.withResolvers<void>(), Promise.withResolvers<Ending>()]
    this.begun = start.promise
    this.ended = end.promise
    this.begin = start.resolve
    this.finish = end.resolve
    this.socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1', noDelay: true })
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk: Buffer) => this.take(chunk))
    this.socket.on('close', () => {
      this.begin()
      this.finish(this.ending)
    })
    const lines = headers.map(([name, value]) => `${name}: ${value}`)
    this.socket.write(Buffer.from([`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1'))
  }

  /** Closes the connection at once. */
  leave() {
    if (!this.socket.destroyed && this.ending.code === 'cut') this.ending.code = 'open'
    this.socket.destroy()
  }

  private take(chunk: Buffer) {
    this.rest = Buffer.concat([this.rest, chunk])
    if (!this.isOpen && !this.readHead()) return
    for (;;) {
      const { rest } = this
      if (rest.length < 2) return
      const short = (rest[1] as number) & 0x7f
      const head = short < 126 ? 2 : short === 126 ? 4 : 10
      if (rest.length < head) return
      const length = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2))
      if (rest.length < head + length) return
      this.rest = rest.subarray(head + length)
      this.read(rest[0] as number, (rest[1] as number) & 0x80, rest.subarray(head, head + length))
    }
  }

  private readHead(): boolean {
    const end = this.rest.indexOf('\r\n\r\n')
    if (end === -1) return false
    const head = this.rest.toString('latin1', 0, end)
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    if (status !== 101) {
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      const text = this.rest.toString('utf8', end + 4)
      if (Buffer.byteLength(text) < length) return false
      this.ending.refusal = { status, text }
      this.begin()
      this.socket.destroy()
      return false
    }
    this.isOpen = true
    this.rest = this.rest.subarray(end + 4)
    return true
  }

  private read(first: number, masked: number, content: Buffer) {
    const opcode = first & 0x0f
    if ((first & 0x70) !== 0 || masked !== 0) this.ending.garbled.push('a frame with reserved bits or a mask')
    if (opcode === 1) {
      try {
        this.ending.messages.push(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content)))
      } catch {
        this.ending.garbled.push('a message that is no JSON')
      }
      this.begin()
    } else if (opcode === 8) {
      this.ending.code = content.length < 2 ? 1005 : content.readUInt16BE(0)
      this.socket.end(frameOf(content.subarray(0, 2), { opcode: 8 }))
    } else if (opcode !== 9 && opcode !== 10) this.ending.garbled.push(`a frame of the kind ${opcode}`)
  }
}
