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
function lineOf(item: InboxItem, paint: Paint): string {
  const { board, card, count, comment, read_at } = item
  const where = [...(card ? [`#${card.number} ${card.title}`] : []), board.title].map(escapeControlChars).join(' · ')
  const more = count > 1 ? ` and ${count - 1} more` : ''
  const text = comment ? `  ${paint('dim', `“${escapeControlChars(comment.excerpt)}”`)}` : ''
  const what = eventOf(item)
  return `${read_at === null ? '•' : ' '} ${read_at === null ? paint('bold', what) : what}${more}  ${where}${text}`
}

function eventOf({ reason, actor, trigger }: InboxItem): string {
  const nameOf = ({ username }: { username: string }) => `@${escapeControlChars(username)}`
  if (actor)
    return `${nameOf(actor)} ${{ mentioned: 'mentioned you', assigned: 'assigned you', added: 'added you' }[reason]}`
  if (!trigger) return 'a rule assigned you'
  const { column, label } = trigger
  const moved = `moved it${column ? ` to ${escapeControlChars(column.title)}` : ''}`
  const labeled = `added ${label ? `the label ${escapeControlChars(label.name)}` : 'a label'}`
  return `${nameOf(trigger.actor)} ${trigger.type === 'CARD_MOVED' ? moved : labeled}; a rule assigned you`
}
