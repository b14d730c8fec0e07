import { hash, webcrypto } from 'node:crypto'

/** Strong ETag of a response body. */
export const etagOf = (text: string) => tagOf(hash('sha256', text, 'base64url'))

/** The same of a large body, in the thread pool: hashing a megabyte blocks the event loop for about 5 ms. */
export async function etagOfLarge(content: Buffer<ArrayBuffer>): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', content)
  return tagOf(Buffer.from(digest).toString('base64url'))
}

const tagOf = (digest: string) => `"${digest.slice(0, 27)}"`

/** Whether an If-Match or If-None-Match header matches the ETag. Weak tags are compared like strong ones. */
export const isSame = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
