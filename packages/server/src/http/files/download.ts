import { Readable } from 'node:stream'
import { create } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../platform/problem.ts'
import { isSame } from '../etag.ts'

/** A file to be sent. `content` fetches the bytes from `start` up to and without `end`, as they are asked for. */
export interface Download {
  name: string
  mime_type: string
  size: number
  etag: string
  content: (start: number, end: number) => AsyncIterable<Buffer>
}

/** What a browser may want a file for: to save it, to read its bytes, and to show it, if it is a picture that can hold no script. */
const destinations = new Set([undefined, 'empty', 'document'])
const rasterTypes = new Set(['png', 'jpeg', 'gif', 'webp', 'avif'].map((name) => `image/${name}`))

/** Sends a file, or the part of it that was asked for. Whatever it is, a browser must save it and never show it. */
export function sendDownload(request: FastifyRequest, reply: FastifyReply, file: Download) {
  const { 'if-none-match': known, 'if-range': base, range = '' } = request.headers
  const { size, etag } = file
  const destination = request.headers['sec-fetch-dest']
  const isPicture = destination === 'image' && rasterTypes.has(mediaType(file.mime_type))
  reply.header('vary', [reply.getHeader('vary'), 'Sec-Fetch-Dest'].filter(Boolean).join(', '))
  // Before the ETag is compared: a 304 would hand out the bytes that the browser has kept.
  if (!destinations.has(destination) && !isPicture) throw new Problem('download_only')
  reply.header('etag', etag).header('cache-control', 'private, no-cache')
  if (known !== undefined && isSame(known, etag)) return reply.code(304).send()
  const part = base === undefined || base === etag ? readRange(range, size) : undefined
  if (part === 'nowhere') {
    reply.header('content-range', `bytes */${size}`)
    throw new Problem('range_not_satisfiable')
  }
  const { start, end } = part ?? { start: 0, end: size }
  if (part) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`)
  reply
    .header('accept-ranges', 'bytes')
    .header('content-length', end - start)
    .header('content-type', file.mime_type)
    .header('content-disposition', create(file.name))
    .header('content-security-policy', "default-src 'none'; sandbox")
  const content = request.method === 'HEAD' ? [] : file.content(start, end)
  return reply.send(Readable.from(content, { objectMode: false, highWaterMark: 1 }))
}

const mediaType = (type: string) => type.split(';')[0]?.trim().toLowerCase() ?? ''

/** One range of bytes. Several at once, and what is no range of bytes, may be ignored, and is. */
function readRange(range: string, size: number): { start: number; end: number } | 'nowhere' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  return start < end ? { start, end } : 'nowhere'
}
