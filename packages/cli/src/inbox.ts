import type { InboxItem } from '@lockstep/client'
import type { Command } from './command.ts'
import { listAll } from './list-all.ts'
import { escapeControlChars, type Paint } from './terminal.ts'

export const inbox: Command = {
  summary: 'list mentions, assignments and new boards',
  usage: '[--unread] [--read]',
  options: { unread: { type: 'boolean' }, read: { type: 'boolean' } },
  help: `  --unread   list only unread items
  --read     mark all items as read after listing them`,
  async run({ values, client: open, paint, print }) {
    const client = open()
    const items = await listAll(client, 'listInbox', values['unread'] === true ? { unread: 'true' } : {})
    const [newest] = items
    if (values['read'] === true && newest) await client.readInbox({ until: newest.changed_at })
    print(items, () => {
      if (items.length === 0) return values['unread'] === true ? 'Nothing unread.' : 'Nothing here yet.'
      return items.map((item) => lineOf(item, paint)).join('\n')
    })
  },
}

/** Unread items are marked with a dot. */
function lineOf({ reason, actor, board, card, count, comment, read_at }: InboxItem, paint: Paint): string {
  const name = actor ? `@${escapeControlChars(actor.username)}` : 'a rule'
  const event = { mentioned: 'mentioned you', assigned: 'assigned you', added: 'added you' }[reason]
  const where = [...(card ? [`#${card.number} ${card.title}`] : []), board.title].map(escapeControlChars).join(' · ')
  const more = count > 1 ? ` and ${count - 1} more` : ''
  const text = comment ? `  ${paint('dim', `“${escapeControlChars(comment.excerpt)}”`)}` : ''
  const what = `${name} ${event}`
  return `${read_at === null ? '•' : ' '} ${read_at === null ? paint('bold', what) : what}${more}  ${where}${text}`
}
