import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { retainedBytes } from '@lockstep/testing/load/environment'
import { inParallel } from '@lockstep/testing/load/http-client'
import { eventually } from '@lockstep/testing/processes'
import { type Random, seeded } from '@lockstep/testing/random'
import { countLeftovers, type FilesEnvironment, formOf, hashOf, isUnchanged, seededBytes } from './environment.ts'
import { openSocket, statusOf, uploadHead, write } from './raw-upload.ts'

const PATIENCE_MS = 20_000

/** Kinds of damage to the bytes of a form. */
const mutations: Record<string, (form: Buffer, random: Random) => Buffer> = {
  'cut short': (form, random) => form.subarray(0, random.below(form.length)),
  'without its beginning': (form, random) => form.subarray(random.below(form.length)),
  'with other bytes': (form, random) => {
    const other = Buffer.from(form)
    // Mostly in the structure of the form instead of its content.
    const at = () => random.pick([random.below(200), form.length - 1 - random.below(40), random.below(form.length)])
    for (let i = 1 + random.below(8); i > 0; i--) other[Math.min(at(), form.length - 1)] = random.below(256)
    return other
  },
  'with a hole': (form, random) => {
    const from = random.below(form.length)
    return Buffer.concat([form.subarray(0, from), form.subarray(from + random.below(300))])
  },
  'with a part twice': (form, random) => {
    const from = random.below(form.length)
    return Buffer.concat([form.subarray(0, from + random.below(300)), form.subarray(from)])
  },
  'with noise in it': (form, random) => {
    const at = random.below(form.length)
    const noise = Buffer.from(random.pick(['\r\n', '--', '\r\n\r\n', '\0', '"', '; filename*=x', `\r\n--`, '\n', ':']))
    return Buffer.concat([form.subarray(0, at), noise, form.subarray(at)])
  },
  'as it was': (form) => form,
}
/** How the bytes are sent. */
const ways = ['whole', 'in chunks', 'in broken chunks', 'and nothing more', 'and cut'] as const

export interface BrokenForms {
  serverErrors: string[]
  hangs: string[]
  /** Complete forms without a response. */
  silent: string[]
  /** Attachments with missing bytes. */
  incomplete: number
  leftovers: number
}

/** Sends forms with seeded damage, and checks the responses and the stored files. */
export async function sendBrokenForms(
  environment: FilesEnvironment,
  { forms, atOnce, seed }: { forms: number; atOnce: number; seed: number },
): Promise<BrokenForms> {
  const random = seeded(seed)
  const source = seededBytes(seed, 300_000)
  const before = await countLeftovers(environment.sql)
  const found: BrokenForms = {
    serverErrors: [],
    hangs: [],
    silent: [],
    incomplete: 0,
    leftovers: 0,
  }
  const cases = Array.from({ length: forms }, (_, nth) => {
    const size = Math.floor(200_000 ** random.next())
    const [name, mutate] = random.pick(Object.entries(mutations))
    const form = mutate(Buffer.concat(formOf(source.subarray(0, size))), random)
    const way = random.pick(ways)
    return { form, way, name: `form ${nth} ${name}, ${way}`, pieces: cutUp(form, random), end: random.pick([1, 5]) }
  })
  await inParallel(cases, atOnce, async ({ form, way, name, pieces, end }) => {
    const socket = openSocket(environment)
    const isChunked = way === 'in chunks' || way === 'in broken chunks'
    const promised = way === 'and nothing more' || way === 'and cut' ? form.length + 1_000 : form.length
    await write(socket, uploadHead(environment, isChunked ? undefined : promised))
    for (const [i, piece] of pieces.entries()) {
      const isBroken = way === 'in broken chunks' && i === pieces.length - 1
      const size = (piece.length + (isBroken ? end : 0)).toString(16)
      await write(socket, isChunked ? Buffer.concat([Buffer.from(`${size}\r\n`), piece, Buffer.from('\r\n')]) : piece)
    }
    if (isChunked) await write(socket, '0\r\n\r\n')
    if (way === 'and nothing more' || way === 'in broken chunks') socket.end()
    if (way === 'and cut') {
      socket.destroy()
      return
    }
    const status = await statusOf(socket, PATIENCE_MS)
    if (status === undefined) found.hangs.push(name)
    else if (status >= 500) found.serverErrors.push(`${name}: ${status}`)
    else if (status === 0 && (way === 'whole' || way === 'in chunks')) found.silent.push(name)
  })
  await eventually('nothing is left', async () => (await countLeftovers(environment.sql)) === before).catch(() => {})
  found.leftovers = (await countLeftovers(environment.sql)) - before
  const { rows } = await environment.sql.query<{ count: number }>(
    `select count(*)::int as count from attachments where size <> (select coalesce(sum(length(bytes)), 0) from file_chunks
       where file_chunks.board_id = attachments.board_id and file_chunks.file_id = attachments.file_id)`,
  )
  found.incomplete = rows[0]?.count ?? -1
  return found
}

/** Splits bytes into one to twenty non-empty pieces. */
function cutUp(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: random.below(20) }, () => random.below(bytes.length + 1))
  const places = [...new Set([0, ...cuts, bytes.length])].toSorted((a, b) => a - b)
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end))
}

/** Sends far more than allowed before reading. Returns the status. */
export async function writeBeforeReading(environment: FilesEnvironment, bytes: number): Promise<number | undefined> {
  const socket = openSocket(environment)
  const [head] = formOf(Buffer.alloc(0))
  await write(socket, uploadHead(environment, head.length + bytes))
  await write(socket, head)
  const block = Buffer.alloc(1_000_000)
  for (let sent = 0; sent < bytes; sent += block.length) await write(socket, block)
  return statusOf(socket, PATIENCE_MS)
}

/** Uploads with one byte per chunk: a server that keeps the chunks would hold as many objects as bytes. */
export async function sendByteByByte(
  environment: FilesEnvironment,
  { clients, bytes }: { clients: number; bytes: number },
): Promise<{ accepted: number; growth: number; isSame: boolean }> {
  const content = seededBytes(11).subarray(0, bytes)
  const form = Buffer.concat(formOf(content))
  const chunks = Array.from(form, (byte) => Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]))
  const keptBefore = await retainedBytes(environment.service)
  const sockets = Array.from({ length: clients }, () => openSocket(environment))
  for (const socket of sockets) socket.write(uploadHead(environment, undefined))
  // All except the last byte, so that retained memory can be measured. Each chunk is sent separately.
  for (const chunk of chunks.slice(0, -1)) {
    for (const socket of sockets) socket.write(chunk)
    await nextTurn()
  }
  await environment.service.look()
  await eventually('everything was read', async () => {
    await pause(300)
    return (await environment.service.look()).cpuMs < 100
  })
  const kept = await retainedBytes(environment.service)
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      await write(socket, Buffer.concat([chunks.at(-1) ?? Buffer.alloc(0), Buffer.from('0\r\n\r\n')]))
      return statusOf(socket, PATIENCE_MS)
    }),
  )
  const { rows } = await environment.sql.query<{ id: string }>(
    'select id from attachments where content_hash = $1 order by created_at desc limit 1',
    [Buffer.from(hashOf(content), 'hex').toString('base64url')],
  )
  const isSame = await isUnchanged(environment, `/attachments/${rows[0]?.id}`, content)
  return { accepted: statuses.filter((status) => status === 201).length, growth: kept - keptBefore, isSame }
}
