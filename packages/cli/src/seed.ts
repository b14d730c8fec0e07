import type { Client, FullBoard } from '@lockstep/client'
import { addDays, localDay } from '@lockstep/client/days'
import type { Command } from './command.ts'
import { columns, labels } from './demo-project.ts'
import { loadBoard } from './find.ts'
import { escapeControlChars, progressBar } from './terminal.ts'

export const seed: Command = {
  summary: 'add a demo project to a board',
  usage: '<board> [--new]',
  options: { new: { type: 'boolean' } },
  help: `  --new   create a board with this title first

  Adds columns, labels, about thirty cards and checklists to the board, and assigns some of the cards to you.`,
  async run({ args: [word = ''], values, client, print }) {
    const api = client()
    const started = performance.now()
    const board = values['new'] === true ? await api.createBoard({ title: word }) : await loadBoard(api, word)
    const added = await fill(api, board)
    const seconds = Math.round((performance.now() - started) / 100) / 10
    print({ board_id: board.id, title: board.title, ...added, seconds }, () => {
      const { cards, checklists } = added
      return `Added ${cards} cards and ${checklists} checklists to ${escapeControlChars(board.title)} in ${seconds} s. View it: lockstep show ${board.id}`
    })
  },
}

/** Sequential, so that everything keeps its order. */
async function fill(client: Client, { id: board_id }: Pick<FullBoard, 'id'>) {
  const all = columns.flatMap(({ cards }) => cards)
  const show = progressBar(columns.length + Object.keys(labels).length + all.length)
  const count = { columns: 0, labels: 0, cards: 0, checklists: 0, items: 0 }
  const report = (what: string) => show(count.columns + count.labels + count.cards, what)
  const { id: me } = await client.getMe()

  const label_ids = new Map<string, string>()
  for (const [name, color] of Object.entries(labels)) {
    label_ids.set(name, (await client.createLabel({ board_id, name, color })).id)
    count.labels++
    report(name)
  }
  for (const { cards, ...column } of columns) {
    const { id: column_id } = await client.createColumn({ board_id, ...column })
    count.columns++
    report(column.title)
    for (const { title, description = null, labels: names = [], checklist, isMine = false, dueInDays } of cards) {
      const due_on = dueInDays === undefined ? null : addDays(localDay(new Date()), dueInDays)
      const { id: card_id } = await client.createCard({ board_id, column_id, title, description, due_on })
      for (const name of names) await client.addCardLabel({ card_id, label_id: label_ids.get(name) ?? '' })
      if (isMine) await client.assignCard({ card_id, user_ids: [me] })
      if (checklist) {
        const { id: checklist_id } = await client.createChecklist({ card_id, title: checklist.title })
        count.checklists++
        for (const [i, content] of checklist.items.entries()) {
          const item = await client.createItem({ checklist_id, content })
          if (i < checklist.done) await client.updateItem({ item_id: item.id, is_done: true })
          count.items++
        }
      }
      count.cards++
      report(title)
    }
  }
  return count
}
