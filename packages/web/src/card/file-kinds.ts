import type { Attachment } from '@lockstep/client'
import { t } from './messages.ts'

export type FileKind = 'image' | 'text' | 'pdf'

/** Raster images only: an SVG that is opened as a document can run scripts in our origin. */
const images = new Set(['png', 'jpeg', 'gif', 'webp', 'avif'].map((name) => `image/${name}`))
const texts = new Set(['plain', 'markdown', 'csv', 'css', 'xml', 'x-log'].map((name) => `text/${name}`))
const MAX_TEXT_BYTES = 200_000

/** How a file can be previewed, by its MIME type. All other types, especially HTML, can only be downloaded. */
export function kindOf({ mime_type, size }: Pick<Attachment, 'mime_type' | 'size'>): FileKind | undefined {
  const type = mime_type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (images.has(type)) return 'image'
  if (type === 'application/pdf') return 'pdf'
  if ((texts.has(type) || type === 'application/json') && size <= MAX_TEXT_BYTES) return 'text'
  return undefined
}

/** Sets the MIME type of the blob to the previewed kind, so that the browser does not sniff or trust the stored type. */
export function asKind(blob: Blob, kind: FileKind, mime_type: string): Blob {
  const types = {
    image: mime_type.split(';')[0]?.trim().toLowerCase() ?? '',
    pdf: 'application/pdf',
    text: 'text/plain',
  }
  return new Blob([blob], { type: types[kind] })
}

/** Replaces control and bidirectional characters, which can hide a file extension. */
export const shownName = (name: string): string =>
  name.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')

export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return t.bytes({ count: bytes })
  const [value, message] = bytes < 999_500 ? [bytes / 1_000, t.kilobytes] : [bytes / 1_000_000, t.megabytes]
  return message({ size: value < 10 ? value.toFixed(1) : String(Math.round(value)) })
}
