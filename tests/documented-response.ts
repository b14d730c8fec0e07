import { gunzipSync } from 'node:zlib'
import { checkHeaders, ofTransport } from './fuzz/check-response.ts'
import type { DocumentedOperation } from './fuzz/document.ts'
import { operationAt } from './fuzz/match-document.ts'

interface ReceivedResponse {
  status: number
  headers: Record<string, unknown>
  content: Buffer
}

/** What a response has that the API document does not, and what it lacks. Nothing, if the request is for no operation. */
export function checkDocumented(
  operations: readonly DocumentedOperation[],
  request: { method: string; path: string },
  { status, headers, content }: ReceivedResponse,
): string[] {
  const operation = operationAt(operations, { method: request.method, target: request.path })
  if (!operation) return []
  const text = headers['content-encoding'] === 'gzip' ? gunzipSync(content) : content
  const isJson = String(headers['content-type']).startsWith('application/json')
  const json: unknown = isJson && text.length > 0 ? JSON.parse(text.toString()) : undefined
  const code = status >= 400 ? (json as { code?: string } | undefined)?.code : undefined
  if (code !== undefined && ofTransport.has(code)) return []
  const response = operation.responses.get(status)
  const about = (complaint: string) => `${operation.id}: ${complaint}`
  if (!response) return [about(`${status} is not documented`)]
  const complaints = checkHeaders(response, { status, headers: new Map(Object.entries(headers)) })
  if (code !== undefined && !response.codes.has(code)) complaints.push(`${status} ${code} is not documented`)
  if (json !== undefined && response.media === 'application/json') complaints.push(response.complaint(json) ?? '')
  return complaints.filter((complaint) => complaint !== '').map(about)
}
