import type { WebhookMessage } from './messages.ts'

export type WebhookErrorCode =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'no_matching_signature'
  | 'invalid_secret'
  | 'invalid_body'

/** Why a request was not verified. Respond with 401, and handle nothing of it. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** `Headers`, or an object as in Node.js. Names in upper and lower case are the same. */
export type WebhookHeaders =
  | { get: (name: string) => string | null }
  | Record<string, string | readonly string[] | undefined>

export interface VerifyOptions {
  /** How far the time of the request may differ from the clock, so that a recorded request cannot be sent again later. */
  toleranceSeconds?: number
}

const VERSION = 'v1,'
const SECRET_PREFIX = 'whsec_'
/** Standard Webhooks asks for 24 to 64 bytes. A shorter secret is a mistake, such as an empty environment variable. */
const MIN_SECRET_BYTES = 24
const SIGNATURE_BYTES = 32

/**
 * Verifies a request of a webhook and returns its message. `body` must be the raw body, because a body that was parsed and
 * serialized again has another signature. One of several secrets is enough, for the time of a rotation. Throws a `WebhookError`.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<WebhookMessage> {
  const keys = [secrets].flat().map(keyOf)
  if (keys.length === 0) throw new WebhookError('invalid_secret', 'There is no secret.')
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new WebhookError(
      'invalid_body',
      'The body must be the raw text or bytes of the request, not a parsed object.',
    )
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature').split(' ').flatMap(signatureOf)
  checkTime(timestamp, toleranceSeconds)

  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const expected = await Promise.all(keys.map((key) => sign(key, signed)))
  if (!expected.some((one) => signatures.some((other) => isEqual(one, other))))
    throw new WebhookError(
      'no_matching_signature',
      'No signature matches: the secret is another one, or the body changed.',
    )
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookMessage
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  const text = typeof value === 'object' ? value?.join(', ') : value
  if (!text) throw new WebhookError('missing_header', `The header ${name} is missing.`)
  return text
}
const isHeaders = (headers: WebhookHeaders): headers is { get: (name: string) => string | null } =>
  typeof headers['get'] === 'function'

function checkTime(timestamp: string, toleranceSeconds: number): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('invalid_timestamp', 'The header webhook-timestamp is not a time in seconds.')
  const age = Date.now() / 1_000 - Number(timestamp)
  if (Math.abs(age) <= toleranceSeconds) return
  const [code, when] =
    age > 0 ? (['timestamp_too_old', 'ago'] as const) : (['timestamp_too_new', 'in the future'] as const)
  throw new WebhookError(code, `The request was signed more than ${toleranceSeconds} seconds ${when}. Check the clock.`)
}

function keyOf(secret: unknown): Uint8Array<ArrayBuffer> {
  const key = typeof secret === 'string' ? bytesOf(secret.replace(SECRET_PREFIX, '')) : undefined
  if (key === undefined || key.length < MIN_SECRET_BYTES)
    throw new WebhookError('invalid_secret', 'A secret is “whsec_” and at least 24 bytes in base64.')
  return key
}

/** Signatures of other versions are ignored. */
function signatureOf(text: string): Uint8Array[] {
  const bytes = text.startsWith(VERSION) ? bytesOf(text.slice(VERSION.length)) : undefined
  return bytes?.length === SIGNATURE_BYTES ? [bytes] : []
}

/** Undefined if the text is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(start.length + end.length)
  all.set(start)
  all.set(end, start.length)
  return all
}

async function sign(key: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data))
}

/** Takes the same time for all signatures, so that an attacker cannot find one byte by byte. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}
