import { createHash } from 'node:crypto'
import { VisibleText } from '@lockstep/contract/operation'
import { decodeExtended, parse } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../platform/problem.ts'
import { inputReader, invalid } from '../validation.ts'
import { Multipart, type PartHeaders } from './multipart.ts'

/** A received file. Its bytes are stored under `file_id`; no attachment refers to it yet. */
export interface UploadedFile {
  file_id: string
  name: string
  mime_type: string
  size: number
  content_hash: string
}

/** Stores the bytes of uploads, before the board lock is taken. */
export interface UploadStore {
  maxBytes: number
  /** Limits the rate of a user: waits for as long as it requires. */
  pace: (user_id: string, bytes: number) => Promise<void>
  /** Stores the content temporarily. Returns its id. */
  store: (board_id: string, content: AsyncIterable<Buffer>, user_id: string) => Promise<string>
  /** Deletes a file that no attachment refers to. */
  discard: (board_id: string, file_id: string) => Promise<void>
}

export interface ReceivedUpload {
  /** The parts that are not a file, by name. */
  fields: Record<string, string>
  file: UploadedFile
}

/** Maximum number of bytes to read and discard, so that a client that writes everything before it reads gets its response. */
const MAX_DISCARDED_BYTES = 134_217_728
/** Maximum size of the other parts and all headers. */
const MAX_EXTRA_BYTES = 65_536
const MAX_PARTS = 100
const MAX_FIELD_BYTES = 1_024

/** Receives the file of one request. */
export interface UploadSink {
  maxBytes: number
  store: (content: AsyncIterable<Buffer>) => Promise<string>
  discard: (file_id: string) => Promise<void>
}

export const boardUploadSink = (
  { store, discard, maxBytes }: UploadStore,
  board_id: string,
  user_id: string,
): UploadSink => ({
  maxBytes,
  store: (content) => store(board_id, content, user_id),
  discard: (file_id) => discard(board_id, file_id),
})
/** Stores nothing: for a retry, whose file is only hashed. */
export const discardingSink = ({ maxBytes }: UploadStore): UploadSink => ({
  maxBytes,
  async store(content) {
    for await (const _ of content);
    return ''
  },
  async discard() {},
})

/** Receives a multipart form with one file, and streams the file to the sink. On an error, the rest of the body is read first. */
export async function receiveUpload(
  request: FastifyRequest,
  reply: FastifyReply,
  sink: UploadSink,
  pace: (bytes: number) => Promise<void>,
): Promise<ReceivedUpload> {
  const { maxBytes } = sink
  const chunks = bodyOf(request, pace)
  try {
    const boundary = readBoundary(request)
    if (Number(request.headers['content-length'] ?? 0) > maxBytes + MAX_EXTRA_BYTES) throw tooLarge(maxBytes)
    const form = new Multipart(withMaximumSize(chunks, maxBytes), boundary)
    return await readForm(form, sink, () => discardRest(chunks, reply))
  } catch (error) {
    await discardRest(chunks, reply)
    throw error
  }
}

/** The body as a stream. The error of a disconnected client is converted, because it looks like a lost database connection. */
function bodyOf({ raw }: FastifyRequest, pace: (bytes: number) => Promise<void>): AsyncIterator<Buffer> {
  const chunks = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  return {
    async next() {
      const chunk = await chunks.next().catch(() => {
        throw new Problem('request_incomplete')
      })
      // The whole body, also what is only hashed or discarded: all of it takes time from other requests.
      if (!chunk.done) await pace(chunk.value.length)
      return chunk
    },
  }
}

/** Limits a body that has no Content-Length. */
function withMaximumSize(chunks: AsyncIterator<Buffer>, maxBytes: number): AsyncIterator<Buffer> {
  let read = 0
  return {
    async next() {
      const chunk = await chunks.next()
      read += chunk.value?.length ?? 0
      if (read > maxBytes + MAX_EXTRA_BYTES) throw tooLarge(maxBytes)
      return chunk
    },
  }
}

/** Reads the form, and what follows it: if the client disconnects before the end of the body, the file is discarded. */
async function readForm(form: Multipart, sink: UploadSink, readRest: () => Promise<void>): Promise<ReceivedUpload> {
  const received: Partial<ReceivedUpload> & Pick<ReceivedUpload, 'fields'> = { fields: {} }
  try {
    await readParts(form, sink, received)
    const { fields, file } = received
    if (!file) throw invalid([{ field: 'file', message: 'is required' }])
    await readRest()
    return { fields, file }
  } catch (error) {
    if (received.file) await sink.discard(received.file.file_id)
    throw error
  }
}

async function readParts(
  form: Multipart,
  { maxBytes, store }: UploadSink,
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
      const file_id = await store(measured.content)
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

/** The name of a part, and the name of its file if it has one. Browsers send both in UTF-8; other clients may use `filename*`. */
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
  for await (const chunk of content) {
    size += chunk.length
    if (size <= MAX_FIELD_BYTES) bytes.push(chunk)
  }
  return Buffer.concat(bytes).toString()
}

/** Passes the bytes through, and computes their size and hash. */
function measure(source: AsyncIterable<Buffer>, maxBytes: number) {
  const hash = createHash('sha256')
  let size = 0
  async function* content() {
    for await (const chunk of source) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      hash.update(chunk)
      yield chunk
    }
  }
  return { content: content(), result: () => ({ size, content_hash: hash.digest('base64url') }) }
}

const tooLarge = (maxBytes: number) =>
  new Problem('file_too_large', { detail: `The file is larger than the maximum of ${maxBytes} bytes.` })

async function discardRest(chunks: AsyncIterator<Buffer>, reply: FastifyReply) {
  for (let read = 0; read <= MAX_DISCARDED_BYTES; ) {
    const { value, done } = await chunks.next()
    if (done) return
    read += value.length
  }
  reply.header('connection', 'close')
}

/** Identifies an upload, to recognize a retry. */
export const fingerprintOfUpload = ({ fields, file: { name, mime_type, content_hash } }: ReceivedUpload) =>
  JSON.stringify([fields, name, mime_type, content_hash])
