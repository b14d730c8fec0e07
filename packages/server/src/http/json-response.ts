import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, createGzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JSON_TYPE, toJson } from '../platform/json.ts'
import { etagOf, isSame } from './etag.ts'

/** Less than this fits in one packet of the network anyway. */
const WORTH_PACKING = 1_400
const zip = promisify(gzip)
/** Each piece of what comes out is a way to another thread and back: for a board of a thousand cards two fifths of the time. */
const LARGEST_PIECE = 65_536
const CHUNKS_AT_ONCE = 4
const sizeOfPieces = (textLength: number) => Math.min(Math.max(textLength, WORTH_PACKING), LARGEST_PIECE)
/** The first level takes half the time of the usual one, and leaves a fifth more. */
export const compress = (text: string) => zip(text, { level: 1, chunkSize: sizeOfPieces(text.length) })

/** A response that is not the value itself, but how it is sent. */
export abstract class PreparedResponse {
  protected readonly isPrepared = true
}

/** JSON text as it is sent, compressed, with the name of its state. Without bytes: the client has it already. */
export class CompressedJson extends PreparedResponse {
  readonly etag: string
  readonly bytes: Buffer | undefined
  /** How many bytes the text has that was compressed. */
  readonly text_bytes: number

  constructor(etag: string, bytes: Buffer | undefined, text_bytes: number) {
    super()
    this.etag = etag
    this.bytes = bytes
    this.text_bytes = text_bytes
  }
}

/** JSON text that is made page by page while it is sent, because it may be too long to be held. It has no ETag. */
export class StreamedJson extends PreparedResponse {
  readonly first: string
  readonly rest: AsyncIterable<string>

  constructor(first: string, rest: AsyncIterable<string>) {
    super()
    this.first = first
    this.rest = rest
  }
}

/** Counts memory that a response takes, and returns how to give it back before the response is over. Throws when there is none. */
type Reserve = (bytes: number) => () => void
/** Waits for the client's turn before a page is read. */
type RunPaced = <T>(read: () => Promise<T>, bytesOf: (page: T) => number) => Promise<T>

/** How large a result is, if it is text already. */
export const textLength = (result: unknown): number =>
  typeof result === 'string' ? result.length : result instanceof StreamedJson ? result.first.length : 0

/**
 * Answers a GET: with 304 when the client has what it asks for, compressed when it is large and the client can read that.
 * One ETag names the state, however it is written. Nothing secret is in these answers that compression could betray.
 */
export async function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  { reserve, runPaced }: { reserve: Reserve; runPaced: RunPaced },
) {
  const { 'if-none-match': known, 'accept-encoding': accepted = '' } = request.headers
  if (result instanceof StreamedJson) return sendStream(reply, result, readsGzip(accepted), { reserve, runPaced })
  const packed = result instanceof CompressedJson ? result : undefined
  const text = packed ? '' : toJson(result)
  const etag = packed?.etag ?? etagOf(text)
  reply.header('etag', etag).header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (known !== undefined && isSame(known, etag)) return reply.code(304).send()
  reserve(packed?.bytes?.length ?? text.length)
  reply.type(JSON_TYPE)
  const isCompressed = readsGzip(accepted)
  if (packed?.bytes && !isCompressed) {
    // As a stream: a slow client holds the compressed bytes, which others share, and one piece of the text.
    reply.header('content-length', packed.text_bytes)
    const text = decompress(packed.bytes)
    if (packed.text_bytes <= CHUNKS_AT_ONCE * LARGEST_PIECE) return reply.send(text)
    return reply.send(Readable.from(inPieces(text, runPaced), { objectMode: false, highWaterMark: 1 }))
  }
  if (!isCompressed || (!packed && text.length < WORTH_PACKING)) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(packed?.bytes ?? (await compress(text)))
}

function sendStream(
  reply: FastifyReply,
  { first, rest }: StreamedJson,
  isCompressed: boolean,
  { reserve, runPaced }: { reserve: Reserve; runPaced: RunPaced },
) {
  let release = reserve(first.length)
  const pieces = async function* () {
    yield* piecesOf(first)
    const pages = rest[Symbol.asyncIterator]()
    for (;;) {
      const { done, value: page } = await runPaced(
        () => pages.next(),
        ({ value }) => textLength(value),
      )
      if (done) return
      release()
      release = reserve(page.length)
      yield* piecesOf(page)
    }
  }
  // Only as far ahead as the client reads.
  const text = Readable.from(pieces(), { objectMode: false, highWaterMark: 1 })
  reply.type(JSON_TYPE).header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (!isCompressed) return reply.send(text)
  const compressed = pipeline(text, createGzip({ level: 1, chunkSize: LARGEST_PIECE }), () => {})
  return reply.header('content-encoding', 'gzip').send(compressed)
}

/** In small pieces: a piece that the client does not read is copied into the buffer of its connection. */
function* piecesOf(text: string) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += LARGEST_PIECE) yield bytes.subarray(at, at + LARGEST_PIECE)
}

/** The bytes of a stream in pieces of a few chunks, each in its turn. */
async function* inPieces(stream: Readable, runPaced: RunPaced) {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]()
  const read = async () => {
    const piece: Buffer[] = []
    for (let i = 0; i < CHUNKS_AT_ONCE; i++) {
      const { done, value } = await chunks.next()
      if (done) break
      piece.push(value)
    }
    return Buffer.concat(piece)
  }
  try {
    for (;;) {
      const piece = await runPaced(read, ({ length }) => length)
      if (piece.length === 0) return
      yield piece
    }
  } finally {
    // The client may have gone in the middle.
    stream.destroy()
  }
}

function decompress(bytes: Buffer): Readable {
  const text = createGunzip({ chunkSize: LARGEST_PIECE })
  text.end(bytes)
  return text
}

const readsGzip = (accepted: string) =>
  accepted.split(',').some((one) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one))
