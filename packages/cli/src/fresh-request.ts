import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { TIMEOUT_MS } from './check.ts'

interface FreshRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  /** How long to wait for the response. */
  timeoutMs?: number
  /** Stops reading here. The rest is not needed. */
  maxBytes?: number
}
export interface FreshResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/**
 * A request on a connection of its own, which a load balancer may send to any instance, with headers that `fetch` does not
 * allow. Undefined without a response.
 */
export function requestFresh(
  url: string,
  { method = 'GET', headers = {}, body, timeoutMs = TIMEOUT_MS, maxBytes = 65_536 }: FreshRequest = {},
): Promise<FreshResponse | undefined> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  return new Promise((resolve) => {
    const request = send(url, { method, headers, agent: false })
    const timer = setTimeout(() => request.destroy(), timeoutMs)
    const end = (response?: FreshResponse) => {
      clearTimeout(timer)
      resolve(response)
      request.destroy()
    }
    request.on('error', () => end())
    request.on('close', () => end())
    request.on('response', (response) => {
      let text = ''
      const finish = () => end({ status: response.statusCode ?? 0, headers: response.headers, text })
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        if (text.length >= maxBytes) finish()
      })
      response.on('end', finish)
    })
    if (body !== undefined) request.write(body)
    // With a larger Content-Length than the body, the request stays open until the response.
    if (headers['content-length'] === undefined) request.end()
  })
}

/** The code of an error response of Lockstep; undefined if the response is not from Lockstep. */
export function codeOf(response: FreshResponse | undefined): string | undefined {
  try {
    return (JSON.parse(response?.text ?? '') as { code?: string }).code
  } catch {
    return undefined
  }
}

/** Whether a URL is on this machine, where browsers accept Secure cookies without HTTPS and nobody listens. */
export const isLocal = (url: string) =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
