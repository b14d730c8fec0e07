import type { OperationRow, Progress } from './options.ts'

/** A request as it goes out. Its body can be sent any number of times. */
export interface Sending {
  url: string
  method: string
  headers: Record<string, string>
  body?: string | FormData
}

/** Divides the inputs of an operation between path, query and body. */
export function sendingOf(
  name: string,
  { method, path, query = [], body: body_type }: OperationRow,
  input: Record<string, unknown>,
): Sending {
  const rest = { ...input }
  const take = (field: string) => {
    const value = rest[field]
    delete rest[field]
    return value
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = take(field)
    // An empty id would make it the address of something else.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} needs ${field}`)
    return encodeURIComponent(value)
  })
  const search = textOf(query.map((field) => [field, take(field)]))
  const sending = { url: search ? `${filled}?${search}` : filled, method, headers: {} }
  if (!body_type) return sending
  if (body_type === 'upload') return { ...sending, body: formOf(rest) }
  const isForm = body_type === 'form'
  return {
    ...sending,
    headers: { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' },
    body: isForm ? textOf(Object.entries(rest)) : JSON.stringify(rest),
  }
}

const given = (fields: [string, unknown][]) => fields.filter(([, value]) => value !== undefined && value !== null)
const textOf = (fields: [string, unknown][]) =>
  new URLSearchParams(given(fields).map(([field, value]) => [field, String(value)])).toString()

/** The service reads a form as it comes, so what is said about a file stands before it. */
function formOf(fields: Record<string, unknown>): FormData {
  const form = new FormData()
  const isFile = (value: unknown): value is Blob => value instanceof Blob
  const sorted = given(Object.entries(fields)).sort(([, a], [, b]) => Number(isFile(a)) - Number(isFile(b)))
  for (const [field, value] of sorted) form.append(field, isFile(value) ? value : String(value))
  return form
}

export interface Way {
  fetch: typeof globalThis.fetch
  has_cookie: boolean
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
}

/** Sends a request once. */
export async function send(sending: Sending, way: Way): Promise<Response> {
  const { url, body, ...init } = sending
  const { fetch, has_cookie, signal, onProgress } = way
  if (onProgress && body instanceof FormData && typeof XMLHttpRequest !== 'undefined') return sendByXhr(sending, way)
  return fetch(url, {
    ...init,
    // A token must not meet a cookie of somebody else who logged in on this origin.
    credentials: has_cookie ? 'include' : 'omit',
    signal,
    // A browser that goes back in its history answers from its cache, however old that is, unless it is told to ask. A
    // condition of the caller's own is between the two of them.
    ...(init.method === 'GET' && { cache: init.headers['if-none-match'] === undefined ? 'no-cache' : 'no-store' }),
    ...(body !== undefined &&
      (onProgress && body instanceof FormData ? await counted(sending, body, onProgress) : { body })),
  })
}

const CHUNK_BYTES = 65_536

/** A body that says how much of it was taken. Only where fetch can send streams, which browsers cannot over HTTP/1.1. */
async function counted({ headers }: Sending, form: FormData, onProgress: (progress: Progress) => void) {
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  const blob = await encoded.blob()
  const total_bytes = blob.size
  let sent_bytes = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = new Uint8Array(await blob.slice(sent_bytes, sent_bytes + CHUNK_BYTES).arrayBuffer())
      if (chunk.byteLength === 0) return controller.close()
      controller.enqueue(chunk)
      sent_bytes += chunk.byteLength
      onProgress({ sent_bytes, total_bytes })
    },
  })
  return { body, duplex: 'half' as const, headers: { ...headers, 'content-type': type } }
}

/** The part of a browser's XMLHttpRequest that is used: fetch cannot tell how much of an upload is on its way. */
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

function sendByXhr(
  { url, method, headers, body }: Sending,
  { has_cookie, signal, onProgress }: Way,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.open(method, url)
    xhr.withCredentials = has_cookie
    xhr.responseType = 'blob'
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
    xhr.upload.onprogress = ({ loaded, total }) => onProgress?.({ sent_bytes: loaded, total_bytes: total })
    xhr.onerror = () => reject(new TypeError('The upload failed.'))
    xhr.onload = () => {
      const lines = xhr.getAllResponseHeaders().trim().split('\r\n')
      const pairs = lines.map((line): [string, string] => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon), line.slice(colon + 1).trim()]
      })
      resolve(new Response(xhr.response, { status: xhr.status, headers: pairs }))
    }
    signal.addEventListener('abort', () => xhr.abort())
    xhr.send(body as FormData)
  })
}
