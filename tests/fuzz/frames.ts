import type { Random } from '@lockstep/testing/random'
import type { Schema } from './document.ts'
import { KnownResources } from './known-resources.ts'
import { jsonText, spoilJson, textsOf, validFields } from './values.ts'

/** A valid or broken frame, and the allowed close codes. None: the socket stays open. */
export interface FuzzFrame {
  bytes: Buffer
  codes: readonly number[]
  what: string
}
const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
interface Shape {
  opcode: number
  fin?: boolean
  /** The three reserved bits. */
  reserved?: number
  masked?: boolean
  mask?: Buffer
  /** The length as it is claimed, and in how many bytes, when it is not the plain truth. */
  length?: { value: number; size: 0 | 2 | 8 }
}

/** A frame of any shape. */
export function frameOf(
  content: Buffer,
  { opcode, fin = true, reserved = 0, masked = true, mask, length }: Shape,
): Buffer {
  const key = mask ?? Buffer.alloc(4)
  const { value, size } = length ?? {
    value: content.length,
    size: content.length < 126 ? 0 : content.length < 65_536 ? 2 : 8,
  }
  const head = Buffer.alloc(2 + size)
  head[0] = (fin ? 0x80 : 0) | (reserved << 4) | opcode
  head[1] = (masked ? 0x80 : 0) | (size === 0 ? value : size === 2 ? 126 : 127)
  if (size === 2) head.writeUInt16BE(value, 2)
  if (size === 8) head.writeBigUInt64BE(BigInt(value), 2)
  const body = masked ? Buffer.from(content.map((byte, i) => byte ^ (key[i % 4] as number))) : content
  return Buffer.concat([head, ...(masked ? [key] : []), body])
}

const bytesOf = (random: Random, length: number) => Buffer.from(Array.from({ length }, () => random.below(256)))
const invalidTexts = [[0xc3, 0x28], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]

/** The kinds of frames, with their weights. */
const kinds: [weight: number, make: (random: Random, text: () => Buffer) => FuzzFrame][] = [
  [170, (random, text) => plain('a message', text(), opcodes.text, random)],
  [20, (random) => plain('a ping', bytesOf(random, random.below(126)), opcodes.ping, random)],
  [15, (random) => plain('a pong', bytesOf(random, random.below(126)), opcodes.pong, random)],
  [30, (random, text) => pieces('a message in pieces', text(), random)],
  [3, (random) => closing('a farewell', random, [1000, 1001, 1003, 1007, 1008, 1009, 1011, 3000, 4999], 'echo')],
  [
    2,
    (random) =>
      closing(
        'a farewell with a code that is none',
        random,
        [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535],
        [1002],
      ),
  ],
  [
    1,
    () => ({
      what: 'a farewell without a code',
      bytes: frameOf(Buffer.alloc(0), { opcode: opcodes.close }),
      codes: [1005, 1000],
    }),
  ],
  [1, () => ({ what: 'half a code', bytes: frameOf(Buffer.from([3]), { opcode: opcodes.close }), codes: [1002] })],
  [
    2,
    (random) => ({
      what: 'a reason that is no text',
      bytes: frameOf(Buffer.from([3, 232, ...random.pick(invalidTexts)]), { opcode: opcodes.close }),
      codes: [1007],
    }),
  ],
  [20, (random) => plain('a binary message', bytesOf(random, random.below(50)), opcodes.binary, random)],
  [
    3,
    (random, text) =>
      wrong(
        'an unknown opcode',
        text().subarray(0, 100),
        { opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) },
        [1002],
      ),
  ],
  [
    3,
    (random, text) =>
      wrong(
        'reserved bits',
        text().subarray(0, 100),
        { opcode: random.pick([1, 8, 9]), reserved: 1 + random.below(7) },
        [1002],
      ),
  ],
  [3, (_, text) => wrong('no mask', text(), { opcode: opcodes.text, masked: false }, [1002])],
  [
    3,
    (random) =>
      wrong(
        'a ping that is too long',
        bytesOf(random, 126 + random.below(200)),
        { opcode: random.pick([8, 9, 10]) },
        [1002],
      ),
  ],
  [2, (random) => wrong('a ping in pieces', Buffer.alloc(0), { opcode: random.pick([8, 9, 10]), fin: false }, [1002])],
  [
    2,
    (random) =>
      wrong('more of nothing', bytesOf(random, 5), { opcode: opcodes.more, fin: random.below(2) === 0 }, [1002]),
  ],
  [
    3,
    (random) =>
      wrong(
        'a text that is none',
        Buffer.concat([Buffer.from('"'), Buffer.from(random.pick(invalidTexts)), Buffer.from('"')]),
        { opcode: opcodes.text },
        [1007],
      ),
  ],
  [
    2,
    (random) => wrong('too long', Buffer.alloc(random.pick([65_537, 70_000]), 'x'), { opcode: opcodes.text }, [1009]),
  ],
  [
    2,
    (random) =>
      wrong(
        'a length that is a lie',
        Buffer.from('x'),
        { opcode: opcodes.text, length: { value: random.pick([65_537, 2 ** 32, 2 ** 52]), size: 8 } },
        [1009],
      ),
  ],
  [
    1,
    () =>
      wrong(
        'a length past all numbers',
        Buffer.from('x'),
        { opcode: opcodes.text, length: { value: 2 ** 60, size: 8 } },
        [1009, 1002],
      ),
  ],
  [
    2,
    (random) => {
      const first = frameOf(Buffer.from('"a'), { opcode: opcodes.text, fin: false })
      return {
        what: 'a message within another',
        bytes: Buffer.concat([first, frameOf(bytesOf(random, 3), { opcode: opcodes.text })]),
        codes: [1002],
      }
    },
  ],
  [
    1,
    () => ({
      what: 'too long in pieces',
      bytes: Buffer.concat([
        frameOf(Buffer.alloc(40_000, 'x'), { opcode: opcodes.text, fin: false }),
        frameOf(Buffer.alloc(40_000, 'x'), { opcode: opcodes.more }),
      ]),
      codes: [1009],
    }),
  ],
  [2, (random) => ({ what: 'noise', bytes: bytesOf(random, 2 + random.below(60)), codes: ANY })],
]
/** Noise may mean anything, also the beginning of a frame that never ends. */
export const ANY: readonly number[] = [0, 1000, 1002, 1005, 1007, 1008, 1009]
const byWeight = kinds.flatMap(([weight, make]) => Array<typeof make>(weight).fill(make))

function plain(what: string, content: Buffer, opcode: number, random: Random): FuzzFrame {
  return { what, bytes: frameOf(content, { opcode, mask: bytesOf(random, 4) }), codes: [] }
}
const wrong = (what: string, content: Buffer, shape: Shape, codes: readonly number[]): FuzzFrame => ({
  what,
  bytes: frameOf(content, shape),
  codes,
})

function pieces(what: string, content: Buffer, random: Random): FuzzFrame {
  const [a = 0, b = 0] = [random.below(content.length + 1), random.below(content.length + 1)].sort((x, y) => x - y)
  const parts = [content.subarray(0, a), content.subarray(a, b), content.subarray(b)]
  const frames = parts.map((part, i) =>
    frameOf(part, { opcode: i === 0 ? opcodes.text : opcodes.more, fin: i === 2, mask: bytesOf(random, 4) }),
  )
  // A ping may arrive in between.
  if (random.below(2) === 0) frames.splice(1, 0, frameOf(Buffer.from('x'), { opcode: opcodes.ping }))
  return { what, bytes: Buffer.concat(frames), codes: [] }
}

function closing(what: string, random: Random, all: number[], response: 'echo' | number[]): FuzzFrame {
  const code = random.pick(all)
  const reason = Buffer.from('x'.repeat(random.below(124)))
  const content = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), reason])
  return { what, bytes: frameOf(content, { opcode: opcodes.close }), codes: response === 'echo' ? [code] : response }
}

/** A frame by chance. Its text is a message of the document, whole or spoilt. */
export function makeFrame(schemas: readonly Schema[], random: Random): FuzzFrame {
  const text = () => {
    const schema = random.pick(schemas)
    const place = { known: NOBODY, board: undefined, random }
    const fields = textsOf(validFields(schema, place))
    const message = random.below(4) > 0 ? jsonText(fields) : spoilJson(schema, fields, random)
    return Buffer.from(message.slice(0, 6_000))
  }
  return random.pick(byWeight)(random, text)
}
const NOBODY = new KnownResources()
