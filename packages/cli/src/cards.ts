import { dateWords, localDay, parseDay } from '@lockstep/client/days'
import { type Command, type Context, textOption } from './command.ts'
import { wrongUsage } from './failure.ts'
import { findCard, findColumn, loadBoard, pick } from './find.ts'
import { escapeControlChars } from './terminal.ts'

const positionOptions = { after: { type: 'string' }, position: { type: 'string' } } as const

export const add: Command = {
  summary: 'add a card',
  usage: '<board> <column> <title>',
  options: { description: { type: 'string' } },
  help: `  --description <text>   description of the card

  Adds the card at the end of the column.`,
  async run(context) {
    const [boardName = '', columnName = '', title = ''] = context.args
    const client = context.client()
    const board = await loadBoard(client, boardName)
    const column = findColumn(board, columnName)
    const description = textOption(context, 'description') ?? null
    const card = await client.createCard({ board_id: board.id, column_id: column.id, title, description })
    context.print(
      card,
      `Added “${escapeControlChars(title)}” to ${escapeControlChars(column.title)}. ${context.paint('dim', card.id)}`,
    )
  },
}

export const move: Command = {
  summary: 'move a card',
  usage: '<card> <column> [--after <card> | --position <n>]',
  options: { ...positionOptions, board: { type: 'string' } },
  help: `  --after <card>    after this card of the column
  --position <n>    index in the column: 0 is the top
  --board <board>   search only this board, which is faster if you have many

  Without --after or --position, the card goes to the end.`,
  async run(context) {
    const [cardName = '', columnName = ''] = context.args
    const position = positionOf(context)
    const client = context.client()
    const { card, board } = await findCard(client, cardName, textOption(context, 'board'))
    const column = findColumn(board, columnName)
    const after = textOption(context, 'after')
    const anchor =
      after === undefined ? undefined : pick(`card in ${escapeControlChars(column.title)}`, after, column.cards)
    const moved = await client.moveCard({
      card_id: card.id,
      column_id: column.id,
      ...(anchor && { after_id: anchor.id }),
      ...(position !== undefined && { position }),
    })
    // An automation rule may have moved it again.
    const at = board.columns.find(({ id }) => id === moved.column_id) ?? column
    const byRule = at.id === column.id ? '' : ' (moved on by an automation rule)'
    context.print(moved, `Moved “${escapeControlChars(moved.title)}” to ${escapeControlChars(at.title)}${byRule}.`)
  },
}

export const due: Command = {
  summary: 'set or clear the due date of a card',
  usage: '<card> <day>',
  options: { board: { type: 'string' } },
  help: `  <card>            its title, id or number (“#12”)
  <day>             2026-11-20, 20 Nov, 20.11, today, tomorrow, fri, +3d, +2w, or none
  --board <board>   search only this board, which is faster if you have many`,
  async run(context) {
    const [cardName = '', word = ''] = context.args
    const due_on = dayOf(word)
    const client = context.client()
    const { card } = await findCard(client, cardName, textOption(context, 'board'))
    const changed = await client.updateCard({ card_id: card.id, due_on })
    const title = `“${escapeControlChars(changed.title)}”`
    context.print(changed, changed.due_on ? `${title} is due on ${changed.due_on}.` : `${title} has no due date.`)
  },
}

/** The day that a text means, as in the web client; null for “none”. */
function dayOf(text: string): string | null {
  const day = parseDay(text, localDay(new Date()), dateWords(undefined))
  if (day === undefined)
    throw wrongUsage('The day must be like 2026-11-20, 20 Nov, today, tomorrow, fri, +3d, +2w or none.')
  return day
}

function positionOf(context: Context): number | undefined {
  const text = textOption(context, 'position')
  if (text === undefined) return undefined
  if (textOption(context, 'after') !== undefined) throw wrongUsage('Use either --after or --position.')
  if (!/^\d{1,9}$/.test(text)) throw wrongUsage('--position must be a number: 0 is the top.')
  return Number(text)
}
