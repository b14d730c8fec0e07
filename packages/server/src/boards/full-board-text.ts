import type { FullBoardPieces } from './full-board-queries.ts'

/** Where the text of a card is. */
export interface CardPlace {
  id: string
  column_id: string
  rank: number
  start: number
  length: number
}
/** The text of a full board, and the cards in it. */
export interface BoardText {
  text: Buffer
  places: CardPlace[]
}
interface Card extends CardPlace {
  source: Buffer
}

const SEPARATOR = Buffer.from(', ')
/** Memory of one place. */
const PLACE_BYTES = 200
export const placesBytes = (places: readonly CardPlace[]) => places.length * PLACE_BYTES

/**
 * Joins what PostgreSQL wrote with the unchanged cards of the text before, in the order and with the punctuation that `json_agg`
 * would give them.
 */
export function joinBoard(previous: BoardText | undefined, pieces: FullBoardPieces): BoardText {
  const cards = cardsByColumn(previous, pieces)
  const parts: Buffer[] = []
  const places: CardPlace[] = []
  let end = 0
  const add = (part: Buffer) => {
    parts.push(part)
    end += part.length
  }
  add(Buffer.from(`${withoutEnd(pieces.board)},"columns":[`))
  for (const [nth, [column_id, text]] of pieces.columns.entries()) {
    add(Buffer.from(`${nth > 0 ? ', ' : ''}${withoutEnd(text)},"cards":[`))
    const ofColumn = cards.get(column_id) ?? []
    for (const [i, { id, rank, start, length, source }] of ofColumn.sort(byRank).entries()) {
      if (i > 0) add(SEPARATOR)
      places.push({ id, column_id, rank, start: end, length })
      add(source.subarray(start, start + length))
    }
    add(Buffer.from(']}'))
  }
  add(Buffer.from(']}'))
  return { text: Buffer.concat(parts, end), places }
}

function cardsByColumn(previous: BoardText | undefined, { changed, cards, texts }: FullBoardPieces) {
  const written = Buffer.from(texts)
  const changedIds = new Set(changed)
  const unchanged = previous?.places.filter(({ id }) => !changedIds.has(id)) ?? []
  let start = 0
  const all: Card[] = unchanged.map((place) => ({ ...place, source: previous?.text as Buffer }))
  for (const [id, column_id, rank, length] of cards) {
    all.push({ id, column_id, rank, start, length, source: written })
    start += length
  }
  return Map.groupBy(all, ({ column_id }) => column_id)
}

const withoutEnd = (json: string) => json.slice(0, -1)
const byRank = (a: CardPlace, b: CardPlace) => a.rank - b.rank || (a.id < b.id ? -1 : 1)
