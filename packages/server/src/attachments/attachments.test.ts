import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createConnection } from 'node:net'
import type { Attachment } from '@lockstep/contract/attachments'
import type { Card } from '@lockstep/contract/cards'
import type { Client } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { parse } from 'content-disposition'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { Admission } from '../http/admission.ts'
import { ByteBudget } from '../platform/byte-budget.ts'
import { ChunkStore } from './file-store.ts'
import { deleteUnclaimedFiles } from './unclaimed-files.ts'

const MAX = 300_000
let service: TestService
let board: TestBoard
let api: Client
let card: Card
beforeAll(async () => {
  service = await startService({ MAX_ATTACHMENT_BYTES: String(MAX) })
  board = await service.board()
  api = board.member.api
  card = await newCard()
})
afterAll(() => service.stop())

const newCard = () =>
  api.call('createCard', { params: { board_id: board.id, column_id: board.columns[0].id }, body: { title: 'Card' } })
const attach = (file: Blob, { id: card_id } = card) =>
  api.call('createAttachment', { params: { card_id }, body: { file } })
const download = ({ id }: Attachment, headers: Record<string, string> = {}) =>
  api.request('GET', `/attachments/${id}`, { headers })
const rows = async (table: string) => (await service.sql.query(`select 1 from ${table}`)).rowCount
/** Stored files, chunks and attachments. */
const kept = async () => ({ chunks: await rows('file_chunks'), unclaimed: await rows('unclaimed_files') })

/** A multipart form, written by hand. */
const BOUNDARY = 'a-boundary'
const part = (headers: string, content: string | Buffer) =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
const formOf = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
const filePart = (name: string, content: string | Buffer = 'content') =>
  part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content)
const send = (
  content: Buffer,
  type = `multipart/form-data; boundary=${BOUNDARY}`,
  headers: Record<string, string> = {},
) => api.request('POST', `/cards/${card.id}/attachments`, { raw: { type, content }, headers })

describe('uploading', () => {
  test('[ATT-1] [EVENT-1] the attachment is returned, and is on the card and in the event', async () => {
    const own = await newCard()
    const file = new File(['Hello'], 'greeting.txt', { type: 'text/plain' })
    const { response, events } = await recordEvents(board, () =>
      api.send('createAttachment', { params: { card_id: own.id }, body: { file } }),
    )
    const { id } = response.body as Attachment
    expect(response.status).toBe(201)
    expect(response.body).toEqual({ id, card_id: own.id, name: 'greeting.txt', mime_type: 'text/plain', size: 5 })
    expect(events).toMatchObject([{ type: 'attachment.created', user_id: board.member.id, data: response.body }])
    const after = await api.call('getCard', { params: { card_id: own.id } })
    expect(after).toEqual({ ...own, attachments: [response.body] })
    const second = await attach(new File(['More'], 'more.txt'), own)
    expect((await api.call('getCard', { params: { card_id: own.id } })).attachments).toEqual([response.body, second])
  })

  test('[ATT-1] [WRITE-2] a part may contain the id; a taken one is 409, an invalid one 422', async () => {
    const id = randomUUID()
    const idPart = (value: string) => part('Content-Disposition: form-data; name="id"', value)
    const made = await send(formOf(idPart(id), filePart('a.txt')))
    expect(made).toMatchObject({ status: 201, body: { id } })
    const before = await kept()
    expect(await send(formOf(filePart('b.txt'), idPart(id)))).toMatchObject({ status: 409, body: { code: 'id_taken' } })
    expect(await send(formOf(filePart('b.txt'), idPart('5')))).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'id' }] },
    })
    expect(await kept()).toEqual(before)
  })

  test.each([
    ['none', '', 'application/octet-stream'],
    ['an ordinary one', 'image/png', 'image/png'],
    ['one with a parameter', 'text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
    ['one that is none', 'not a mime\tx', 'application/octet-stream'],
    ['one with something behind it', 'text/html\u0001', 'application/octet-stream'],
    ['half of one', 'image/', 'application/octet-stream'],
  ])('[ATT-1] the type is taken from the part, if it is valid: %s', async (_, given, mime_type) => {
    const headers = `Content-Disposition: form-data; name="x"; filename="a"${given && `\r\nContent-Type: ${given}`}`
    const { body } = await send(formOf(part(headers, 'x')))
    expect(body).toMatchObject({ mime_type })
    expect((await download(body as Attachment)).headers.get('content-type')).toBe(mime_type)
  })

  const sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, MAX]
  test.each(sizes)('[ATT-1] [ATT-4] %i bytes are returned unchanged', async (size) => {
    const content = randomBytes(size)
    const attachment = await attach(new File([content], 'bytes.bin'))
    expect(attachment.size).toBe(size)
    const { bytes, headers } = await download(attachment)
    expect(bytes.equals(content)).toBe(true)
    expect(headers.get('content-length')).toBe(String(size))
    expect(headers.get('etag')).toBe(`"${createHash('sha256').update(content).digest('base64url')}"`)
  })

  test('[ATT-2] [ATT-9] one byte above the limit is 400 with the limit, and nothing is stored', async () => {
    const before = await kept()
    const { response, events } = await recordEvents(board, () => send(formOf(filePart('big', Buffer.alloc(MAX + 1)))))
    expect(response).toMatchObject({ status: 400, body: { code: 'file_too_large' } })
    expect((response.body as { detail: string }).detail).toContain(String(MAX))
    expect(events).toEqual([])
    expect(await kept()).toEqual(before)
  })

  test('[ATT-2] a client that writes 60 MB before it reads gets its 400', async () => {
    const { hostname, port } = new URL(service.baseUrl)
    const head = part('Content-Disposition: form-data; name="file"; filename="big"', '')
    const size = head.length + 60_000_000
    const socket = createConnection(Number(port), hostname)
    socket.pause()
    socket.write(
      `POST /cards/${card.id}/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\n` +
        `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`,
    )
    socket.write(head)
    const block = Buffer.alloc(1_000_000)
    for (let i = 0; i < 60; i++)
      await new Promise<void>((resolve, reject) => socket.write(block, (error) => (error ? reject(error) : resolve())))
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain(`${MAX} bytes`)
  })

  test.each<[string, Buffer, string?]>([
    ['no part at all', formOf()],
    ['no file', formOf(part('Content-Disposition: form-data; name="file"', 'text'))],
    ['two files', formOf(filePart('a'), filePart('b'))],
    ['a part that is not of a form', formOf(part('Content-Disposition: attachment; filename="a"', 'x'))],
    ['no end', filePart('a')],
    ['an end in the middle of the headers', Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form`)],
    ['a header without a colon', formOf(part('Content-Disposition', 'x'))],
    ['headers that never end', formOf(part(`X: ${'x'.repeat(20_000)}`, 'x'))],
    ['a hundred parts more than one', formOf(...Array.from({ length: 101 }, () => part('X: y', '')), filePart('a'))],
    ['nothing', Buffer.alloc(0)],
    ['another boundary', formOf(filePart('a')), 'multipart/form-data; boundary=other'],
    ['no boundary', formOf(filePart('a')), 'multipart/form-data'],
    ['an endless boundary', formOf(filePart('a')), `multipart/form-data; boundary=${'x'.repeat(71)}`],
    ['another type', formOf(filePart('a')), 'application/json'],
    ['bytes that name nothing in UTF-8', formOf(filePart('a'), Buffer.from('')).fill(0xff, 70, 72)],
  ])('[ATT-3] [ATT-9] [V32] a form with %s is 422, and nothing is stored', async (_, content, type) => {
    const before = await kept()
    expect(await send(content, type)).toMatchObject({ status: 422, body: { code: 'invalid_input' } })
    await eventually('nothing is left', async () => JSON.stringify(await kept()) === JSON.stringify(before))
  })

  test('[ATT-3] bytes before, between and after the parts do not matter', async () => {
    const content = Buffer.concat([
      Buffer.from('preamble\r\n'),
      formOf(part('X-Y: z', 'ignored'), filePart('a')),
      Buffer.from('epilogue'),
    ])
    expect(await send(content)).toMatchObject({ status: 201, body: { name: 'a', size: 7 } })
  })

  test('[ATT-2] the limit applies to a form without a Content-Length', async () => {
    async function* endless() {
      yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\n`)
      for (let i = 0; i < 20; i++) yield Buffer.alloc(50_000)
      yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
    }
    const response = await fetch(`${service.baseUrl}/cards/${card.id}/attachments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: ReadableStream.from(endless()),
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(400)
  })

  test('[ATT-3] a compressed form is rejected', async () => {
    const response = await send(formOf(filePart('a')), undefined, { 'content-encoding': 'gzip' })
    expect(response).toMatchObject({ status: 422 })
  })

  test('[ATT-3] a file may contain a form', async () => {
    for (const content of [
      `\r\n--${BOUNDARY}x`.slice(0, -2),
      '--a-boundar\r\n',
      '\r\n\r\n',
      '\r\n--',
      '-'.repeat(300),
    ]) {
      const { body } = await send(formOf(filePart('a', content)))
      expect((await download(body as Attachment)).text).toBe(content)
    }
  })

  test('[ATT-8] [WRITE-3] a retry with its key gets the stored response, and the file is stored once', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const content = formOf(filePart('a.txt', randomBytes(100_000)))
    const first = await send(content, undefined, key)
    const before = await kept()
    const again = await send(content, undefined, key)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await send(formOf(filePart('a.txt', 'other')), undefined, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
    // Another boundary is still the same upload.
    const text = content.toString('latin1').replaceAll(BOUNDARY, 'another')
    const rewritten = await send(Buffer.from(text, 'latin1'), 'multipart/form-data; boundary=another', key)
    expect(rewritten).toMatchObject({ status: 201, body: first.body })
    expect(await kept()).toEqual(before)
  })

  test('[ATT-8] of two concurrent uploads with one key, one is stored', async () => {
    const own = await newCard()
    const key = { 'idempotency-key': randomUUID() }
    const content = formOf(filePart('a.txt', randomBytes(100_000)))
    const path = `/cards/${own.id}/attachments`
    const raw = { type: `multipart/form-data; boundary=${BOUNDARY}`, content }
    const before = await kept()
    const responses = await Promise.all([1, 2].map(() => api.request('POST', path, { raw, headers: key })))
    expect(responses.map(({ status }) => status)).toEqual([201, 201])
    expect(responses[0]?.body).toEqual(responses[1]?.body)
    expect((await api.call('getCard', { params: { card_id: own.id } })).attachments).toHaveLength(1)
    expect(await kept()).toEqual({ ...before, chunks: (before.chunks ?? 0) + 2 })
  })
})

describe('names', () => {
  const cases: [string, string][] = [
    ['a path', '../../etc/passwd'],
    ["another system's path", 'C:\\Windows\\system32'],
    ['a line break, as browsers write it', 'a%0D%0ASet-Cookie: x=1.txt'],
    ['quotes', 'the "best".txt'],
    ['a right-to-left override', 'gpj\u202e.exe'],
    ['255 emoji', '🦊'.repeat(255)],
    ['another script', '日本語.txt'],
    ['percent signs', '100%25.txt'],
    ['spaces', ' a b '],
    ['a plain name', 'hello.txt'],
    ['something like a parameter', 'a; filename=b; c.txt'],
  ]
  test.each(cases)('[ATT-5] [ATT-4] [V24] %s is preserved', async (_, name) => {
    const attachment = await attach(new File(['x'], name.replace('%0D%0A', '\r\n')))
    const expected = name.replace('%0D%0A', '\r\n')
    expect(attachment.name).toBe(expected)
    const { headers, status } = await download(attachment)
    expect(status).toBe(200)
    const disposition = headers.get('content-disposition') ?? ''
    expect(disposition).toMatch(/^attachment; filename="[ -~]+$/)
    expect(parse(disposition).parameters['filename']).toBe(expected)
    expect(headers.get('set-cookie')).toBeNull()
  })

  test('[ATT-5] the extended notation is supported', async () => {
    const headers = `Content-Disposition: form-data; name="file"; filename="x"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt`
    expect(await send(formOf(part(headers, 'x')))).toMatchObject({ status: 201, body: { name: 'naïve €.txt' } })
  })

  test.each([
    ['a quote', 'the \\"best\\".txt', 'the "best".txt'],
    ['a backslash', 'a\\\\b.txt', 'a\\b.txt'],
    ['a backslash before a quote', 'a\\\\\\"b', 'a\\"b'],
    ['a backslash at the end', 'a\\\\', 'a\\'],
    ['a backslash that escapes nothing', 'C:\\new\\system', 'C:\\new\\system'],
    ['a backslash that a browser wrote before the closing quote', 'a\\', 'a\\'],
    ['both ways of writing a quote', '%22\\"', '""'],
  ])('[ATT-16] %s is decoded', async (_, written, name) => {
    expect(await send(formOf(filePart(written)))).toMatchObject({ status: 201, body: { name } })
  })

  test.each([
    ['nothing', ''],
    ['nothing to see', ' \t'],
    ['256 characters', 'x'.repeat(256)],
    ['a NUL', 'a\0b'],
  ])('[ATT-5] %s is 422', async (_, name) => {
    expect(await send(formOf(filePart(name)))).toMatchObject({ status: 422, body: { errors: [{ field: 'file' }] } })
  })
})

describe('downloading', () => {
  const wanted = ['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'iframe', 'frame', 'object', 'embed']
  test.each([...wanted, 'audio', 'video', 'font', 'xslt', 'json', 'no such', 'empty, script'])(
    '[ATT-11] [V41] a file requested as %s by a browser is 403, also one in its cache',
    async (destination) => {
      const attachment = await attach(new File(['alert(1)'], 'a.js', { type: 'text/javascript' }))
      const known = (await download(attachment)).headers.get('etag') ?? ''
      for (const more of [{}, { 'if-none-match': known }]) {
        const response = await download(attachment, { 'sec-fetch-dest': destination, ...more })
        expect(response).toMatchObject({ status: 403, body: { code: 'download_only' } })
        expect(response.text).not.toContain('alert')
        expect(response.headers.get('vary')).toContain('Sec-Fetch-Dest')
      }
    },
  )

  test('[ATT-11] a file can be fetched and opened, and a raster image shown', async () => {
    const png = await attach(new File(['png'], 'a.png', { type: 'image/PNG; x=y' }))
    const svg = await attach(new File(['<svg/>'], 'a.svg', { type: 'image/svg+xml' }))
    const statuses = async (attachment: Attachment) =>
      Promise.all(
        ['empty', 'document', 'image'].map(
          async (destination) => (await download(attachment, { 'sec-fetch-dest': destination })).status,
        ),
      )
    expect(await statuses(png)).toEqual([200, 200, 200])
    expect(await statuses(svg)).toEqual([200, 200, 403])
  })

  const content = randomBytes(200_000)
  let attachment: Attachment
  beforeAll(async () => {
    attachment = await attach(new File([content], 'page.html', { type: 'text/html' }))
  })

  test.each(['image/svg+xml', 'text/html', 'application/xhtml+xml', 'text/javascript', 'application/pdf'])(
    '[ATT-4] [V23] %s is never shown inline',
    async (type) => {
      const { headers } = await download(await attach(new File(['<script>alert(1)</script>'], 'a', { type })))
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('content-disposition')).toMatch(/^attachment/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('cache-control')).toBe('private, no-cache')
    },
  )

  test.each<[string, number, number]>([
    ['bytes=0-0', 0, 1],
    ['bytes=100-65600', 100, 65_601],
    ['bytes=65536-65536', 65_536, 65_537],
    ['bytes=131071-131073', 131_071, 131_074],
    ['bytes=199999-', 199_999, 200_000],
    ['bytes=-5', 199_995, 200_000],
    ['bytes=-900000', 0, 200_000],
    ['bytes=5-900000', 5, 200_000],
  ])('[ATT-6] %s is a range of the file', async (range, start, end) => {
    const { status, bytes, headers } = await download(attachment, { range })
    expect(status).toBe(206)
    expect(headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/200000`)
    expect(bytes.equals(content.subarray(start, end))).toBe(true)
  })

  test.each(['bytes=0-1,5-6', 'bytes=5-4', 'lines=1-2', 'bytes=', 'bytes=a-b'])(
    '[ATT-6] %s is ignored, and the whole file is sent',
    async (range) => {
      const { status, bytes } = await download(attachment, { range })
      expect({ status, size: bytes.length }).toEqual({ status: 200, size: 200_000 })
    },
  )

  test.each(['bytes=200000-', 'bytes=300000-300001', 'bytes=-0'])('[ATT-6] %s is outside the file', async (range) => {
    const { status, headers, body } = await download(attachment, { range })
    expect({ status, body }).toMatchObject({ status: 416, body: { code: 'range_not_satisfiable' } })
    expect(headers.get('content-range')).toBe('bytes */200000')
  })

  test('[ATT-6] If-Range with another ETag sends the whole file', async () => {
    const etag = (await download(attachment)).headers.get('etag') ?? ''
    const range = 'bytes=0-9'
    expect((await download(attachment, { range, 'if-range': etag })).status).toBe(206)
    expect((await download(attachment, { range, 'if-range': '"other"' })).status).toBe(200)
    expect(await download(attachment, { 'if-none-match': `"x", W/${etag}` })).toMatchObject({ status: 304, text: '' })
    expect((await download(attachment, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('[ATT-6] HEAD returns the headers and no content', async () => {
    const { status, headers, text } = await api.request('HEAD', `/attachments/${attachment.id}`)
    expect({ status, text, size: headers.get('content-length') }).toEqual({ status: 200, text: '', size: '200000' })
  })

  test('[ACCESS-4] [V05] a file of another board is 403 without any byte of it', async () => {
    const nonMember = await service.user()
    for (const method of ['GET', 'DELETE']) {
      const { status, text } = await nonMember.api.request(method, `/attachments/${attachment.id}`)
      expect({ method, status }).toEqual({ method, status: 403 })
      expect(Object.keys(JSON.parse(text))).toEqual(['detail', 'code'])
    }
    expect((await download(attachment)).status).toBe(200)
  })
})

describe('removing', () => {
  const sweep = async () => {
    const db = new Database({ url: service.databaseUrl, size: 2, onError: () => {} })
    const removed = await deleteUnclaimedFiles(
      db,
      new ChunkStore(db, new Admission(2, { isFair: false }), new ByteBudget(Number.POSITIVE_INFINITY, 0)),
    )
    await db.close()
    return removed
  }

  test('[ATT-7] the attachment is gone at once, with its event; a second delete is 404', async () => {
    const attachment = await attach(new File(['x'], 'a.txt'))
    const params = { attachment_id: attachment.id }
    const { response, events } = await recordEvents(board, () => api.send('deleteAttachment', { params }))
    expect(response).toMatchObject({ status: 204, text: '' })
    expect(events).toMatchObject([{ type: 'attachment.deleted', user_id: board.member.id, data: attachment }])
    expect(await api.fail('deleteAttachment', { params })).toMatchObject({ status: 404, code: 'attachment_not_found' })
    expect((await download(attachment)).status).toBe(404)
  })

  test('[ATT-9] the bytes are deleted by the background job, however the attachment was deleted, and other files stay', async () => {
    const other = await service.board()
    const params = { board_id: other.id, column_id: other.columns[0].id }
    const { api: owner } = other.owner
    const cards = await Promise.all([1, 2, 3].map(() => owner.call('createCard', { params, body: { title: 'Card' } })))
    const body = { file: new File([randomBytes(70_000)], 'a.bin') }
    for (const { id: card_id } of cards) await owner.call('createAttachment', { params: { card_id }, body })
    const staying = await attach(new File(['stays'], 'a.txt'))
    const chunksOf = async () => {
      const { rows: found } = await service.sql.query('select count(*)::int from file_chunks where board_id = $1', [
        other.id,
      ])
      return found[0].count
    }
    await sweep()
    expect(await chunksOf()).toBe(6)
    const [card_id = '', ...rest] = cards.map(({ id }) => id)
    const purge = (removed_id: string) => owner.call('purgeRemoved', { params: { board_id: other.id, removed_id } })
    await owner.call('deleteCard', { params: { card_id } })
    // The file of a card in the trash is kept, until the card is deleted for good.
    expect(await sweep()).toBe(0)
    await purge(card_id)
    expect(await sweep()).toBe(1)
    expect(await chunksOf()).toBe(4)
    await owner.call('moveCard', { params: { card_id: rest[0] ?? '' }, body: { column_id: other.columns[1].id } })
    await owner.call('deleteColumn', { params: { column_id: params.column_id } })
    await purge(params.column_id)
    expect(await sweep()).toBe(1)
    await owner.call('deleteBoard', { params: { board_id: other.id } })
    expect(await sweep()).toBe(1)
    expect(await chunksOf()).toBe(0)
    expect((await download(staying)).text).toBe('stays')
  })

  test('[ATT-9] files left by a crash are deleted when their time is up, and not before', async () => {
    const file_id = randomUUID()
    const insert = `insert into unclaimed_files values ($1, $2, now() + $3::interval)`
    await service.sql.query(insert, [board.id, file_id, '1 hour'])
    await service.sql.query(`insert into file_chunks values ($1, $2, 0, 'half')`, [board.id, file_id])
    expect(await sweep()).toBe(0)
    await service.sql.query(`update unclaimed_files set remove_after = now() - interval '1 second'`)
    expect(await sweep()).toBe(1)
    const { rowCount } = await service.sql.query('select 1 from file_chunks where file_id = $1', [file_id])
    expect(rowCount).toBe(0)
  })

  test('[ATT-9] an upload that fails with 503 before COMMIT leaves nothing', async () => {
    const own = await newCard()
    const before = await kept()
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('select from board_stream where board_id = $1 for update', [board.id])
    const body = { file: new File([randomBytes(70_000)], 'a.bin') }
    const upload = () => api.send('createAttachment', { params: { card_id: own.id }, body })
    try {
      const responses = await Promise.all([upload(), upload()])
      expect(responses.map(({ status }) => status)).toEqual([503, 503])
      expect(await kept()).toEqual(before)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('[ATT-9] an upload whose commit was sent and not confirmed keeps its bytes, because it may be committed', async () => {
    const own = await newCard()
    const before = await kept()
    // The connection is lost at COMMIT.
    await service.sql.query(`
      create function lose() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
      create constraint trigger lose after insert on attachments deferrable initially deferred
        for each row when (new.card_id = '${own.id}') execute function lose()`)
    try {
      const body = { file: new File(['content'], 'a.txt') }
      const { status } = await api.send('createAttachment', { params: { card_id: own.id }, body })
      expect(status).toBe(503)
      expect(await kept()).toEqual({ chunks: (before.chunks ?? 0) + 1, unclaimed: (before.unclaimed ?? 0) + 1 })
    } finally {
      await service.sql.query('drop trigger lose on attachments; drop function lose')
    }
  })

  test('[ATT-9] an aborted upload leaves nothing', async () => {
    const before = await kept()
    const { hostname, port } = new URL(service.baseUrl)
    const socket = createConnection(Number(port), hostname)
    socket.write(
      `POST /cards/${card.id}/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\n` +
        `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: 250000\r\n\r\n`,
    )
    socket.write(filePart('a', Buffer.alloc(150_000)))
    await eventually('something has arrived', async () => ((await kept()).chunks ?? 0) > (before.chunks ?? 0))
    socket.destroy()
    await eventually('nothing is left', async () => JSON.stringify(await kept()) === JSON.stringify(before))
  })

  test('[ATT-9] an upload that is aborted after its form leaves nothing either', async () => {
    const before = await kept()
    const { hostname, port } = new URL(service.baseUrl)
    const form = formOf(filePart('a', Buffer.alloc(150_000)))
    const socket = createConnection(Number(port), hostname)
    socket.write(
      `POST /cards/${card.id}/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\n` +
        `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${form.length + 1}\r\n\r\n`,
    )
    socket.write(form)
    await eventually('all of it has arrived', async () => ((await kept()).chunks ?? 0) === (before.chunks ?? 0) + 3)
    socket.destroy()
    await eventually('nothing is left', async () => JSON.stringify(await kept()) === JSON.stringify(before))
  })

  test('[ATT-9] [CARD-4] an upload to a card that is deleted meanwhile is 404, and leaves nothing', async () => {
    const doomed = await newCard()
    const before = await kept()
    const { hostname, port } = new URL(service.baseUrl)
    const form = formOf(filePart('a', Buffer.alloc(150_000)))
    const socket = createConnection(Number(port), hostname)
    socket.write(
      `POST /cards/${doomed.id}/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\nConnection: close\r\n` +
        `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${form.length}\r\n\r\n`,
    )
    socket.write(form.subarray(0, 100_000))
    await eventually('something has arrived', async () => ((await kept()).chunks ?? 0) > (before.chunks ?? 0))
    await api.call('deleteCard', { params: { card_id: doomed.id } })
    socket.write(form.subarray(100_000))
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1\.1 404 /)
    expect(text).toContain('card_not_found')
    await eventually('nothing is left', async () => JSON.stringify(await kept()) === JSON.stringify(before))
  })

  test('[ATT-9] [MEMBER-5] an upload by a member who is removed meanwhile is 403', async () => {
    const guest = await service.user()
    const member = { board_id: board.id, user_id: guest.id }
    await board.owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: guest.id } })
    let resume = () => {}
    const removed = new Promise<void>((resolve) => {
      resume = resolve
    })
    async function* slowly() {
      yield filePart('a', Buffer.alloc(100_000))
      await removed
      yield Buffer.from(`--${BOUNDARY}--\r\n`)
    }
    const before = await kept()
    const uploading = fetch(`${service.baseUrl}/cards/${card.id}/attachments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${guest.api.token}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
      body: ReadableStream.from(slowly()),
      duplex: 'half',
    } as RequestInit)
    await eventually('something has arrived', async () => ((await kept()).chunks ?? 0) > (before.chunks ?? 0))
    await board.owner.api.call('removeMember', { params: member })
    resume()
    expect((await uploading).status).toBe(403)
    await eventually('nothing is left', async () => JSON.stringify(await kept()) === JSON.stringify(before))
  })
})
