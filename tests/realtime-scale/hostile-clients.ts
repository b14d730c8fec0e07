import { setTimeout as pause } from 'node:timers/promises'
import { type Audience, makeBoard, type ProbedService } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'
import { clientFrame, type End, opcodes, RawClient } from './raw-client.ts'

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

/** Attacks with one client; returns how it was closed. */
async function attack(base_url: string, path: string, name: string, many: number, address?: string): Promise<End> {
  const kind = attacks[name]
  if (!kind) throw new Error(`There is no attack named ${name}`)
  const client = new RawClient(base_url, path, address)
  // The service reads frames only after the access check in the database.
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

export interface Siege {
  /** For each attack how its clients were closed. */
  ends: { name: string; expected: number; codes: Record<string, number> }[]
  rush: { accepted: number; rejected: number; broken: number }
  rss_growth: number
  isWhole: boolean
}

/** Every attack in turn, then more connections than an address may open, while healthy viewers follow another board. */
export async function besiege(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { healthy: number; attackers: number; many: number; rush: number; rush_rate: number },
): Promise<Siege> {
  const { base_url } = service
  const board = await makeBoard(base_url, sql, audience)
  const target = await makeBoard(base_url, sql, audience)
  const [healthy, rushing] = [new LoadClients(), new LoadClients()]
  let [isOver, written] = [false, 0]
  try {
    await healthy.open(base_url, board.paths.slice(0, size.healthy), 40)
    await healthy.until('the healthy are there', (counts) => counts.hellos === size.healthy)
    const writing = (async () => {
      while (!isOver) {
        await board.addCard()
        written++
        await pause(20)
      }
    })()
    const before = await service.look()
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
    const rush_paths = Array.from({ length: size.rush }, (_, i) => target.paths[i % target.paths.length] as string)
    await rushing.open(base_url, rush_paths, size.rush_rate)
    const rushed = await rushing.until('the rush is over', ({ hellos, closes, broken }) => {
      return hellos + (closes['1013'] ?? 0) + broken >= size.rush
    })
    isOver = true
    await writing
    const after = await service.look()
    const counts = await healthy.until('the healthy have it all', ({ events }) => events === written * size.healthy)
    return {
      ends,
      rush: { accepted: rushed.hellos, rejected: rushed.closes['1013'] ?? 0, broken: rushed.broken },
      rss_growth: after.rss - before.rss,
      isWhole: counts.gaps === 0 && counts.repeats === 0 && counts.open === size.healthy,
    }
  } finally {
    isOver = true
    await Promise.all([healthy.end(), rushing.end()])
  }
}
