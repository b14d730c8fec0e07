import type { OperationRow, Progress } from './options.ts'

/** An HTTP request. Its body can be sent repeatedly. */
export interface HttpRequest {
  url: string
  method: string
  headers: Record<string, string>
  body?: string | URLSearchParams | FormData
}

/** Distributes the inputs of an operation over path, query and body. */
export function buildRequest(
  name: string,
  { method, path, body: bodyType }: OperationRow,
  input: Record<string, unknown>,
): HttpRequest {
  const rest = { ...input }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest[field]
    delete rest[field]
    // An empty id would change the path to that of another resource.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} needs ${field}`)
    return encodeURIComponent(value)
  })
  const search = method === 'GET' ? toParams(rest).toString() : ''
  const request = { url: search ? `${filled}?${search}` : filled, method, headers: {} }
  if (!bodyType) return request
  if (bodyType === 'upload') return { ...request, body: toFormData(rest) }
  // The content type of a form follows from its class.
  if (bodyType === 'form') return { ...request, body: toParams(rest) }
  return { ...request, headers: { 'content-type': 'application/json' }, body: JSON.stringify(rest) }
}

/** The entries that have a value. */
export const present = <T>(fields: Record<string, T | undefined>) =>
  Object.entries(fields).filter((entry): entry is [string, T] => entry[1] != null)
const toParams = (fields: Record<string, unknown>) =>
  new URLSearchParams(present(fields).map(([field, value]) => [field, String(value)]))

/** Files come last: the service parses the form as a stream and needs the other fields first. */
function toFormData(fields: Record<string, unknown>): FormData {
  const form = new FormData()
  const isFile = (value: unknown): value is Blob => value instanceof Blob
  const sorted = present(fields).sort(([, a], [, b]) => Number(isFile(a)) - Number(isFile(b)))
  for (const [field, value] of sorted) form.append(field, isFile(value) ? value : String(value))
  return form
}

export interface SendOptions {
  fetch: typeof globalThis.fetch
  usesCookie: boolean
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Sends a request without retries. */
export async function send(request: HttpRequest, options: SendOptions): Promise<Response> {
  const { url, body, ...init } = request
  const { fetch, usesCookie, signal, onProgress } = options
  if (onProgress && body instanceof FormData && typeof XMLHttpRequest !== 'undefined')
    return sendWithXhr(request, options)
  return fetch(url, {
    ...init,
    // A bearer token must not be sent along with another user's cookie on this origin.
    credentials: usesCookie ? 'include' : 'omit',
    signal,
    // Bypass the browser cache on back navigation, where a stale response would be used without revalidation. Requests
    // with `If-None-Match` skip it completely.
    ...(init.method === 'GET' && { cache: init.headers['if-none-match'] === undefined ? 'no-cache' : 'no-store' }),
    ...(body !== undefined &&
      (onProgress && body instanceof FormData ? await streamWithProgress(request, body, onProgress) : { body })),
  })
}

const CHUNK_BYTES = 65_536

/**
 * Wraps the form in a stream that reports progress. Only for runtimes where fetch can send streams; browsers cannot
 * over HTTP/1.1.
 */
async function streamWithProgress({ headers }: HttpRequest, form: FormData, onProgress: (progress: Progress) => void) {
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  const blob = await encoded.blob()
  const totalBytes = blob.size
  let sentBytes = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await blob.slice(sentBytes, sentBytes + CHUNK_BYTES).bytes()
      if (chunk.length === 0) return controller.close()
      controller.enqueue(chunk)
      sentBytes += chunk.length
      onProgress({ sentBytes, totalBytes })
    },
  })
  return { body, duplex: 'half' as const, headers: { ...headers, 'content-type': type } }
}

/** The part of XMLHttpRequest that is used here: fetch does not report upload progress. */
interface Xhr {
  open: (method: string, url: string) => void
  setRequestHeader: (name: string, value: string) => void
  getAllResponseHeaders: () => string
  send: (body: FormData) => void
  abort: () => void
  withCredentials: boolean
  responseType: string
  readonly response: Blob
  readonly status: number
  onload: () => void
  onerror: () => void
  readonly upload: { onprogress: (event: { loaded: number; total: number }) => void }
}
declare const XMLHttpRequest: new () => Xhr

function sendWithXhr(
  { url, method, headers, body }: HttpRequest,
  { usesCookie, signal, onProgress }: SendOptions,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.open(method, url)
    xhr.withCredentials = usesCookie
    xhr.responseType = 'blob'
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
    xhr.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total })
    xhr.onerror = () => reject(new TypeError('upload'))
    xhr.onload = () => {
      const lines = xhr.getAllResponseHeaders().trim().split('\r\n')
      const pairs = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string])
      resolve(new Response(xhr.response, { status: xhr.status, headers: pairs }))
    }
    signal.addEventListener('abort', () => xhr.abort())
    xhr.send(body as FormData)
  })
}
