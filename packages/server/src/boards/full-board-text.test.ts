import { randomUUID } from 'node:crypto'
import { type Random, seeded } from '@lockstep/testing/random'
import { expect, test } from 'vitest'
import type { FullBoardPieces } from './full-board-queries.ts'
import { joinBoard } from './full-board-text.ts'

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

const newModel = (random: Random, columns: number, cards: number): Model => ({
  title: 'Board',
  columns: Array.from({ length: columns }, (_, n) => ({
    id: n === 0 ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : randomUUID(),
    title: `Column ${n}`,
    cards: sorted(Array.from({ length: cards }, () => cardOf(random, random.below(10_000)))),
  })),
})

test.each([
  ['an empty board', 0, 0],
  ['a small board', 3, 2],
  ['a large board', 4, 150],
])('[READ-8] %s that changes many times has the text that it would have if it was built', (_, columns, cards) => {
  const random = seeded(columns + cards)
  const model = newModel(random, columns, cards)
  let board = joinBoard(undefined, piecesOf(model))
  expect(board.text.toString()).toBe(textOf(model))
  for (let step = 0; step < 150; step++) {
    const changed = Array.from({ length: 1 + random.below(4) }, () => change(model, random)).flat()
    board = joinBoard(board, piecesOf(model, changed))
    expect(board.text.toString()).toBe(textOf(model))
  }
})
