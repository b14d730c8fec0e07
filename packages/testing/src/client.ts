import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { operations } from '@lockstep/contract'
import { headersOf, undocumentedHeaders } from '@lockstep/contract/headers'
import { problemsOf } from '@lockstep/contract/openapi'
import { type Body, Bytes, type Operation, type Params, type Query, type Returns } from '@lockstep/contract/operation'
import { problems } from '@lockstep/contract/problems'
import { checkClosed } from './closed-schema.ts'
import { OUTPUT } from './template-database.ts'

export type Operations = typeof operations
export type OperationName = keyof Operations

export interface ApiResponse<T = unknown> {
  status: number
  headers: Headers
  /** The parsed JSON, or undefined without a body. */
  body: T
  text: string
  bytes: Buffer
}
export interface Failure {
  detail: string
  code: keyof typeof problems
  errors?: { field: string; message: string }[]
}
/** The status, and the code of a problem. */
export const codeOf = ({ status, body }: Pick<ApiResponse, 'status' | 'body'>) =>
  status < 400 ? String(status) : `${status} ${(body as Failure).code}`

export interface Sending {
  json?: unknown
  /** The body as it is, with its content type. */
  raw?: { type?: string; content: string | Buffer | FormData }
  headers?: Record<string, string>
}
export type Inputs<O extends Operation> = (keyof Params<O> extends never
  ? { params?: undefined }
  : { params: Params<O> }) &
  (Body<O> extends undefined ? { body?: undefined } : { body: Body<O> }) & {
    query?: Query<O>
    headers?: Record<string, string>
  }

/** An HTTP client of the service, with or without a token. It validates every response against the contract. */
export class Client {
  readonly baseUrl: string
  token: string | undefined

  constructor(baseUrl: string, token?: string) {
    this.baseUrl = baseUrl
    this.token = token
  }

  /** Sends any request. */
  async request(method: string, path: string, { json, raw, headers = {} }: Sending = {}): Promise<ApiResponse> {
    const content = raw?.content ?? (json === undefined ? undefined : JSON.stringify(json))
    const type = raw ? raw.type : json === undefined ? undefined : 'application/json'
    const received = await fetch(this.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...(type && { 'content-type': type }),
        ...headers,
      },
      ...(content !== undefined && { body: content as never }),
    })
    const bytes = Buffer.from(await received.arrayBuffer())
    const text = bytes.toString()
    const isJson = received.headers.get('content-type')?.startsWith('application/json') ?? false
    const response = {
      status: received.status,
      headers: received.headers,
      body: isJson ? JSON.parse(text) : undefined,
      text,
      bytes,
    }
    record(method, path, response)
    checkAgainstContract(method, path, response)
    return response
  }

  /** Calls an operation and expects it to succeed. */
  async call<N extends OperationName>(name: N, inputs: Inputs<Operations[N]>): Promise<Returns<Operations[N]>> {
    const response = await this.send(name, inputs)
    assert.equal(response.status, operations[name].returns.status, `${name}: ${response.text}`)
    return response.body as Returns<Operations[N]>
  }

  /** Calls an operation and returns the response, whatever its status. */
  send<N extends OperationName>(name: N, inputs: Inputs<Operations[N]>): Promise<ApiResponse> {
    const { method, path, body_type } = operations[name] as Operation
    const {
      params = {},
      query,
      body,
      headers,
    } = inputs as {
      params?: Record<string, string>
      query?: Record<string, string>
      body?: unknown
      headers?: Record<string, string>
    }
    const url = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] as string))
    const search = query
      ? `?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)])).toString()}`
      : ''
    return this.request(method, url + search, { ...sendingOf(body_type, body), ...(headers && { headers }) })
  }

  /** Calls an operation and expects it to fail with a problem. */
  async fail<N extends OperationName>(
    name: N,
    inputs: Inputs<Operations[N]>,
  ): Promise<{ status: number; code: string; detail: string }> {
    const { status, body, text } = await this.send(name, inputs)
    assert.ok(status >= 400, `${name} should have failed: ${status} ${text}`)
    const { code, detail } = body as Failure
    return { status, code, detail }
  }
}

/** A body as its operation wants it written. */
export function sendingOf(body_type: Operation['body_type'], body: unknown): Sending {
  if (body === undefined) return {}
  if (body_type === 'form') return { raw: form(body as Record<string, string>) }
  if (body_type !== 'upload') return { json: body }
  const { file, ...fields } = body as { file: Blob | string } & Record<string, string | number | boolean | null>
  const content = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== null) content.append(name, String(value))
  content.append('file', typeof file === 'string' ? new File([file], 'note.txt', { type: 'text/plain' }) : file)
  return { raw: { content } }
}

export const form = (fields: Record<string, string>) => ({
  type: 'application/x-www-form-urlencoded',
  content: new URLSearchParams(fields).toString(),
})

const known = Object.entries(operations).map(([name, operation]) => ({
  name,
  operation: operation as Operation,
  form: new RegExp(`^(?:/api)?${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}))
export const operationAt = (method: string, path: string) =>
  known.find(({ operation, form: f }) => operation.method === method && f.test(path.split('?')[0] as string))

function checkAgainstContract(method: string, path: string, { status, body, text, headers }: ApiResponse) {
  const where = `${method} ${path.split('?')[0]} → ${status}`
  if (status >= 400 && method !== 'HEAD') {
    const { detail, code } = (body ?? {}) as Partial<Failure>
    assert.equal(typeof detail, 'string', `${where} has no detail: ${text}`)
    assert.equal(problems[code as Failure['code']]?.status, status, `${where} has no known code: ${text}`)
    if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer', where)
    if (status === 429 || status === 503)
      assert.ok(Number(headers.get('retry-after')) > 0, `${where} has no Retry-After`)
  }
  const found = operationAt(method, path)
  if (!found) return
  const { operation } = found
  if (status < 400) {
    const isPart = operation.returns.schema === Bytes && status === 206
    const isKnown = method === 'GET' && status === 304
    if (!isPart && !isKnown) assert.equal(status, operation.returns.status, where)
    if (operation.returns.schema === Bytes) assert.match(headers.get('etag') ?? '', /^"[^"]+"$/, where)
    else if (status === 204 || isKnown) assert.equal(text, '', where)
    else checkClosed(operation.returns.schema, body, where)
    if (operation.emits) assert.match(headers.get('board-position') ?? '', /^\d+\.\d+$/, where)
  } else {
    const { code } = body as Failure
    if (ofTransport.includes(code)) return
    assert.ok(problemsOf(operation).includes(code), `${where} returns ${code}, which the contract does not list`)
  }
  assert.deepEqual(headerComplaints(operation, status, headers), [], where)
}
/** Problems of HTTP itself, which any path can return. */
const ofTransport: string[] = ['malformed_request', 'headers_too_large', 'uri_too_long']

/** Headers that a proxy in front of the service adds. */
const ofProxies = ['alt-svc', 'server', 'via']

/** Headers that the contract does not list for the response, and those that it lacks. */
export function headerComplaints(operation: Operation, status: number, headers: Headers): string[] {
  const declared = [...headersOf(operation, status)].map(([name, presence]) => [name.toLowerCase(), presence] as const)
  const known = new Set([...undocumentedHeaders, ...ofProxies, ...declared.map(([name]) => name)])
  return [
    ...[...headers.keys()].filter((name) => !known.has(name)).map((name) => `${name} is not in the contract`),
    ...declared
      .filter(([name, presence]) => presence === 'always' && !headers.has(name))
      .map(([name]) => `${name} is missing`),
  ]
}

/** Records every response for the scan for secrets, except the fields that contain a token. */
function record(method: string, path: string, { status, headers, text }: ApiResponse) {
  const shown = text.replace(/"(access_token|ticket|link|token)":"[^"]*"/, '"$1":"(left out)"')
  const head = [...headers].filter(([name]) => name !== 'set-cookie')
  appendFileSync(
    new URL(`responses-${process.pid}.txt`, OUTPUT),
    `${method} ${path.split('?')[0]} ${status} ${JSON.stringify(head)} ${shown}\n`,
  )
}
