import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { LoadClients, percentile } from './load-clients.ts'
import { clientFrame, type End, handshake, opcodes, RawClient } from './raw-client.ts'
import { type Audience, makeBoard, type ProbedService } from './realtime-stage.ts'

const repeat = (frame: Buffer, times: number) => Buffer.alloc(frame.length * times, frame)
const PONG = '{"type":"pong"}'
const first = (content: string) => clientFrame(opcodes.text, content, { fin: false })
const more = (content: string) => clientFrame(opcodes.more, content, { fin: false })

/** What a hostile client sends, and the code it must be closed with. `many` is how often a flood repeats itself. */
export const attacks: Record<string, { code: number; bytes: (many: number) => Buffer; isDeaf?: true }> = {
  'a text of 70,000 bytes': { code: 1009, bytes: () => clientFrame(opcodes.text, 'x'.repeat(70_000)) },
  'a length of a terabyte': { code: 1009, bytes: () => Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]) },
  'a flood of binary messages': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.binary, 'x'), many) },
  'tiny fragments': { code: 1008, bytes: (many) => Buffer.concat([first('x'), repeat(more('x'), many)]) },
  'empty fragments': { code: 1008, bytes: (many) => Buffer.concat([first(''), repeat(more(''), many)]) },
  'a flood of pongs': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.text, PONG), many) },
  'a flood of garbage': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.text, '{"type":[[['), many) },
  'a flood of pings of the protocol, unread': {
    code: 1013,
    bytes: (many) => repeat(clientFrame(opcodes.ping, 'x'.repeat(125)), many),
    isDeaf: true,
  },
  'a flood of pongs of the protocol': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.pong, ''), many) },
  'invalid UTF-8': { code: 1007, bytes: () => clientFrame(opcodes.text, Buffer.from([0x22, 0xc3, 0x28, 0x22])) },
  'a frame without a mask': { code: 1002, bytes: () => clientFrame(opcodes.text, PONG, { masked: false }) },
  'an unknown opcode': { code: 1002, bytes: () => clientFrame(3, PONG) },
}

/** Attacks with one client; answers how it was closed. */
export async function attack(
  base_url: string,
  path: string,
  name: string,
  many: number,
  address?: string,
): Promise<End> {
  const kind = attacks[name]
  if (!kind) throw new Error(`There is no attack named ${name}`)
  const client = new RawClient(base_url, path, address)
  // The service must know the client before its bytes count: it is let in after a look at the database.
  if (!kind.isDeaf) client.readAll()
  await (kind.isDeaf ? pause(500) : client.seated)
  client.socket.write(kind.bytes(many))
  if (kind.isDeaf) {
    await pause(500)
    client.readAll()
  }
  const timer = setTimeout(() => client.socket.destroy(), 20_000)
  const end = await client.ended
  clearTimeout(timer)
  return end
}

/** Begins a handshake and never finishes it; answers after how many milliseconds the service lets go. */
export function halfHandshake(base_url: string, path: string): Promise<number> {
  const begun = performance.now()
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(base_url).port), '127.0.0.1', () => {
      const text = handshake(path)
      socket.write(text.slice(0, text.length / 2))
    })
    socket.on('error', () => {})
    socket.resume()
    socket.on('close', () => resolve(performance.now() - begun))
  })
}

export interface Siege {
  /** For each attack how its clients were closed. */
  ends: { name: string; expected: number; codes: Record<string, number> }[]
  half_handshakes: { count: number; slowest_ms: number }
  rush: { asked: number; seconds: number; let_in: number; turned_away: number; broken: number }
  quiet: { p50: number; p99: number; most: number; held_p999: number }
  besieged: { p50: number; p99: number; most: number; held_p999: number }
  rss_growth: number
  isWhole: boolean
}

/** Every attack at once and again, while healthy viewers follow a board; the service admits few new sockets from one address. */
export async function besiege(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: {
    healthy: number
    attackers: number
    many: number
    halves: number
    rush: number
    rush_rate: number
    quiet_ms: number
  },
): Promise<Siege> {
  const { base_url } = service
  const board = await makeBoard(base_url, sql, audience)
  const target = await makeBoard(base_url, sql, audience)
  const [healthy, crowd] = [new LoadClients(), new LoadClients()]
  let isOver = false
  const sent = { quiet: new Map<number, number>(), besieged: new Map<number, number>() }
  let phase: keyof typeof sent = 'quiet'
  try {
    await healthy.open(base_url, board.paths.slice(0, size.healthy), 40)
    await healthy.until('the healthy are there', (counts) => counts.hellos === size.healthy)
    const writing = (async () => {
      while (!isOver) {
        const during = phase
        const { seq, sent_at } = await board.addCard()
        sent[during].set(seq, sent_at)
        await pause(20)
      }
    })()
    const before = await service.look()
    await pause(size.quiet_ms)
    const quiet_loop = await service.look()
    phase = 'besieged'

    const halves = Promise.all(
      Array.from({ length: size.halves }, () => halfHandshake(base_url, target.paths[0] as string)),
    )
    const ends: Siege['ends'] = []
    for (const [i, name] of Object.keys(attacks).entries()) {
      const all = await Promise.all(
        Array.from({ length: size.attackers }, (_, k) =>
          attack(base_url, target.paths[k] as string, name, size.many, `10.0.${i}.${k}`),
        ),
      )
      const codes: Record<string, number> = {}
      for (const { code } of all) codes[code] = (codes[code] ?? 0) + 1
      ends.push({ name, expected: attacks[name]?.code ?? 0, codes })
    }
    const rush_begun = performance.now()
    const rush_paths = Array.from({ length: size.rush }, (_, i) => target.paths[i % target.paths.length] as string)
    await crowd.open(base_url, rush_paths, size.rush_rate)
    const rush_seconds = (performance.now() - rush_begun) / 1_000
    const rushed = await crowd.until('the rush is over', ({ hellos, closes, broken }) => {
      return hellos + (closes['1013'] ?? 0) + broken >= size.rush
    })
    const waits = await halves
    isOver = true
    await writing
    const loop = await service.look()
    const counts = await healthy.until('the healthy have it all', ({ events }) => {
      return events === (sent.quiet.size + sent.besieged.size) * size.healthy
    })
    const measure = async (map: Map<number, number>) => {
      const { latencies } = await healthy.arrivals(map)
      return { p50: percentile(latencies, 50), p99: percentile(latencies, 99), most: latencies.at(-1) ?? 0 }
    }
    return {
      ends,
      half_handshakes: { count: waits.length, slowest_ms: Math.max(0, ...waits) },
      rush: {
        asked: size.rush,
        seconds: rush_seconds,
        let_in: rushed.hellos,
        turned_away: rushed.closes['1013'] ?? 0,
        broken: rushed.broken,
      },
      quiet: { ...(await measure(sent.quiet)), held_p999: quiet_loop.held_p999 },
      besieged: { ...(await measure(sent.besieged)), held_p999: loop.held_p999 },
      rss_growth: loop.rss - before.rss,
      isWhole: counts.gaps === 0 && counts.repeats === 0 && counts.open === size.healthy,
    }
  } finally {
    isOver = true
    await Promise.all([healthy.end(), crowd.end()])
  }
}
