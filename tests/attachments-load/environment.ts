import { createCipheriv, createHash } from 'node:crypto'
import { Client } from '@lockstep/testing/client'
import type { Audience, ProbedService } from '@lockstep/testing/load/environment'
import { HttpClient } from '@lockstep/testing/load/http-client'
import type pg from 'pg'

export const MAX_FILE_BYTES = 10 * 2 ** 20
const BOUNDARY = 'a-boundary-between-parts'

/** Seeded pseudo-random bytes, as a source of file contents. */
export function seededBytes(seed: number, size = MAX_FILE_BYTES + 2 ** 20): Buffer {
  const key = createHash('sha256').update(String(seed)).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
}

export const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** A form with one file. Its content is not copied. */
export const formOf = (content: Buffer): [Buffer, Buffer, Buffer] => [
  Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="file.bin"\r\nContent-Type: application/x-test\r\n\r\n`,
  ),
  content,
  Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
]
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

/** A card to attach files to, and its user. */
export interface FilesEnvironment {
  service: ProbedService
  sql: pg.Pool
  cardPath: string
  uploadPath: string
  token: string
  client: HttpClient
}

export async function makeFilesEnvironment(
  service: ProbedService,
  sql: pg.Pool,
  { tokens }: Audience,
): Promise<FilesEnvironment> {
  const token = tokens[0] as string
  const api = new Client(service.baseUrl, token)
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Files' } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  const { id } = await api.call('createCard', { params: { board_id, column_id }, body: { title: 'Card' } })
  const client = new HttpClient(service.baseUrl, token)
  return { service, sql, cardPath: `/cards/${id}`, uploadPath: `/cards/${id}/attachments`, token, client }
}

/** Uploads a file. Returns its path. */
export async function upload({ client, uploadPath }: FilesEnvironment, content: Buffer): Promise<string> {
  const { status, bytes } = await client.request('POST', uploadPath, { 'content-type': FORM_TYPE }, formOf(content))
  if (status !== 201) throw new Error(`An upload returned ${status}: ${bytes.toString()}`)
  return `/attachments/${(JSON.parse(bytes.toString()) as { id: string }).id}`
}

/** Whether a downloaded file equals its content. */
export async function isUnchanged({ client }: FilesEnvironment, path: string, content: Buffer): Promise<boolean> {
  const { status, bytes } = await client.request('GET', path)
  return status === 200 && hashOf(bytes) === hashOf(content)
}

/** The number of chunks and records of files without an attachment. */
export async function countLeftovers(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select (select count(*) from unclaimed_files)::int
      + (select count(*) from (select board_id, file_id from file_chunks except select board_id, file_id from attachments) stray)::int
      as count`,
  )
  return rows[0]?.count ?? -1
}
