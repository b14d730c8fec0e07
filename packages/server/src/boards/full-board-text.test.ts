import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { importMutated } from '@lockstep/testing/mutated-module'
import { type Random, seeded } from '@lockstep/testing/random'
import { describe, expect, test } from 'vitest'
import { deflateSegment, joinSegments } from '../platform/gzip-segments.ts'
import type { FullBoardPieces } from './full-board-queries.ts'
import { assembleBoard, type BoardSegment } from './full-board-text.ts'

interface ModelCard {
  id: string
  rank: number
  text: string
}
interface ModelColumn {
  id: string
  title: string
  cards: ModelCard[]
}
interface Model {
  title: string
  columns: ModelColumn[]
}

const cardOf = (random: Random, rank: number, id: string = randomUUID()): ModelCard => {
  const words = Array.from({ length: 1 + random.below(400) }, () => random.pick(['plan', 'ünï', '🦊', '],{"', '\\"']))
  return { id, rank, text: JSON.stringify({ id, rank, words: words.join(' ') }) }
}
const boardText = ({ title }: Model) => JSON.stringify({ title })
const columnText = ({ id, title }: ModelColumn) => JSON.stringify({ id, title })
/** The text as `json_agg` and `row_to_json` write it. */
const textOf = (model: Model) => {
  const columns = model.columns.map(
    (column) => `${columnText(column).slice(0, -1)},"cards":[${column.cards.map(({ text }) => text).join(', ')}]}`,
  )
  return `${boardText(model).slice(0, -1)},"columns":[${columns.join(', ')}]}`
}

function piecesOf(model: Model, changed?: string[]): FullBoardPieces {
  const cards = model.columns.flatMap((column) =>
    column.cards
      .filter(({ id }) => changed === undefined || changed.includes(id))
      .map((card) => ({ ...card, column_id: column.id })),
  )
  return {
    position: '1.1',
    profiles: '',
    board: boardText(model),
    columns: model.columns.map((column) => [column.id, columnText(column)]),
    changed,
    // PostgreSQL returns the cards in any order.
    cards: cards.map(({ id, column_id, rank, text }) => [id, column_id, rank, Buffer.byteLength(text)]),
    texts: cards.map(({ text }) => text).join(''),
  }
}

const sorted = (cards: ModelCard[]) => cards.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))

/** Changes the model, and returns the ids of the cards that changed. */
function change(model: Model, random: Random): string[] {
  const column = random.pick(model.columns)
  const card = random.pick(column?.cards ?? [])
  const actions: (() => string[])[] = [
    () => {
      model.title += '!'
      return []
    },
    () => {
      model.columns.splice(random.below(model.columns.length + 1), 0, { id: randomUUID(), title: 'New', cards: [] })
      return []
    },
  ]
  if (column) {
    const add = () => {
      const added = cardOf(random, random.below(10_000))
      column.cards = sorted([...column.cards, added])
      return [added.id]
    }
    actions.push(add, add, add, () => {
      column.title += '?'
      return []
    })
    actions.push(() => {
      model.columns = random.shuffled(model.columns)
      return []
    })
    if (random.below(6) === 0)
      actions.push(() => {
        model.columns = model.columns.filter((other) => other !== column)
        return []
      })
  }
  if (column && card) {
    const edit = () => {
      column.cards = sorted(column.cards.map((each) => (each === card ? cardOf(random, each.rank, each.id) : each)))
      return [card.id]
    }
    actions.push(edit, edit, () => {
      column.cards = column.cards.filter((each) => each !== card)
      return [card.id]
    })
    actions.push(() => {
      column.cards = column.cards.filter((each) => each !== card)
      const target = random.pick(model.columns)
      target.cards = sorted([...target.cards, cardOf(random, random.below(10_000), card.id)])
      return [card.id]
    })
  }
  return random.pick(actions)()
}

const gunzipped = (segments: BoardSegment[]) => gunzipSync(joinSegments(segments).bytes).toString()
const newModel = (random: Random, columns: number, cards: number): Model => ({
  title: 'Board',
  columns: Array.from({ length: columns }, (_, n) => ({
    id: n === 0 ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : randomUUID(),
    title: `Column ${n}`,
    cards: sorted(Array.from({ length: cards }, () => cardOf(random, random.below(10_000)))),
  })),
})

describe('the text of a full board', () => {
  test.each([
    ['an empty board', 0, 0],
    ['a small board', 3, 2],
    ['a board of several segments', 4, 150],
  ])(
    '[READ-8] %s that changes many times has the text that it would have if it was built',
    async (_, columns, cards) => {
      const random = seeded(columns + cards)
      const model = newModel(random, columns, cards)
      let segments = await assembleBoard([], piecesOf(model))
      expect(gunzipped(segments)).toBe(textOf(model))
      for (let step = 0; step < 150; step++) {
        const changed = Array.from({ length: 1 + random.below(4) }, () => change(model, random)).flat()
        segments = joinSegments(await assembleBoard(segments, piecesOf(model, changed))).segments
        expect(gunzipped(segments)).toBe(textOf(model))
      }
      // Segments do not fragment.
      const bytes = Buffer.byteLength(textOf(model))
      expect(segments.length).toBeLessThanOrEqual(2 + bytes / 32_768)
    },
  )

  test('[READ-8] a segment begins with a comma only if a card is before it', async () => {
    // The second column begins in a segment with many cards of the first, and all its cards there are removed.
    const newBoard = async (
      cards: number,
    ): Promise<{ model: Model; segments: BoardSegment[]; segment: BoardSegment; at: number }> => {
      const model = newModel(seeded(3), 2, cards)
      const segments = await assembleBoard([], piecesOf(model))
      for (const segment of segments.slice(1, -1))
        for (const at of segment.frames.keys())
          if (segment.lengths.subarray(0, at).reduce((sum, bytes) => sum + bytes, 0) > 40_000)
            return { model, segments, segment, at }
      return newBoard(cards + 1)
    }
    const { model, segments, segment, at } = await newBoard(150)
    const second = model.columns[1] as ModelColumn
    const removed = second.cards.splice(0, segment.lengths.length - at - 1)
    expect(removed.length).toBeGreaterThan(0)
    const pieces = piecesOf(
      model,
      removed.map(({ id }) => id),
    )
    expect(gunzipped(await assembleBoard(segments, pieces))).toBe(textOf(model))
    const root = fileURLToPath(new URL('../', import.meta.url))
    const file = 'boards/full-board-text.ts'
    const mutated = await importMutated<{ assembleBoard: typeof assembleBoard }>(root, ['boards', 'platform'], file, [
      [file, 'segment.followsCard === isCard(pieces[at - 1]) &&', ''],
    ])
    expect(gunzipped(await mutated.assembleBoard(segments, pieces))).not.toBe(textOf(model))
  })

  test('[READ-8] one changed card rewrites one segment', async () => {
    const random = seeded(1)
    const model = newModel(random, 3, 300)
    let segments = await assembleBoard([], piecesOf(model))
    expect(segments.length).toBeGreaterThan(8)
    for (let step = 0; step < 30; step++) {
      const column = random.pick(model.columns)
      const nth = random.below(column.cards.length)
      const { id, rank } = column.cards[nth] as ModelCard
      column.cards[nth] = cardOf(random, rank, id)
      const next = await assembleBoard(segments, piecesOf(model, [id]))
      expect(next.filter((segment) => !segments.includes(segment)).length).toBeLessThanOrEqual(2)
      expect(gunzipped(next)).toBe(textOf(model))
      segments = next
    }
  })

  test('[READ-8] in segments it compresses almost as well as in one piece', async () => {
    const model = newModel(seeded(2), 3, 300)
    const whole = joinSegments([await deflateSegment(Buffer.from(textOf(model)))]).bytes
    const { bytes } = joinSegments(await assembleBoard([], piecesOf(model)))
    expect(bytes.length).toBeLessThan(1.1 * whole.length)
  })
})
