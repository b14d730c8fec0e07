import type { Dispatch } from './connection.ts'
import type { FuzzRequest } from './requests.ts'

/** How a request is sent: correctly or not. */
export const framings = [
  'whole',
  'chunked',
  'in pieces',
  'trailers',
  'short',
  'cut',
  'both lengths',
  'bad chunk',
  'no host',
  'old',
  'bare',
  'expect',
  'continue',
  'fold',
  'long',
] as const
export type Framing = (typeof framings)[number]
/** Framings without exactly one expected response. */
export const isUnframed = (framing: Framing) =>
  !['whole', 'chunked', 'in pieces', 'trailers', 'continue'].includes(framing)

const CRLF = '\r\n'
const CHUNKED = 'Transfer-Encoding: chunked'
/** Length headers that differ from the actual length. */
const lengths: Partial<Record<Framing, (size: number) => string[]>> = {
  chunked: () => [CHUNKED],
  trailers: () => [CHUNKED],
  'bad chunk': () => [CHUNKED],
  'both lengths': (size) => [CHUNKED, `Content-Length: ${size}`],
  short: (size) => [`Content-Length: ${size + 10}`],
  long: (size) => [`Content-Length: ${Math.max(0, size - 3)}`],
}
const further: Partial<Record<Framing, string[]>> = {
  expect: ['Expect: a miracle'],
  continue: ['Expect: 100-continue'],
  fold: ['X-Fold: a', '  b'],
}

/** The request as bytes, sent as its framing says. */
export function dispatchOf({ method, target, headers, body, framing }: FuzzRequest): Dispatch {
  const size = body?.length ?? 0
  const hasLength = body !== undefined || method.startsWith('P')
  const lines = [
    `${method} ${target.replaceAll(' ', '%20')} HTTP/${framing === 'old' ? '1.0' : '1.1'}`,
    ...(framing === 'no host' ? [] : ['Host: 127.0.0.1']),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(lengths[framing]?.(size) ?? (hasLength ? [`Content-Length: ${size}`] : [])),
    ...(further[framing] ?? []),
  ]
  const head = Buffer.from([...lines, '', ''].join(framing === 'bare' ? '\n' : CRLF), 'latin1')
  return {
    pieces: piecesOf(head, body ?? Buffer.alloc(0), framing),
    isHead: method === 'HEAD',
    isEnded: framing === 'short' || framing === 'cut',
    isLast: isUnframed(framing),
  }
}

function piecesOf(head: Buffer, body: Buffer, framing: Framing): Buffer[] {
  const chunk = (bytes: Buffer) =>
    Buffer.concat([Buffer.from(bytes.length.toString(16) + CRLF), bytes, Buffer.from(CRLF)])
  const half = Math.ceil(body.length / 2)
  const chunks = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0).map(chunk)
  switch (framing) {
    case 'chunked':
      return [Buffer.concat([head, ...chunks, Buffer.from(`0${CRLF}${CRLF}`)])]
    case 'trailers':
      return [Buffer.concat([head, ...chunks, Buffer.from(`0${CRLF}Authorization: x${CRLF}X: y${CRLF}${CRLF}`)])]
    case 'bad chunk':
      return [Buffer.concat([head, ...chunks, Buffer.from(`zz${CRLF}`)])]
    case 'in pieces':
      return [
        head.subarray(0, head.length / 2),
        head.subarray(head.length / 2),
        body.subarray(0, half),
        body.subarray(half),
      ]
    case 'cut':
      return [head.subarray(0, head.length - 3)]
    default:
      return [Buffer.concat([head, body])]
  }
}
