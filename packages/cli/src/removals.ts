import type { RemovedItem } from '@lockstep/client'
import { type Command, textOption } from './command.ts'
import { EXIT, Failure } from './failure.ts'
import { findCard, findColumn, loadBoard, pick, shortIds } from './find.ts'
import { listAll } from './list-all.ts'
import { escapeControlChars } from './terminal.ts'

export const archive: Command = {
  summary: 'archive a card',
  usage: '<card>',
  options: { board: { type: 'string' } },
  help: `  <card>            its title, id or number (“#12”)
  --board <board>   search only this board, which is faster if you have many

  An archived card is kept. Bring it back with: lockstep restore`,
  async run(context) {
    const [cardName = ''] = context.args
    const client = context.client()
    const { card } = await findCard(client, cardName, textOption(context, 'board'))
    const archived = await client.archiveCard({ card_id: card.id })
    context.print(archived, `Archived “${escapeControlChars(archived.title)}”.`)
  },
}

export const restore: Command = {
  summary: 'restore an archived or deleted card or column',
  usage: '<board> [title]',
  options: { column: { type: 'string' } },
  help: `  [title]             its title, id or number (“#12”); without it, lists what can be restored
  --column <column>   restore a card to this column, if its own does not exist anymore`,
  async run(context) {
    const [boardName = '', word] = context.args
    const client = context.client()
    const board = await loadBoard(client, boardName)
    const { id: board_id } = board
    const list = (search?: string) => listAll(client, 'listRemoved', { board_id, ...(search && { search }) })
    if (word === undefined) {
      const removed = await list()
      return context.print(removed, () => describeAll(removed))
    }
    const columnName = textOption(context, 'column')
    const column = columnName === undefined ? undefined : findColumn(board, columnName)
    const { id: removed_id, title } = pickRemoved(word, [...(await list()), ...(await list(word))])
    const restored = await client.restoreRemoved({ board_id, removed_id, ...(column && { column_id: column.id }) })
    context.print(restored, `Restored “${escapeControlChars(title)}”.`)
  },
}

/** The one with this title, id or number. A card that left with its column is found by its text only, so lists may overlap. */
function pickRemoved(word: string, listed: readonly RemovedItem[]): RemovedItem {
  const unique = [...new Map(listed.map((item) => [item.id, item])).values()]
  const numbered = unique.find(({ number }) => word === `#${number}`)
  if (unique.length === 0)
    throw new Failure('Nothing was archived or deleted on this board.', EXIT.notFound, { code: 'not_found' })
  return numbered ?? pick('archived or deleted card or column', word, unique)
}

function describeAll(removed: readonly RemovedItem[]): string {
  if (removed.length === 0) return 'Nothing was archived or deleted.'
  const ids = shortIds(removed.map(({ id }) => id))
  return removed
    .map(({ id, kind, title, number, removed: { as, until } }) => {
      const name = `${kind} “${escapeControlChars(title)}”${number === null ? '' : ` #${number}`}`
      return `${ids.get(id)}  ${as}  ${name}${until ? `, kept until ${until.slice(0, 10)}` : ''}`
    })
    .join('\n')
}
