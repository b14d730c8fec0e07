import type { Operation } from '@lockstep/contract/operation'
import type { FastifyInstance, FastifyRequest, preParsingHookHandler, preValidationAsyncHookHandler } from 'fastify'
import type { TSchema } from 'typebox'
import type { Clock } from '../platform/clock.ts'
import { Problem } from '../platform/problem.ts'
import { slotOf } from './admission.ts'
import { hasBody } from './unread-body.ts'
import { invalid } from './validation.ts'

/** Receives every body as bytes. It is parsed later, after the caller is authorized. */
export function parseBodiesAsBuffers(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** Leaves bodies unread, for handlers that stream them. */
export function leaveBodiesUnparsed(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
}

const BODY_MS = 30_000

/**
 * Hooks with a timeout for the body of a request, during which the request holds no concurrency slot. (Node's own timeout is
 * that of uploads, which may take long.)
 */
export function bodyTimeout(clock: Clock, charge: (request: FastifyRequest, bytes: number) => void) {
  const stop = (request: RequestWithTimer) => request[CANCEL]?.()
  const preParsing: preParsingHookHandler = (request: RequestWithTimer, reply, payload, done) => {
    if (!hasBody(request)) return done(null, payload)
    // The client disconnected during authorization: no `close` event would release the claim.
    if (reply.raw.destroyed) return done(new Problem('request_incomplete'))
    const onTimeout = () => {
      // Already rejected; the client is slow to read the response.
      if (reply.sent) return
      reply.header('connection', 'close')
      // Handled by the framework like any other error of the stream.
      request.raw.emit('error', new Problem('request_timeout'))
    }
    request[CANCEL] = clock.after(BODY_MS, onTimeout)
    slotOf(request)?.release()
    reply.raw.once('close', () => stop(request))
    done(null, payload)
  }
  const preValidation: preValidationAsyncHookHandler = async (request: RequestWithTimer) => {
    stop(request)
    if (!hasBody(request)) return
    // Parsing and validating a large body blocks the event loop, also when it is rejected.
    charge(request, (request.body as Buffer | undefined)?.length ?? 0)
    await slotOf(request)?.enter()
  }
  return { preParsing, preValidation }
}

const CANCEL = Symbol('cancel')
type RequestWithTimer = FastifyRequest & { [CANCEL]?: () => void }
export const MAX_BODY_BYTES = 1_048_576
/** The limit of public operations, and of operations without a body. Includes space for unknown fields, which are ignored. */
const SMALL_BODY_BYTES = 16_384

/** The body limit of an operation: its longest texts with every character escaped, plus `SMALL_BODY_BYTES`. */
export function bodyLimitOf({ access, body }: Operation): number {
  if (!body || access === 'public') return SMALL_BODY_BYTES
  return Math.min(MAX_BODY_BYTES, SMALL_BODY_BYTES + longestJson(body))
}

interface Bounds {
  type?: string
  maxLength?: number
  maxItems?: number
  items?: TSchema
  properties?: Record<string, TSchema>
  anyOf?: TSchema[]
}
/** A character written as two escaped surrogates. */
const ESCAPED_CHARACTER = 12
function longestJson(schema: TSchema): number {
  const { type, maxLength, maxItems, items, properties, anyOf } = schema as Bounds
  if (anyOf) return Math.max(...anyOf.map(longestJson))
  if (properties) return Object.values(properties).reduce<number>((sum, field) => sum + longestJson(field), 0)
  if (items) return longestJson(items) * (maxItems ?? Number.POSITIVE_INFINITY)
  if (type === 'string' && maxLength !== undefined) return maxLength * ESCAPED_CHARACTER
  // Numbers, flags, enums and UUIDs.
  return 64
}

/** Parses a body of the given type. An absent one is `{}` unless it is required. Throws 422 if it cannot be read. */
export function readBody(request: FastifyRequest, type: 'json' | 'form', isRequired: boolean): unknown {
  const { 'content-type': declared = '', 'content-encoding': encoding = 'identity' } = request.headers
  const bytes = request.body as Buffer | undefined
  if (bytes === undefined || bytes.length === 0) {
    if (isRequired) throw invalidBody('is required')
    return {}
  }
  if (encoding !== 'identity') throw invalidBody('must not be compressed')
  if (!accepted[type].test(declared)) throw invalidBody(`must be sent as ${mediaType[type]} in UTF-8`)
  const text = decode(bytes)
  return type === 'json' ? parseJson(text) : parseForm(text)
}

const mediaType = { json: 'application/json', form: 'application/x-www-form-urlencoded' }
const accepted = {
  json: /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
  form: /^application\/x-www-form-urlencoded\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
}
const invalidBody = (message: string) => invalid([{ field: 'body', message }])

const utf8 = new TextDecoder('utf-8', { fatal: true })
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalidBody('must be valid UTF-8')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidBody('must be valid JSON')
  }
}

/** A repeated field becomes a list, which the schema then rejects. */
function parseForm(text: string): Record<string, unknown> {
  const fields = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name)
    if (known === undefined) fields.set(name, value)
    else if (Array.isArray(known)) known.push(value)
    else fields.set(name, [known, value])
  }
  return Object.fromEntries(fields)
}
