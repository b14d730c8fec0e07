import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@lockstep/testing/client'
import { seeded } from '@lockstep/testing/random'
import { openSocket } from '@lockstep/testing/socket'
import { isGapless } from '../realtime-scale/raw-client.ts'
import { checkClose, checkHandshake, checkMessage } from './check-frames.ts'
import { readMessages } from './document.ts'
import { FrameSession, handshakeTo } from './frame-session.ts'
import { ANY, type FuzzFrame, frameOf, makeFrame } from './frames.ts'
import { unusualHandshake } from './unusual-handshakes.ts'

export interface FrameSize {
  seed: number
  frames: number
  concurrency: number
}
export interface FrameResults {
  frames: number
  sessions: number
  seconds: number
  violations: string[]
  /** Sessions by close code. */
  ends: Map<string, number>
  kinds: Map<string, number>
  /** Events that a valid client received meanwhile. */
  eventsReceived: number
}

const PATIENCE_MS = 5_000

/** Sends generated frames to the sockets of a board, and checks how each session ended. */
export async function fuzzFrames(
  api: Client,
  { seed, frames, concurrency }: FrameSize,
  progress: (done: number, violations: number) => void = () => {},
): Promise<FrameResults> {
  const documented = readMessages()
  const schemas = [...documented.values()].map(({ schema }) => schema)
  const found: FrameResults = {
    frames: 0,
    sessions: 0,
    seconds: 0,
    violations: [],
    ends: new Map(),
    kinds: new Map(),
    eventsReceived: 0,
  }
  const startedAt = performance.now()
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Frames' } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  const target = `/ws/boards/${board_id}?token=${api.token}`
  using follower = openSocket(api, board_id, { since: '1.0' })
  await follower.next('hello')

  const session = async (nth: number) => {
    const random = seeded(Math.imul(seed, 0x85ebca6b) ^ nth)
    const odd = random.below(6) === 0 ? unusualHandshake(target, board_id, random) : undefined
    const handshake = odd ?? handshakeTo(target + random.pick(['', '&seq=1', '&since=1.0', '&since=x', '&since=9.9']))
    const client = new FrameSession(api.baseUrl, handshake)
    const sent: FuzzFrame[] = []
    await Promise.race([client.begun, pause(PATIENCE_MS)])
    const most = random.below(10) === 0 ? 40 : 1 + random.below(18)
    while (sent.length < most && !client.socket.destroyed) {
      const frame = makeFrame(schemas, random)
      sent.push(frame)
      client.socket.write(frame.bytes)
      if (frame.codes.length > 0) break
      if (random.below(4) === 0) await pause(1)
    }
    const last = sent.at(-1)
    if (last?.codes.length === 0 && sent.length >= most)
      client.socket.write(frameOf(Buffer.from([3, 232]), { opcode: 8 }))
    // After noise, the service may wait for the rest of a frame.
    const patience = last?.codes === ANY ? 300 : PATIENCE_MS
    const timer = setTimeout(() => client.leave(), patience)
    const ending = await client.ended
    clearTimeout(timer)
    found.frames += sent.length
    found.sessions++
    for (const { what } of sent) count(found.kinds, what)
    count(found.ends, ending.refusal ? String(ending.refusal.status) : String(ending.code))
    const complaints = [
      ...(odd ? checkHandshake(ending, odd.isBad) : checkClose(ending, sent)),
      ...ending.garbled,
      ...ending.messages.flatMap((message) => checkMessage(documented, message)),
    ]
    const shown = sent.slice(-3).map(({ what, bytes }) => `${what} ${bytes.subarray(0, 60).toString('hex')}`)
    const how = odd
      ? ` after ${JSON.stringify({ ...handshake, target: handshake.target.replace(api.token ?? '', '…') })}`
      : ''
    found.violations.push(
      ...complaints.map(
        (complaint) =>
          `seed ${seed}, session ${nth}: ${complaint}; ${sent.length} frames, the last: ${shown.join(', ')}${how}`,
      ),
    )
  }

  const writing = { is_over: false, events: 0 }
  const write = async () => {
    while (!writing.is_over) {
      await api.call('createCard', { params: { board_id, column_id }, body: { title: 'Card' } })
      writing.events++
      await pause(100)
    }
  }
  // If no write succeeds, the service has ended.
  const writer = write().catch((error: Error) => {
    writing.is_over = true
    found.violations.push(`nobody could write any more: ${error.message}`)
  })
  let next = 0
  const lane = async () => {
    while (found.frames < frames && !writing.is_over) {
      await session(next++)
      if (found.sessions % 500 === 0) progress(found.frames, found.violations.length)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  writing.is_over = true
  await writer
  // The board began with a column.
  await follower
    .upTo(writing.events + 1)
    .catch((error: Error) => void found.violations.push(`the follower was left behind: ${error.message}`))
  const seqs = follower.seqs.map(Number)
  if (!isGapless(seqs)) found.violations.push('the follower was told something twice, or not at all')
  found.eventsReceived = seqs.length
  found.seconds = (performance.now() - startedAt) / 1_000
  return found
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
