import { undocumentedHeaders } from '@lockstep/contract/headers'
import type { Outcome, Reply } from './connection.ts'
import type { DocumentedOperation, DocumentedResponse } from './document.ts'
import { isUnframed } from './framing.ts'
import { mismatchOf, operationAt, pathOf } from './match-document.ts'
import type { FuzzRequest } from './requests.ts'
import { CANARY } from './values.ts'

/** The result of checking a response. */
export interface ResponseCheck {
  /** One sentence for each violation. */
  violations: string[]
  /** The status with the problem code, or what happened without a response. */
  outcome: string
  json: Record<string, unknown> | undefined
}

/** Problems of HTTP itself, which any address can return. */
export const ofTransport = new Set([
  'malformed_request',
  'headers_too_large',
  'uri_too_long',
  'expectation_failed',
  'request_incomplete',
  'request_timeout',
])
/** Signs of internal details. */
const INSIDES = /\.ts:\d|node_modules|\bat \w+ \(|\bselect \w|\binsert into\b|relation "|violates|ECONN|postgres/i
/** Operations that may reject a body that is valid by its schema: rules across fields, and configured rules. */
const HAS_FURTHER_RULES = new Set(['createRule', 'updateRule', 'register', 'changePassword'])

/** Checks a response against the published document. A mutated request may reach any operation. */
export function checkResponse(
  request: FuzzRequest,
  outcome: Outcome,
  operations: readonly DocumentedOperation[] = [request.operation],
): ResponseCheck {
  if (typeof outcome === 'string') {
    const isExcused = outcome === 'closed' && isUnframed(request.framing)
    return { violations: isExcused ? [] : [`there was no response: ${outcome}`], outcome: outcome, json: undefined }
  }
  const { status } = outcome
  const json = jsonOf(outcome) as Record<string, unknown> | undefined
  const code = typeof json?.['code'] === 'string' && status >= 400 ? json['code'] : ''
  const complaints =
    status < 400
      ? checkSuccess(request, outcome, json, operationAt(operations, request))
      : checkProblem(request, outcome, json, code)
  return {
    violations: complaints,
    outcome: code ? `${status} ${code}` : String(status),
    json,
  }
}

function jsonOf({ headers, bytes }: Reply): unknown {
  if (!headers.get('content-type')?.startsWith('application/json') || bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

const isAsDocumented = ({ mutations, framing }: FuzzRequest) =>
  !mutations.has('path') && !mutations.has('method') && !isUnframed(framing)

/** A success must belong to a documented operation and a valid request. */
function checkSuccess(
  request: FuzzRequest,
  reply: Reply,
  json: unknown,
  operation: DocumentedOperation | undefined,
): string[] {
  const { method, mutations, framing } = request
  const { status, bytes } = reply
  if (!operation) return isBeside(request, status) ? [] : [`${status} is of no operation of the document`]
  if (mutations.has('credentials') && operation.needsCredential) return [`a bad credential was accepted with ${status}`]
  if (isUnframed(framing)) return []
  const response = operation.responses.get(status)
  if (!response) return [`${status} is not documented`]
  const complaints = checkHeaders(response, reply)
  if (response.media === undefined && bytes.length > 0) complaints.push(`${status} has a body`)
  if (response.media === 'application/json' && method !== 'HEAD') complaints.push(...checkBody(response, json))
  const misfit = mismatchOf(operation, request)
  if (misfit) complaints.push(`a ${misfit} that does not fit the document was accepted with ${status}`)
  return complaints
}

/** Successes without an operation: preflight requests, and the redirect of the root, which `*` counts as. */
const isBeside = ({ method, target }: FuzzRequest, status: number) =>
  method === 'OPTIONS' ? status === 204 : status === 302 && ['', '*'].includes(pathOf(target))

/** Required headers that are missing, and headers that are not documented. */
export function checkHeaders(
  response: DocumentedResponse,
  { status, headers }: { status: number; headers: ReadonlyMap<string, unknown> },
): string[] {
  const missing = [...response.headers].filter(([name, isRequired]) => isRequired && !headers.has(name))
  const unknown = [...headers.keys()].filter((name) => !response.headers.has(name) && !undocumentedHeaders.has(name))
  return [
    ...missing.map(([name]) => `${status} has no ${name}`),
    ...unknown.map((name) => `${status} has ${name}, which is not documented`),
  ]
}

function checkBody(response: DocumentedResponse, json: unknown): string[] {
  if (json === undefined) return ['the body is no JSON']
  const complaint = response.complaint(json)
  return complaint === undefined ? [] : [complaint]
}

function checkProblem(
  request: FuzzRequest,
  reply: Reply,
  json: Record<string, unknown> | undefined,
  code: string,
): string[] {
  const { operation, method, mutations } = request
  const { status, headers, bytes } = reply
  const complaints: string[] = []
  if (status >= 500 && status !== 503) complaints.push(`${status}: a defect`)
  if (status === 503 && !(Number(headers.get('retry-after')) > 0)) complaints.push('503 without Retry-After')
  if (status === 401 && headers.get('www-authenticate') !== 'Bearer') complaints.push('401 without WWW-Authenticate')
  if (method === 'HEAD') return complaints
  if (json === undefined) return [...complaints, `${status} is no JSON`]
  if (typeof json['detail'] !== 'string') complaints.push(`${status} has no string detail`)
  if (code === '') complaints.push(`${status} has no code`)
  const text = bytes.toString()
  if (status !== 412 && text.includes(CANARY)) complaints.push(`${status} repeats what was sent`)
  if (INSIDES.test(text)) complaints.push(`${status} tells of our insides`)
  if (ofTransport.has(code) || !isAsDocumented(request)) return complaints
  const response = operation.responses.get(status)
  if (!response?.codes.has(code)) return [...complaints, `${status} ${code} is not documented`]
  complaints.push(...checkBody(response, json), ...checkHeaders(response, reply))
  if (code === 'invalid_input' && mutations.size === 0 && !HAS_FURTHER_RULES.has(operation.id))
    complaints.push('a request that follows the document was rejected as invalid')
  return complaints
}
