import { Readable } from 'node:stream'
import { create } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../platform/problem.ts'
import { isSame } from '../etag.ts'

/** A file to be sent. `content` reads the bytes from `start` up to but not including `end`, on demand. */
export interface Download {
  name: string
  mime_type: string
  size: number
  etag: string
  content: (start: number, end: number) => AsyncIterable<Buffer>
}

/** Values of Sec-Fetch-Dest that are allowed for every file; `image` only for raster images, which cannot contain scripts. */
const destinations = new Set([undefined, 'empty', 'document'])
const rasterTypes = new Set(['png', 'jpeg', 'gif', 'webp', 'avif'].map((name) => `image/${name}`))

/** Sends a file, or the requested range, always as a download. */
export function sendDownload(request: FastifyRequest, reply: FastifyReply, file: Download) {
  const { 'if-none-match': expected, 'if-range': ifRange, range = '' } = request.headers
  const { size, etag } = file
  const destination = request.headers['sec-fetch-dest']
  const isRasterImage = destination === 'image' && rasterTypes.has(mediaTypeOf(file.mime_type))
  reply.header('vary', [reply.getHeader('vary'), 'Sec-Fetch-Dest'].filter(Boolean).join(', '))
  // Checked before the ETag: after a 304 the browser would use its cached bytes.
  if (!destinations.has(destination) && !isRasterImage) throw new Problem('download_only')
  reply.header('etag', etag).header('cache-control', 'private, no-cache')
  if (expected !== undefined && isSame(expected, etag)) return reply.code(304).send()
  const part = ifRange === undefined || ifRange === etag ? parseRange(range, size) : undefined
  if (part === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`)
    throw new Problem('range_not_satisfiable')
  }
  const { start, end } = part ?? { start: 0, end: size }
  if (part) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`)
  reply
    .header('accept-ranges', 'bytes')
    .header('content-length', end - start)
    .header('content-type', file.mime_type)
    .header('content-disposition', dispositionOf(file.name))
    .header('content-security-policy', "default-src 'none'; sandbox")
  const content = request.method === 'HEAD' ? [] : file.content(start, end)
  return reply.send(Readable.from(content, { objectMode: false, highWaterMark: 1 }))
}

/** With quotes also around a name that needs none, because many clients look for them. */
const dispositionOf = (name: string) =>
  create(name).replace(/^attachment; filename=([^";]+)/, 'attachment; filename="$1"')

const mediaTypeOf = (type: string) => type.split(';')[0]?.trim().toLowerCase() ?? ''

/** Parses a single byte range. Several ranges, and other units, are ignored, as RFC 9110 allows. */
function parseRange(range: string, size: number): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  return start < end ? { start, end } : 'unsatisfiable'
}
