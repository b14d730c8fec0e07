import assert from 'node:assert/strict'
import { operations } from '@lockstep/contract'
import { isFile } from '@lockstep/contract/headers'
import type { Operation, Returns } from '@lockstep/contract/operation'
import type { ApiResponse, Client, Inputs, OperationName, Operations } from '@lockstep/testing/client'
import type { Message } from '@lockstep/testing/socket'
import { normalizer } from './normalize.ts'

interface Example {
  request?: unknown
  responses: Record<string, unknown>
}

/** Calls operations, and keeps the first request and response of each as an example, and every header that was seen. */
export class Recorder {
  readonly examples: Record<string, Example> = {}
  readonly messages: Record<string, unknown> = {}
  /** Seen headers, as `<operation> <status> <header>`. */
  readonly seen = new Set<string>()
  private readonly normalize = normalizer()
  private keys = 0

  /** Calls an operation as it is usually called, then in the ways that add other headers: again, and for one page. */
  async call<N extends OperationName>(
    api: Client,
    name: N,
    inputs: Inputs<Operations[N]>,
  ): Promise<Returns<Operations[N]>> {
    const operation: Operation = operations[name]
    const headers = operation.emits && { 'idempotency-key': `example-${++this.keys}` }
    const response = await this.send(api, name, { ...inputs, ...(headers && { headers }) } as Inputs<Operations[N]>)
    assert.equal(response.status, operation.returns.status, `${name}: ${response.text}`)
    if (headers) await this.send(api, name, { ...inputs, headers } as Inputs<Operations[N]>)
    const etag = operation.method === 'GET' && response.headers.get('etag')
    if (etag) await this.send(api, name, { ...inputs, headers: { 'if-none-match': etag } } as Inputs<Operations[N]>)
    if (operation.query && 'limit' in operation.query.properties)
      await this.page(api, name, inputs as Inputs<Operations[N]> & { query?: object })
    return response.body as Returns<Operations[N]>
  }

  /** Sends one request. */
  async send<N extends OperationName>(api: Client, name: N, inputs: Inputs<Operations[N]>): Promise<ApiResponse> {
    const response = await api.send(name, inputs)
    for (const header of response.headers.keys()) this.seen.add(`${name} ${response.status} ${header}`)
    if (response.status < 300) this.keep(name, (inputs as { body?: unknown }).body, response)
    return response
  }

  message(message: Message) {
    this.messages[message.type] ??= this.normalize(message)
  }

  private async page<N extends OperationName>(
    api: Client,
    name: N,
    inputs: Inputs<Operations[N]> & { query?: object },
  ) {
    const first = { ...inputs, query: { ...inputs.query, limit: 1 } } as Inputs<Operations[N]>
    const { headers } = await this.send(api, name, first)
    const etag = headers.get('etag') ?? ''
    await this.send(api, name, { ...first, headers: { 'if-none-match': etag } } as Inputs<Operations[N]>)
  }

  private keep(name: OperationName, body: unknown, { status, body: result, text }: ApiResponse) {
    const operation: Operation = operations[name]
    this.examples[name] ??= { responses: {} }
    const example = this.examples[name]
    if (body !== undefined) example.request ??= this.normalize(body)
    if (status !== 204) example.responses[status] ??= this.normalize(isFile(operation) ? text : result)
  }
}
