import { test as always, fc } from '@fast-check/vitest'
import { expect, test } from 'vitest'
import { Multipart } from './multipart.ts'

interface Part {
  name: string
  content: Buffer
}

const write = (parts: Part[], boundary: string) =>
  Buffer.concat([
    ...parts.flatMap(({ name, content }) => [Buffer.from(`--${boundary}\r\nX-Name: ${name}\r\n\r\n`), content, CRLF]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
const CRLF = Buffer.from('\r\n')

/** Parses a body that arrives in chunks, cut at these offsets. Skipped parts are not read. */
async function read(body: Buffer, cuts: number[], boundary: string, isSkipped: (nth: number) => boolean = () => false) {
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)), body.length].toSorted((a, b) => a - b)
  const pieces = places.slice(1).map((end, i) => body.subarray(places[i], end))
  async function* arriving() {
    for (const piece of pieces) yield piece
  }
  const form = new Multipart(arriving(), boundary)
  const parts: Part[] = []
  for (let nth = 0; ; nth++) {
    const headers = await form.next()
    if (!headers) return parts
    const content: Buffer[] = []
    if (!isSkipped(nth)) for await (const piece of form.content()) content.push(piece)
    parts.push({ name: headers.get('x-name') ?? '', content: Buffer.concat(content) })
  }
}

const boundaries = fc.string({ unit: fc.constantFrom('-', 'a', "'"), minLength: 1, maxLength: 70 })
const cuts = fc.array(fc.nat(), { maxLength: 30 })
/** Content made of the characters of a delimiter, and of delimiters with one byte missing or wrong. */
const contents = (boundary: string) => {
  const delimiter = `\r\n--${boundary}`
  const near = fc
    .nat({ max: delimiter.length - 1 })
    .chain((at) =>
      fc.constantFrom(
        delimiter.slice(0, at),
        delimiter.slice(at),
        `${delimiter.slice(0, at)}x${delimiter.slice(at + 1)}`,
        '\r\n--',
        '\r',
        '\n',
        '--',
        '\r\n\r\n',
      ),
    )
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))
  return (
    fc
      .array(
        fc.oneof(
          near.map((text) => Buffer.from(text)),
          bytes,
        ),
        { maxLength: 8 },
      )
      .map((some) => Buffer.concat(some))
      // Content with the delimiter itself cannot be sent under this boundary.
      .filter((content) => !Buffer.concat([CRLF, content, CRLF]).includes(delimiter))
  )
}
const forms = boundaries.chain((boundary) =>
  fc.record({
    boundary: fc.constant(boundary),
    parts: fc.array(fc.record({ name: fc.stringMatching(/^[a-z]{0,8}$/), content: contents(boundary) }), {
      maxLength: 6,
    }),
    cuts,
    skipped: fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
  }),
)

always.prop([forms])(
  '[ATT-4] for any parts and any chunk boundaries, the parsed parts equal the sent ones',
  async ({ boundary, parts, cuts: places }) => {
    expect(await read(write(parts, boundary), places, boundary)).toEqual(parts)
  },
)

always.prop([forms])(
  '[ATT-3] a part that is not read does not affect the others',
  async ({ boundary, parts, cuts: places, skipped }) => {
    const isSkipped = (nth: number) => skipped.includes(nth)
    const expected = parts.map((part, nth) => (isSkipped(nth) ? { ...part, content: Buffer.alloc(0) } : part))
    expect(await read(write(parts, boundary), places, boundary, isSkipped)).toEqual(expected)
  },
)

always.prop([forms, fc.nat()])(
  '[ATT-3] a body that ends too early is rejected, and never parsed as a shorter one',
  async ({ boundary, parts, cuts: places }, end) => {
    const body = write(parts, boundary)
    // The final line break may be missing.
    const short = body.subarray(0, end % (body.length - 2))
    await expect(read(short, places, boundary)).rejects.toMatchObject({ code: 'invalid_input' })
  },
)

test('[ATT-4] a body that arrives byte by byte gives the same result', async () => {
  const parts = [{ name: 'a', content: Buffer.from('\r\n--boundar\r\n--\r\r\n--bound') }]
  const body = write(parts, 'boundary')
  expect(await read(body, Array.from(body.keys()), 'boundary')).toEqual(parts)
})
