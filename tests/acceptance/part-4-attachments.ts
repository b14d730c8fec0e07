import { randomBytes } from 'node:crypto'
import { demand, fits, same, show } from './demand.ts'
import { Attachment } from './resources.ts'
import { NotRun, row } from './rows.ts'
import { fileForm, readCard, upload } from './samples.ts'
import { newStage, type Service } from './service.ts'

const MIB = 2 ** 20
/** Sizes that are tried until one is too large; the specification does not say which is. */
const LARGE = [12 * MIB, 48 * MIB, 192 * MIB]

async function withCard(service: Service) {
  const stage = await newStage(service)
  const { id } = await stage.member.newCard(stage.todo)
  return { ...stage, card_id: id, path: `/cards/${id}/attachments` }
}
const file = (size: number) => fileForm('large.bin', 'application/octet-stream', new Uint8Array(size))

/** The rejection of a file that is too large, shared by all rows about it. */
export async function tooLarge(service: Service) {
  const { member, path, card_id } = await withCard(service)
  for (const size of LARGE) {
    const { status, body } = await member.send('POST', path, file(size))
    if (status >= 200 && status < 300) continue
    return { member, path, card_id, status, detail: (body as { detail?: unknown } | undefined)?.detail }
  }
  throw new NotRun(`files of ${LARGE.at(-1)} bytes are accepted: no maximum was found`)
}

row(
  '4.9-upload',
  'POST /cards/{card_id}/attachments takes a multipart upload with one file part and returns the attachment record without content.',
  async (service) => {
    const { member, card_id } = await withCard(service)
    const made = await upload(member, card_id, { name: 'a.txt', content: 'Hello' })
    fits(Attachment, made, 'the attachment')
    same('the attachment', [made.card_id, made.name, made.size], [card_id, 'a.txt', 5])
    demand(!JSON.stringify(made).includes('Hello'), 'the record holds the content')
    same('on the card', (await readCard(member, card_id)).attachments.map(Attachment.project), [
      Attachment.project(made),
    ])
  },
)
row('4.9-upload-taken', 'name, mime_type and size (bytes) are taken from the upload.', async (service) => {
  const { member, card_id } = await withCard(service)
  const content = new Uint8Array(randomBytes(70_000))
  const { name, mime_type, size } = await upload(member, card_id, { name: 'picture.png', type: 'image/png', content })
  same('the record', [name, mime_type, size], ['picture.png', 'image/png', 70_000])
})
row('4.9-upload-multipart', 'An upload is a multipart body: JSON is rejected.', async (service) => {
  const { member, path } = await withCard(service)
  await member.refusedSomehow('POST', path, { name: 'a.txt' })
})
row('4.9-download', 'GET /attachments/{attachment_id} returns the stored bytes.', async (service) => {
  const { member, card_id } = await withCard(service)
  const content = new Uint8Array(randomBytes(70_000))
  const { id } = await upload(member, card_id, { name: 'a.bin', type: 'application/octet-stream', content })
  const { status, bytes } = await member.send('GET', `/attachments/${id}`)
  same('the status', status, 200)
  demand(bytes.equals(content), `the ${bytes.length} bytes are not the ${content.length} that were sent`)
})
row('4.9-download-type', 'Content-Type is the stored mime_type.', async (service) => {
  const { member, card_id } = await withCard(service)
  for (const type of ['image/png', 'text/markdown', 'text/html', 'application/json']) {
    const { id, mime_type } = await upload(member, card_id, { type, content: '{}' })
    same('mime_type', mime_type, type)
    const { headers } = await member.send('GET', `/attachments/${id}`)
    same('Content-Type', headers.get('content-type'), type)
  }
})
row('4.9-download-name', 'Content-Disposition is attachment with the stored name as file name.', async (service) => {
  const { member, card_id } = await withCard(service)
  for (const [name, encoded] of [
    ['plan.txt', 'plan.txt'],
    ['Übersicht 1.txt', '%C3%9Cbersicht%201.txt'],
  ] as const) {
    const { id } = await upload(member, card_id, { name })
    const disposition = (await member.send('GET', `/attachments/${id}`)).headers.get('content-disposition') ?? ''
    demand(/^attachment\b/i.test(disposition), `Content-Disposition is ${disposition}`)
    demand(disposition.includes(encoded), `Content-Disposition is ${disposition}, without the name ${name}`)
  }
})
row('4.9-delete', 'DELETE /attachments/{attachment_id} removes the attachment.', async (service) => {
  const { member, card_id } = await withCard(service)
  const { id } = await upload(member, card_id)
  await member.delete(`/attachments/${id}`)
  await member.rejected(404, 'GET', `/attachments/${id}`)
  same('on the card', (await readCard(member, card_id)).attachments, [])
})
row(
  '4.9-too-large',
  'When the content exceeds the maximum file size, then 400 with a detail message that names the maximum size in bytes.',
  async (service) => {
    const { status, detail } = await service.once(tooLarge)
    same('the status', status, 400)
    demand(/\d{3,}/.test(String(detail)), `the detail names no number: ${show(detail)}`)
  },
)
row(
  '4.9-maximum',
  'A file of exactly the maximum that the detail names is taken; one byte more is 400, and is not on the card.',
  async (service) => {
    const { member, path, card_id, detail } = await service.once(tooLarge)
    const maximum = Number(/\d{3,}/.exec(String(detail).replaceAll(/(?<=\d)[,_](?=\d{3})/g, ''))?.[0])
    demand(maximum > 0, `the detail names no number: ${show(detail)}`)
    const { size } = await member.post<Attachment>(path, file(maximum))
    same('the size', size, maximum)
    await member.rejected(400, 'POST', path, file(maximum + 1))
    same(
      'on the card',
      (await readCard(member, card_id)).attachments.map((attachment) => attachment.size),
      [maximum],
    )
  },
)
