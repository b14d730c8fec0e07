import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toJson } from './change.ts'
import { etagOf, isSame } from './etag.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
/** Less than this fits in one packet of the network anyway. */
const WORTH_PACKING = 1_400
const zip = promisify(gzip)
const unzip = promisify(gunzip)
/** Each piece of what comes out is a way to another thread and back: for a board of a thousand cards two fifths of the time. */
const LARGEST_PIECE = 65_536
const sizeOfPieces = (text_length: number) => Math.min(Math.max(text_length, WORTH_PACKING), LARGEST_PIECE)
/** The first level takes half the time of the usual one, and leaves a fifth more. */
export const pack = (text: string) => zip(text, { level: 1, chunkSize: sizeOfPieces(text.length) })
const unpack = (bytes: Buffer) => unzip(bytes, { chunkSize: LARGEST_PIECE })

/** JSON text as it is sent, compressed, with the name of its state. Without bytes: the client has it already. */
export class Packed {
  readonly etag: string
  readonly bytes: Buffer | undefined

  constructor(etag: string, bytes: Buffer | undefined) {
    this.etag = etag
    this.bytes = bytes
  }
}

/**
 * Answers a GET: with 304 when the client has what it asks for, compressed when it is large and the client can read that.
 * One ETag names the state, however it is written. Nothing secret is in these answers that compression could betray.
 */
export async function sendJson(request: FastifyRequest, reply: FastifyReply, result: unknown) {
  const { 'if-none-match': known, 'accept-encoding': accepted = '' } = request.headers
  const packed = result instanceof Packed ? result : undefined
  const text = packed ? '' : toJson(result)
  const etag = packed?.etag ?? etagOf(text)
  reply.header('etag', etag).header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '))
  if (known !== undefined && isSame(known, etag)) return reply.code(304).send()
  reply.type(JSON_TYPE)
  if (!readsGzip(accepted)) return reply.send(packed?.bytes ? await unpack(packed.bytes) : text)
  if (!packed && text.length < WORTH_PACKING) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(packed?.bytes ?? (await pack(text)))
}

const readsGzip = (accepted: string) =>
  accepted.split(',').some((one) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one))
