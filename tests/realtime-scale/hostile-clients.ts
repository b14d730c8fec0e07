import { setTimeout as pause } from 'node:timers/promises'
import { type Audience, makeBoard, type ProbedService } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'
import { type CloseResult, clientFrame, opcodes, RawClient } from './raw-client.ts'

const repeat = (frame: Buffer, times: number) => Buffer.alloc(frame.length * times, frame)
const PONG = '{"type":"pong"}'
const first = (content: string) => clientFrame(opcodes.text, content, { fin: false })
const more = (content: string) => clientFrame(opcodes.more, content, { fin: false })

/** What a hostile client sends, and the close code it must get. `many` is the number of repetitions in a flood. */
export const attacks: Record<string, { code: number; bytes: (many: number) => Buffer; isNotReading?: true }> = {
  'a text of 70,000 bytes': { code: 1009, bytes: () => clientFrame(opcodes.text, 'x'.repeat(70_000)) },
  'a length of a terabyte': { code: 1009, bytes: () => Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]) },
  'a flood of binary messages': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.binary, 'x'), many) },
  'tiny fragments': { code: 1008, bytes: (many) => Buffer.concat([first('x'), repeat(more('x'), many)]) },
  'empty fragments': { code: 1008, bytes: (many) => Buffer.concat([first(''), repeat(more(''), many)]) },
  'a flood of pongs': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.text, PONG), many) },
  'a flood of garbage': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.text, '{"type":[[['), many) },
  'a flood of ping frames without reading the pongs': {
    code: 1013,
    bytes: (many) => repeat(clientFrame(opcodes.ping, 'x'.repeat(125)), many),
    isNotReading: true,
  },
  'a flood of pong frames': { code: 1013, bytes: (many) => repeat(clientFrame(opcodes.pong, ''), many) },
  'invalid UTF-8': { code: 1007, bytes: () => clientFrame(opcodes.text, Buffer.from([0x22, 0xc3, 0x28, 0x22])) },
  'a frame without a mask': { code: 1002, bytes: () => clientFrame(opcodes.text, PONG, { masked: false }) },
  'an unknown opcode': { code: 1002, bytes: () => clientFrame(3, PONG) },
}

/** Runs one attack with one client, and returns how it was closed. */
async function attack(
  baseUrl: string,
  path: string,
  name: string,
  many: number,
  address?: string,
): Promise<CloseResult> {
  const kind = attacks[name]
  if (!kind) throw new Error(`There is no attack named ${name}`)
  const client = new RawClient(baseUrl, path, address)
  // The service reads frames only after the access check in the database.
  if (!kind.isNotReading) client.readAll()
  await (kind.isNotReading ? pause(500) : client.joined)
  client.socket.write(kind.bytes(many))
  if (kind.isNotReading) {
    await pause(500)
    client.readAll()
  }
  const timer = setTimeout(() => client.socket.destroy(), 20_000)
  const result = await client.closed
  clearTimeout(timer)
  return result
}

export interface AttackResult {
  /** How the clients of each attack were closed. */
  ends: { name: string; expected: number; codes: Record<string, number> }[]
  rush: { accepted: number; rejected: number; broken: number }
  memoryGrowth: number
  isComplete: boolean
}

/** Runs every attack, then opens more connections than an address may, while healthy clients follow another board. */
export async function attackWithAll(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { healthy: number; attackers: number; many: number; rush: number; rushRate: number },
): Promise<AttackResult> {
  const { baseUrl } = service
  const board = await makeBoard(baseUrl, sql, audience)
  const target = await makeBoard(baseUrl, sql, audience)
  const [healthy, rushing] = [new LoadClients(), new LoadClients()]
  let [isOver, written] = [false, 0]
  try {
    await healthy.open(baseUrl, board.paths.slice(0, size.healthy), 40)
    await healthy.until('the healthy clients are connected', (counts) => counts.hellos === size.healthy)
    const writing = (async () => {
      while (!isOver) {
        await board.addCard()
        written++
        await pause(20)
      }
    })()
    const before = await service.look()
    const ends: AttackResult['ends'] = []
    for (const [i, name] of Object.keys(attacks).entries()) {
      const all = await Promise.all(
        Array.from({ length: size.attackers }, (_, k) =>
          attack(baseUrl, target.paths[k] as string, name, size.many, `10.0.${i}.${k}`),
        ),
      )
      const codes: Record<string, number> = {}
      for (const { code } of all) codes[code] = (codes[code] ?? 0) + 1
      ends.push({ name, expected: attacks[name]?.code ?? 0, codes })
    }
    const rushPaths = Array.from({ length: size.rush }, (_, i) => target.paths[i % target.paths.length] as string)
    await rushing.open(baseUrl, rushPaths, size.rushRate)
    const rushed = await rushing.until('the rush is over', ({ hellos, closes, broken }) => {
      return hellos + (closes['1013'] ?? 0) + broken >= size.rush
    })
    isOver = true
    await writing
    const after = await service.look()
    const counts = await healthy.until(
      'the healthy clients have every event',
      ({ events }) => events === written * size.healthy,
    )
    return {
      ends,
      rush: { accepted: rushed.hellos, rejected: rushed.closes['1013'] ?? 0, broken: rushed.broken },
      memoryGrowth: after.rss - before.rss,
      isComplete: counts.gaps === 0 && counts.repeats === 0 && counts.open === size.healthy,
    }
  } finally {
    isOver = true
    await Promise.all([healthy.end(), rushing.end()])
  }
}
