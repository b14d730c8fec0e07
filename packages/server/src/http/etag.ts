import { hash } from 'node:crypto'

/** Names exactly this text. */
export const etagOf = (text: string | Buffer) => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`

/** Whether a header that lists entity tags names this one, or anything at all. A weak tag is as good as a strong one. */
export const isSame = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
