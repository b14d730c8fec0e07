import { hash } from 'node:crypto'

/** Strong ETag of a response body. */
export const etagOf = (text: string | Buffer) => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`

/** Whether an If-Match or If-None-Match header matches the ETag. Weak tags are compared like strong ones. */
export const isSame = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
