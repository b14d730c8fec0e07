import { createHash } from 'node:crypto'
import { VisibleText } from '@lockstep/contract/operation'
import { decodeExtended, parse } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../platform/problem.ts'
import { inputReader, invalid } from '../validation.ts'
import { Multipart, type PartHeaders } from './multipart.ts'

/** A file that was taken in: its bytes are kept under `file_id`, and belong to nothing yet. */
export interface UploadedFile {
  file_id: string
  name: string
  mime_type: string
  size: number
  content_hash: string
}

/** Where the bytes of uploads go before anybody holds a lock. */
export interface UploadStore {
  maxBytes: number
  /** The slowest that a client may send; 0 when any rate will do. */
  minBytesPerSecond: number
  /** Keeps what comes until it ends, for a while; answers under which id. */
  take: (board_id: string, content: AsyncIterable<Buffer>, user_id: string) => Promise<string>
  /** Forgets what nobody claimed. */
  drop: (board_id: string, file_id: string) => Promise<void>
}

export interface ReceivedUpload {
  /** The parts that are no file and have a name that the operation knows. */
  fields: Record<string, string>
  file: UploadedFile
}

/** A client that writes everything before it reads must get to its answer: so much is read for it in vain. */
const MAX_DISCARDED_BYTES = 134_217_728
/** What the other parts and all headers may add to the file. */
const MAX_EXTRA_BYTES = 65_536
const MAX_PARTS = 100
const MAX_FIELD_BYTES = 1_024

/** Where one request's file goes. */
export interface UploadSink {
  maxBytes: number
  minBytesPerSecond: number
  take: (content: AsyncIterable<Buffer>) => Promise<string>
  drop: (file_id: string) => Promise<void>
}

export const boardUploadSink = (
  { take, drop, ...bounds }: UploadStore,
  board_id: string,
  user_id: string,
): UploadSink => ({
  ...bounds,
  take: (content) => take(board_id, content, user_id),
  drop: (file_id) => drop(board_id, file_id),
})
/** For what is only read to see whether it was sent before. */
export const discardingSink = ({ maxBytes, minBytesPerSecond }: UploadStore): UploadSink => ({
  maxBytes,
  minBytesPerSecond,
  async take(content) {
    for await (const _ of content);
    return ''
  },
  async drop() {},
})

/**
 * Reads a form with one file in it, and gives the file's bytes to the desk as they come. Whatever is wrong with it, the
 * rest of the body is read before the refusal is sent.
 */
export async function receiveUpload(
  request: FastifyRequest,
  reply: FastifyReply,
  desk: UploadSink,
): Promise<ReceivedUpload> {
  try {
    return await receiveAll(request, reply, desk)
  } catch (error) {
    // The rest of a body that comes too slowly is not waited for.
    if (isTimeout(error)) reply.header('connection', 'close')
    throw error
  }
}

async function receiveAll(request: FastifyRequest, reply: FastifyReply, desk: UploadSink): Promise<ReceivedUpload> {
  const { maxBytes, minBytesPerSecond } = desk
  const pieces = atLeast(bodyOf(request), minBytesPerSecond)
  try {
    const boundary = readBoundary(request)
    if (Number(request.headers['content-length'] ?? 0) > maxBytes + MAX_EXTRA_BYTES) throw tooLarge(maxBytes)
    return await readForm(new Multipart(bounded(pieces, maxBytes), boundary), desk, () => discard(pieces, reply))
  } catch (error) {
    if (!isTimeout(error)) await discard(pieces, reply)
    throw error
  }
}

const isTimeout = (error: unknown) => error instanceof Problem && error.code === 'request_timeout'

/** The body as it comes. When its client goes away that is told as such, and is not taken for an error of the database. */
function bodyOf({ raw }: FastifyRequest): AsyncIterator<Buffer> {
  const pieces = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  return {
    next: () =>
      pieces.next().catch(() => {
        throw new Problem('request_incomplete')
      }),
  }
}

const RATE_SECONDS = 10

/**
 * The same pieces from a client that sends at least so many bytes a second, on average over ten seconds. Only the time that
 * the service waits for the client counts. A slower client gets 408.
 */
function atLeast(pieces: AsyncIterator<Buffer>, bytes_per_second: number): AsyncIterator<Buffer> {
  if (bytes_per_second === 0) return pieces
  const due = bytes_per_second * RATE_SECONDS
  let bytes = 0
  let left_ms = RATE_SECONDS * 1_000
  return {
    async next() {
      const asked_at = performance.now()
      const piece = await within(left_ms, pieces.next())
      left_ms -= performance.now() - asked_at
      bytes += piece.value?.length ?? 0
      if (bytes >= due) {
        bytes = 0
        left_ms = RATE_SECONDS * 1_000
      }
      return piece
    },
  }
}

async function within<T>(ms: number, wait: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Problem('request_timeout')), Math.max(0, ms))
  try {
    return await Promise.race([wait, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** A body that did not say how long it is, is not endless either. */
function bounded(pieces: AsyncIterator<Buffer>, maxBytes: number): AsyncIterator<Buffer> {
  let read = 0
  return {
    async next() {
      const piece = await pieces.next()
      read += piece.value?.length ?? 0
      if (read > maxBytes + MAX_EXTRA_BYTES) throw tooLarge(maxBytes)
      return piece
    },
  }
}

/** What is behind the form may break off too, and then nothing of the form is kept. */
async function readForm(form: Multipart, desk: UploadSink, readRest: () => Promise<void>): Promise<ReceivedUpload> {
  const received: Partial<ReceivedUpload> & Pick<ReceivedUpload, 'fields'> = { fields: {} }
  try {
    await readParts(form, desk, received)
    const { fields, file } = received
    if (!file) throw invalid([{ field: 'file', message: 'is required' }])
    await readRest()
    return { fields, file }
  } catch (error) {
    if (received.file) await desk.drop(received.file.file_id)
    throw error
  }
}

async function readParts(
  form: Multipart,
  { maxBytes, take }: UploadSink,
  received: Partial<ReceivedUpload> & Pick<ReceivedUpload, 'fields'>,
) {
  for (let parts = 0; ; parts++) {
    const headers = await form.next()
    if (!headers) return
    if (parts === MAX_PARTS) throw invalid([{ field: 'body', message: `must have at most ${MAX_PARTS} parts` }])
    const { field, name } = readDisposition(headers)
    if (name === undefined) {
      if (field !== undefined) received.fields[field] = await readField(form.content())
    } else if (received.file) throw invalid([{ field: 'file', message: 'must be one file' }])
    else {
      readName({ file: name })
      const measured = measure(form.content(), maxBytes)
      const file_id = await take(measured.content)
      received.file = { file_id, name, mime_type: readType(headers), ...measured.result() }
    }
  }
}

function readBoundary({ headers }: FastifyRequest): string {
  const { 'content-type': declared = '', 'content-encoding': encoding = 'identity' } = headers
  const { type, parameters } = parse(declared)
  const { boundary = '' } = parameters
  if (encoding !== 'identity') throw invalid([{ field: 'body', message: 'must not be compressed' }])
  if (type !== 'multipart/form-data' || !/^[ -~]{1,70}$/.test(boundary)) {
    throw invalid([{ field: 'body', message: 'must be sent as multipart/form-data with a boundary' }])
  }
  return boundary
}

/** The name of a part, and of its file if it has one. Browsers write both in UTF-8; others may use `filename*`. */
function readDisposition(headers: PartHeaders): { field?: string; name?: string } {
  const header = unescapeQuotedPairs(headers.get('content-disposition') ?? '')
  const { type, parameters } = parse(header, { multipart: true, extended: false })
  if (type !== 'form-data') return {}
  const { name: field, filename, 'filename*': extended } = parameters
  const decoded = extended === undefined ? undefined : decodeExtended(extended)
  const name = decoded ?? (filename === undefined ? undefined : fromUtf8(filename))
  return { ...(field !== undefined && { field: fromUtf8(field) }), ...(name !== undefined && { name }) }
}

/**
 * Decodes the backslash escapes of quoted strings, which the parser does not know in its multipart mode. Only `\"` and
 * `\\` are escapes: browsers write a quote as `%22` and a backslash as it is, so a Windows path keeps its backslashes. The last
 * quote always closes the string, whatever precedes it.
 */
function unescapeQuotedPairs(header: string): string {
  const last = header.lastIndexOf('"')
  return header.replaceAll(/\\(["\\])/g, (pair, char: string, at: number) => {
    if (char === '\\') return char
    return at + 1 === last ? pair : '%22'
  })
}

function fromUtf8(bytes: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    throw invalid([{ field: 'body', message: 'must name its parts in UTF-8' }])
  }
}
const readName = inputReader(Type.Object({ file: VisibleText(255) }))

const token = "[\\w!#$%&'*+.^`|~-]+"
const mediaType = new RegExp(`^${token}/${token}(?:\\s*;\\s*${token}=(?:${token}|"[ !#-\\[\\]-~]*"))*$`)
function readType(headers: PartHeaders): string {
  const type = headers.get('content-type') ?? ''
  return type.length <= 255 && mediaType.test(type) ? type : 'application/octet-stream'
}

async function readField(content: AsyncIterable<Buffer>): Promise<string> {
  const bytes: Buffer[] = []
  let size = 0
  for await (const piece of content) {
    size += piece.length
    if (size <= MAX_FIELD_BYTES) bytes.push(piece)
  }
  return Buffer.concat(bytes).toString()
}

/** Hands the bytes on, and knows how many they were and what they are when they have passed. */
function measure(source: AsyncIterable<Buffer>, maxBytes: number) {
  const hash = createHash('sha256')
  let size = 0
  async function* content() {
    for await (const piece of source) {
      size += piece.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      hash.update(piece)
      yield piece
    }
  }
  return { content: content(), result: () => ({ size, content_hash: hash.digest('base64url') }) }
}

const tooLarge = (maxBytes: number) =>
  new Problem('file_too_large', { detail: `The file is larger than the maximum of ${maxBytes} bytes.` })

async function discard(pieces: AsyncIterator<Buffer>, reply: FastifyReply) {
  for (let read = 0; read <= MAX_DISCARDED_BYTES; ) {
    const { value, done } = await pieces.next()
    if (done) return
    read += value.length
  }
  reply.header('connection', 'close')
}

/** What makes an upload the same upload. */
export const fingerprintOfUpload = ({ fields, file: { name, mime_type, content_hash } }: ReceivedUpload) =>
  JSON.stringify([fields, name, mime_type, content_hash])
