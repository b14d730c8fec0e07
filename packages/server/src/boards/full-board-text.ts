import { hash } from 'node:crypto'
import { deflateSegment, type GzipSegment, inflateSegment } from '../platform/gzip-segments.ts'
import type { FullBoardPieces } from './full-board-queries.ts'

/** A part of the text of a full board, with an index of the cards in it. */
export interface BoardSegment extends GzipSegment {
  /** Of each piece: the id (of the card or column), the rank, and the size of its text. */
  ids: Buffer
  ranks: Float64Array
  lengths: Uint32Array
  /** Pieces that are not cards, by their place in the segment, with a hash of their text. */
  frames: Map<number, string>
  /** Whether the piece before the segment is a card: then a first card begins with a comma. */
  followsCard: boolean
}

/** Segments are rewritten as a whole. Smaller ones compress worse, larger ones take longer to rewrite. */
const SEGMENT_BYTES = 65_536
/** Smaller segments are joined with their neighbours when the board changes. */
const MIN_SEGMENT_BYTES = SEGMENT_BYTES / 2
const ID_BYTES = 16
/** Memory of a segment beside its buffers. */
const OVERHEAD_BYTES = 1_000
const FRAME_BYTES = 150

/** How much memory the index takes. The compressed text is counted by its owner. */
export const indexBytes = (segments: readonly BoardSegment[]) =>
  segments.reduce(
    (sum, { ids, ranks, lengths, frames }) =>
      sum + OVERHEAD_BYTES + ids.length + ranks.byteLength + lengths.byteLength + frames.size * FRAME_BYTES,
    0,
  )

/**
 * A card, or a frame: what is before, between and after the cards of the columns. It has its text, or its place in a segment.
 */
interface Piece {
  id: string
  rank: number
  length: number
  /** Only of frames. */
  hash?: string | undefined
  text?: Buffer
  segment?: BoardSegment
  index: number
  start: number
}

const SEPARATOR = Buffer.from(', ')
/** The id of the frames that belong to no column. */
const NO_COLUMN = '0'.repeat(2 * ID_BYTES)
const hexOf = (uuid: string) => uuid.replaceAll('-', '')

/**
 * The text of a full board in segments: all pieces as PostgreSQL wrote them, in the order and with the punctuation that
 * `json_agg` would give them. Segments of `previous` in which nothing changed are used again.
 */
export function assembleBoard(
  previous: readonly BoardSegment[],
  { board, columns, changed, cards, texts }: FullBoardPieces,
): Promise<BoardSegment[]> {
  const old = unchangedPieces(previous, new Set(changed?.map(hexOf)))
  const added = addedByColumn(cards, Buffer.from(texts))
  const pieces = [frame(old.first, NO_COLUMN, `${withoutEnd(board)},"columns":[`)]
  for (const [nth, [uuid, text]] of columns.entries()) {
    const id = hexOf(uuid)
    const known = old.columns.get(id)
    pieces.push(frame(known?.frame, id, `${nth > 0 ? ']}, ' : ''}${withoutEnd(text)},"cards":[`))
    const [kept, fresh] = [known?.cards ?? [], added.get(id)]
    for (const card of fresh ? [...kept, ...fresh].sort(byRank) : kept) pieces.push(card)
  }
  pieces.push(frame(old.last, NO_COLUMN, columns.length > 0 ? ']}]}' : ']}'))
  return pack(pieces)
}

/** A frame with this text: the old one, if it has not changed. */
function frame(old: Piece | undefined, id: string, text: string): Piece {
  const hashed = hash('sha1', text, 'base64')
  if (old?.hash === hashed) return old
  const bytes = Buffer.from(text)
  return { id, rank: 0, length: bytes.length, hash: hashed, text: bytes, index: 0, start: 0 }
}

const withoutEnd = (json: string) => json.slice(0, -1)
const byRank = (a: Piece, b: Piece) => a.rank - b.rank || (a.id < b.id ? -1 : 1)

/** The frames, and the cards of each column except those that changed. */
function unchangedPieces(segments: readonly BoardSegment[], changed: ReadonlySet<string>) {
  const pieces = segments.flatMap(piecesOf)
  const [first, last] = [pieces.shift(), pieces.pop()]
  const columns = new Map<string, { frame: Piece; cards: Piece[] }>()
  let cards: Piece[] = []
  for (const piece of pieces) {
    if (isCard(piece)) {
      if (!changed.has(piece.id)) cards.push(piece)
    } else {
      cards = []
      columns.set(piece.id, { frame: piece, cards })
    }
  }
  return { first, last, columns }
}

function piecesOf(segment: BoardSegment): Piece[] {
  const ids = segment.ids.toString('hex')
  let isAfterCard = segment.followsCard
  let end = 0
  return Array.from(segment.lengths, (length, index) => {
    const isCard = !segment.frames.has(index)
    const start = isCard && isAfterCard ? end + SEPARATOR.length : end
    end = start + length
    isAfterCard = isCard
    const id = ids.slice(2 * ID_BYTES * index, 2 * ID_BYTES * (index + 1))
    return { id, rank: segment.ranks[index] as number, length, hash: segment.frames.get(index), segment, index, start }
  })
}

function addedByColumn(cards: FullBoardPieces['cards'], texts: Buffer): Map<string, Piece[]> {
  const added = new Map<string, Piece[]>()
  let start = 0
  for (const [uuid, column_id, rank, length] of cards) {
    const text = texts.subarray(start, start + length)
    start += length
    const piece = { id: hexOf(uuid), rank, length, text, index: 0, start: 0 }
    const column = added.get(hexOf(column_id))
    if (column) column.push(piece)
    else added.set(hexOf(column_id), [piece])
  }
  return added
}

/** Divides the pieces into segments. A segment stays as it is if all its pieces follow each other as before. */
async function pack(pieces: readonly Piece[]): Promise<BoardSegment[]> {
  const segments: BoardSegment[] = []
  const inflate = inflateOnce()
  let start = 0
  const rewriteUntil = async (end: number) => {
    for (const part of split(pieces.slice(start, end))) {
      segments.push(await segmentOf(part, isCard(pieces[start - 1]), inflate))
      start += part.length
    }
  }
  let bytes = 0
  for (let at = 0; at < pieces.length; ) {
    const { segment, length } = pieces[at] as Piece
    if (segment && (bytes === 0 || bytes >= MIN_SEGMENT_BYTES) && isIntact(segment, pieces, at)) {
      await rewriteUntil(at)
      segments.push(segment)
      at += segment.lengths.length
      start = at
      bytes = 0
    } else {
      bytes += length
      at++
    }
  }
  await rewriteUntil(pieces.length)
  return segments
}

const isCard = (piece: Piece | undefined) => piece !== undefined && piece.hash === undefined

const isIntact = (segment: BoardSegment, pieces: readonly Piece[], at: number) =>
  segment.followsCard === isCard(pieces[at - 1]) &&
  segment.lengths.every((_, i) => pieces[at + i]?.segment === segment && pieces[at + i]?.index === i)

/** Parts of equal size, between one and two times the usual size of a segment, so that a small change does not move their limits. */
function split(pieces: readonly Piece[]): Piece[][] {
  const total = pieces.reduce((sum, { length }) => sum + length, 0)
  const partBytes = total / Math.max(1, Math.floor(total / SEGMENT_BYTES))
  const parts: Piece[][] = []
  let bytes = 0
  for (const piece of pieces) {
    // The middle of the piece decides, so that no part is empty or has only what rounding left.
    const nth = Math.floor((bytes + piece.length / 2) / partBytes)
    bytes += piece.length
    const part = parts[parts.length - 1]
    if (part && nth < parts.length) part.push(piece)
    else parts.push([piece])
  }
  return parts
}

async function segmentOf(
  pieces: readonly Piece[],
  followsCard: boolean,
  inflate: (segment: BoardSegment) => Promise<Buffer>,
): Promise<BoardSegment> {
  const texts: Buffer[] = []
  let isAfterCard = followsCard
  for (const piece of pieces) {
    if (isAfterCard && isCard(piece)) texts.push(SEPARATOR)
    isAfterCard = isCard(piece)
    const { text, segment, start, length } = piece
    texts.push(text ?? (await inflate(segment as BoardSegment)).subarray(start, start + length))
  }
  // Not from the pool of small buffers, which would hold a whole slab.
  const ids = Buffer.allocUnsafeSlow(ID_BYTES * pieces.length)
  ids.write(pieces.map(({ id }) => id).join(''), 'hex')
  return {
    ...(await deflateSegment(Buffer.concat(texts))),
    ids,
    ranks: Float64Array.from(pieces, ({ rank }) => rank),
    lengths: Uint32Array.from(pieces, ({ length }) => length),
    frames: new Map(pieces.flatMap(({ hash }, i) => (hash === undefined ? [] : [[i, hash]]))),
    followsCard,
  }
}

/** Several pieces of a segment share its text. */
function inflateOnce() {
  const texts = new Map<BoardSegment, Promise<Buffer>>()
  return (segment: BoardSegment) => {
    const text = texts.get(segment) ?? inflateSegment(segment)
    texts.set(segment, text)
    return text
  }
}
