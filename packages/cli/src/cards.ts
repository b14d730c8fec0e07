import { type Command, type Context, textOption } from './command.ts'
import { wrongUsage } from './failure.ts'
import { findCard, findColumn, loadBoard, pick } from './find.ts'
import { harmless } from './terminal.ts'

const places = { after: { type: 'string' }, position: { type: 'string' } } as const

export const add: Command = {
  summary: 'a new card',
  usage: '<board> <column> <title>',
  options: { description: { type: 'string' } },
  help: `  --description <text>   what else there is to say

  The card comes last in its column.`,
  async run(context) {
    const [board_word = '', column_word = '', title = ''] = context.args
    const client = context.client()
    const board = await loadBoard(client, board_word)
    const column = findColumn(board, column_word)
    const description = textOption(context, 'description') ?? null
    const card = await client.createCard({ board_id: board.id, column_id: column.id, title, description })
    context.print(card, `Added “${harmless(title)}” to ${harmless(column.title)}. ${context.paint('dim', card.id)}`)
  },
}

export const move: Command = {
  summary: 'a card to another place',
  usage: '<card> <column> [--after <card> | --position <n>]',
  options: { ...places, board: { type: 'string' } },
  help: `  --after <card>    below this card of the column
  --position <n>    so many cards stand above it: 0 is the top
  --board <board>   looks for the card on this board only, which is faster when you have many

  Without a place the card comes last.`,
  async run(context) {
    const [card_word = '', column_word = ''] = context.args
    const position = positionOf(context)
    const client = context.client()
    const { card, board } = await findCard(client, card_word, textOption(context, 'board'))
    const column = findColumn(board, column_word)
    const after = textOption(context, 'after')
    const anchor = after === undefined ? undefined : pick(`card in ${harmless(column.title)}`, after, column.cards)
    const moved = await client.moveCard({
      card_id: card.id,
      column_id: column.id,
      ...(anchor && { after_id: anchor.id }),
      ...(position !== undefined && { position }),
    })
    // A rule of the board may have moved it on.
    const at = board.columns.find(({ id }) => id === moved.column_id) ?? column
    const by_rule = at.id === column.id ? '' : ', where a rule of the board put it'
    context.print(moved, `Moved “${harmless(moved.title)}” to ${harmless(at.title)}${by_rule}.`)
  },
}

function positionOf(context: Context): number | undefined {
  const text = textOption(context, 'position')
  if (text === undefined) return undefined
  if (textOption(context, 'after') !== undefined) throw wrongUsage('A place is --after or --position, not both.')
  if (!/^\d{1,9}$/.test(text)) throw wrongUsage('--position is a number: 0 is the top.')
  return Number(text)
}
