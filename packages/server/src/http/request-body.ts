import type { Operation } from '@lockstep/contract/operation'
import type { FastifyInstance, FastifyRequest, preParsingHookHandler, preValidationHookHandler } from 'fastify'
import type { TSchema } from 'typebox'
import { networkOf } from '../platform/client-address.ts'
import type { FairShare } from '../platform/fair-share.ts'
import { Problem } from '../platform/problem.ts'
import { slotOf } from './edge/admission-middleware.ts'
import { hasBody } from './edge/unread-body.ts'
import { invalid } from './validation.ts'

/** Leaves every body as bytes: it is read only after it is known that the caller may do what he asks. */
export function parseBodiesAsBuffers(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** Leaves every body unread: whoever handles the request takes it as it comes. */
export function leaveBodiesUnparsed(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/**
 * Hooks that let a body which is read as a whole arrive soon or not at all, and lend its place to others until then. (Node's
 * own limit is the one of uploads, which may take long.) `unauthenticated` bounds how many bodies of public operations are
 * awaited at once, by address: without it they could take the room of everybody.
 */
export function bodyTimeout(seconds: number, unauthenticated?: FairShare) {
  const stop = (request: Timed) => {
    clearTimeout(request[TIMER])
    request[STOP]?.()
  }
  const preParsing: preParsingHookHandler = (request: Timed, reply, payload, done) => {
    if (!hasBody(request)) return done(null, payload)
    // The client hung up while the credential was checked: nobody would release what is claimed for its body.
    if (reply.raw.destroyed) return done(new Problem('request_incomplete'))
    if (unauthenticated) {
      request[STOP] = unauthenticated.claim(networkOf(request.ip))
      if (!request[STOP]) return done(new Problem('overloaded'))
    }
    const giveUp = () => {
      // Refused already, and on its way to somebody who does not read: nobody listens any more.
      if (reply.sent) return
      reply.header('connection', 'close')
      // Whoever reads the body is told, as of any other error of it.
      request.raw.emit('error', new Problem('request_timeout'))
    }
    request[TIMER] = setTimeout(giveUp, seconds * 1_000)
    slotOf(request)?.release()
    reply.raw.once('close', () => stop(request))
    done(null, payload)
  }
  const preValidation: preValidationHookHandler = (request: Timed, _reply, done) => {
    stop(request)
    slotOf(request)?.reacquire()
    done()
  }
  return { preParsing, preValidation }
}

const TIMER = Symbol('timer of the body')
const STOP = Symbol('stops waiting for a body')
type Timed = FastifyRequest & { [TIMER]?: NodeJS.Timeout; [STOP]?: (() => void) | undefined }
export const MAX_BODY_BYTES = 1_048_576
/** For operations that anybody may call, or that take no body. Unknown fields are ignored, and need some room too. */
const SMALL_BODY_BYTES = 16_384

/** The largest body of an operation: what its longest texts need when every character is escaped, and a little more. */
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
/** As many bytes as a character takes when it is written as two escaped surrogates. */
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

/** The fields of a body of the type that its operation takes. Whatever cannot be read is a 422. */
export function readBody(request: FastifyRequest, type: 'json' | 'form'): unknown {
  const { 'content-type': declared = '', 'content-encoding': encoding = 'identity' } = request.headers
  const bytes = request.body as Buffer | undefined
  if (bytes === undefined || bytes.length === 0) throw refused('is required')
  if (encoding !== 'identity') throw refused('must not be compressed')
  if (!accepted[type].test(declared)) throw refused(`must be sent as ${mediaType[type]} in UTF-8`)
  const text = decode(bytes)
  return type === 'json' ? parseJson(text) : parseForm(text)
}

const mediaType = { json: 'application/json', form: 'application/x-www-form-urlencoded' }
const accepted = {
  json: /^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
  form: /^application\/x-www-form-urlencoded\s*(?:;\s*charset="?utf-8"?\s*)?$/i,
}
const refused = (message: string) => invalid([{ field: 'body', message }])

const utf8 = new TextDecoder('utf-8', { fatal: true })
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refused('must be valid UTF-8')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('must be valid JSON')
  }
}

/** A field that stands twice becomes a list, and no schema takes a list for a string. */
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
