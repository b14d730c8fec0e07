import { hash, webcrypto } from 'node:crypto'

/** Strong ETag of a response body. */
export const etagOf = (text: string) => tagOf(hash('sha256', text, 'base64url'))

/** Longer texts are hashed in the thread pool: a megabyte blocks the event loop for about 5 ms. */
const LARGE_BYTES = 65_536

/** The ETag of a text, and the text as it is sent: a large one is encoded once, for the hash and for the connection. */
export async function encodeWithEtag(text: string): Promise<{ content: string | Buffer; etag: string }> {
  if (text.length < LARGE_BYTES) return { content: text, etag: etagOf(text) }
  const content = Buffer.from(text)
  const digest = await webcrypto.subtle.digest('SHA-256', content)
  return { content, etag: tagOf(Buffer.from(digest).toString('base64url')) }
}

const tagOf = (digest: string) => `"${digest.slice(0, 27)}"`

/** Whether an If-Match or If-None-Match header matches the ETag. Weak tags are compared like strong ones. */
export const isSame = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
