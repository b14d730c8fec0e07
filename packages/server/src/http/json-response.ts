import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, createGzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JSON_TYPE, toJson } from '../platform/json.ts'
import { encodeWithEtag, isSame } from './etag.ts'

/** Smaller texts fit into one network packet uncompressed. */
const MIN_COMPRESSED_BYTES = 1_400
const gzipAsync = promisify(gzip)
/** Every output chunk costs a thread-pool round trip (40 % of the time for a board of 1,000 cards), so chunks are large. */
const MAX_CHUNK_BYTES = 65_536
const chunkSizeFor = (textLength: number) => Math.min(Math.max(textLength, MIN_COMPRESSED_BYTES), MAX_CHUNK_BYTES)
/** Level 1 takes half the time of the default level, for output that is a fifth larger. */
export const compress = (text: string | Buffer) => gzipAsync(text, { level: 1, chunkSize: chunkSizeFor(text.length) })

/** The result of a handler that controls how it is sent. */
export abstract class PreparedResponse {
  protected readonly isPrepared = true
}

/** Compressed JSON with its ETag. Without bytes when the client has this version already. */
export class CompressedJson extends PreparedResponse {
  readonly etag: string
  readonly bytes: Buffer | undefined
  /** Uncompressed size. */
  readonly textBytes: number

  constructor(etag: string, bytes: Buffer | undefined, textBytes: number) {
    super()
    this.etag = etag
    this.bytes = bytes
    this.textBytes = textBytes
  }
}

/** JSON that is produced page by page while it is sent, because it may be too large for memory. It has no ETag. */
export class StreamedJson extends PreparedResponse {
  readonly first: string
  readonly rest: AsyncIterable<string>

  constructor(first: string, rest: AsyncIterable<string>) {
    super()
    this.first = first
    this.rest = rest
  }
}

interface Sending {
  /** Counts what is sent against the budget of the user. */
  charge: (bytes: number) => void
  /** Reads a further page of a long list, when the user may. */
  readPage: <T>(read: () => Promise<T>) => Promise<T>
}

/**
 * Sends the response to a GET: 304 if the ETag matches, compressed if it is large and the client accepts gzip. The ETag is the
 * same for both encodings. Compression leaks nothing (BREACH): these responses contain no secrets.
 */
export async function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  { charge, readPage }: Sending,
) {
  const { 'if-none-match': expected, 'accept-encoding': accepted = '' } = request.headers
  const isCompressed = acceptsGzip(accepted)
  if (result instanceof StreamedJson) return sendStream(reply, result, isCompressed, { charge, readPage })
  const compressed = result instanceof CompressedJson ? result : undefined
  const text = compressed ? '' : toJson(result)
  const { content, etag } = compressed ? { content: '', etag: compressed.etag } : await encodeWithEtag(text)
  reply.header('etag', etag).header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (expected !== undefined && isSame(expected, etag)) return reply.code(304).send()
  charge(compressed?.bytes && isCompressed ? compressed.bytes.length : (compressed?.textBytes ?? text.length))
  reply.type(JSON_TYPE)
  if (compressed?.bytes && !isCompressed) {
    // As a stream: a slow client then holds one chunk of text, and the compressed bytes, which others share.
    reply.header('content-length', compressed.textBytes)
    return reply.send(decompress(compressed.bytes))
  }
  if (!isCompressed || (!compressed && text.length < MIN_COMPRESSED_BYTES)) return reply.send(content)
  return reply.header('content-encoding', 'gzip').send(compressed?.bytes ?? (await compress(content)))
}

function sendStream(
  reply: FastifyReply,
  { first, rest }: StreamedJson,
  isCompressed: boolean,
  { charge, readPage }: Sending,
) {
  charge(first.length)
  const chunks = async function* () {
    yield* chunksOf(first)
    const pages = rest[Symbol.asyncIterator]()
    for (;;) {
      const { done, value: page } = await readPage(() => pages.next())
      if (done) return
      charge(page.length)
      yield* chunksOf(page)
    }
  }
  // Backpressure: the next page is read when the client has read this one.
  const text = Readable.from(chunks(), { objectMode: false, highWaterMark: 1 })
  reply.type(JSON_TYPE).header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (!isCompressed) return reply.send(text)
  const compressed = pipeline(text, createGzip({ level: 1, chunkSize: MAX_CHUNK_BYTES }), () => {})
  return reply.header('content-encoding', 'gzip').send(compressed)
}

/** Small chunks, because a chunk that the client has not read is copied into the buffer of its connection. */
function* chunksOf(text: string) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += MAX_CHUNK_BYTES) yield bytes.subarray(at, at + MAX_CHUNK_BYTES)
}

function decompress(bytes: Buffer): Readable {
  const text = createGunzip({ chunkSize: MAX_CHUNK_BYTES })
  text.end(bytes)
  return text
}

const acceptsGzip = (accepted: string) =>
  accepted.split(',').some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding))
