import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'

export interface Reply {
  status: number
  /** Names in lower case. The last one of a repeated header. */
  headers: Map<string, string>
  /** The body as it was before it was compressed. */
  bytes: Buffer
}
/**
 * `closed`: the connection ended without a response. `silent`: no response in time. `garbled`: not HTTP, or too much.
 */
export type Outcome = Reply | 'closed' | 'silent' | 'garbled'
export interface Dispatch {
  pieces: readonly Buffer[]
  /** A response to HEAD has no body, whatever its Content-Length is. */
  isHead?: boolean
  /** The client half-closes the connection after the last chunk. */
  isEnded?: boolean
  /** Data after the response cannot be assigned, so the connection is closed. */
  isLast?: boolean
}

/** Slightly more than the timeout of a request body. */
const PATIENCE_MS = 35_000
const END = Buffer.from('\r\n\r\n')

/** HTTP by hand on a connection that stays open: one request at a time, made of any bytes at all. */
export class Connection {
  private readonly port: number
  private socket: Socket | undefined
  private rest: Buffer = Buffer.alloc(0)
  private settle: ((outcome: Outcome) => void) | undefined
  private isHead = false

  constructor(baseUrl: string) {
    this.port = Number(new URL(baseUrl).port)
  }

  async ask({ pieces, isHead = false, isEnded = false, isLast = false }: Dispatch): Promise<Outcome> {
    const socket = this.open()
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const timer = setTimeout(() => resolve('silent'), PATIENCE_MS)
    this.settle = resolve
    this.isHead = isHead
    for (const piece of pieces) socket.write(piece)
    if (isEnded) socket.end()
    const outcome = await promise
    clearTimeout(timer)
    this.settle = undefined
    const isReusable = typeof outcome === 'object' && outcome.headers.get('connection') !== 'close'
    if (isLast || isEnded || !isReusable) this.close()
    else if (this.rest.length > 0) {
      this.close()
      return 'garbled'
    }
    return outcome
  }

  close() {
    this.socket?.destroy()
    this.socket = undefined
    this.rest = Buffer.alloc(0)
  }

  private open(): Socket {
    if (this.socket && !this.socket.destroyed && this.socket.writable) return this.socket
    this.rest = Buffer.alloc(0)
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true })
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      if (socket !== this.socket) return
      this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
      this.read()
    })
    socket.on('close', () => {
      if (socket !== this.socket) return
      this.socket = undefined
      this.settle?.('closed')
    })
    this.socket = socket
    return socket
  }

  private read() {
    const outcome = this.settle && this.parse()
    if (outcome !== undefined) this.settle?.(outcome)
  }

  /** The first complete response in the received data. */
  private parse(): Outcome | undefined {
    const end = this.rest.indexOf(END)
    if (end === -1) return undefined
    const [first = '', ...lines] = this.rest.toString('latin1', 0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(first)?.[1])
    if (!status) return 'garbled'
    if (status < 200) {
      this.rest = this.rest.subarray(end + 4)
      return this.parse()
    }
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    const isBare = this.isHead || status === 204 || status === 304
    const body = isBare ? { bytes: Buffer.alloc(0), end: end + 4 } : bodyOf(this.rest, end + 4, headers)
    if (body === undefined) return undefined
    this.rest = this.rest.subarray(body.end)
    return { status, headers, bytes: unpacked(body.bytes, headers.get('content-encoding')) }
  }
}

function bodyOf(bytes: Buffer, start: number, headers: Map<string, string>) {
  if (headers.get('transfer-encoding') === 'chunked') return chunksOf(bytes, start)
  const end = start + Number(headers.get('content-length') ?? 0)
  return bytes.length < end ? undefined : { bytes: bytes.subarray(start, end), end }
}

function chunksOf(bytes: Buffer, start: number) {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (bytes.length < line + size + 4) return undefined
    if (size === 0) return { bytes: Buffer.concat(chunks), end: line + 4 }
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + size + 4
  }
}

const unpackers: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}
function unpacked(bytes: Buffer, encoding: string | undefined): Buffer {
  return bytes.length > 0 && encoding !== undefined ? (unpackers[encoding]?.(bytes) ?? bytes) : bytes
}
