import type { FullBoard, User } from '@lockstep/client'
import { type Command, textOption } from './command.ts'
import { findCard } from './find.ts'
import { escapeControlChars } from './terminal.ts'

export const comment: Command = {
  summary: 'comment on a card',
  usage: '<card> <text>',
  options: { board: { type: 'string' } },
  help: `  <card>            its title, id or number (“#12”)
  <text>            Markdown; @username mentions a member of the board
  --board <board>   search only this board, which is faster if you have many`,
  async run(context) {
    const [cardName = '', text = ''] = context.args
    const client = context.client()
    const { card, board } = await findCard(client, cardName, textOption(context, 'board'))
    const added = await client.createComment({ card_id: card.id, body: withMentions(text, board) })
    const names = added.mentions.map(({ username }) => ` @${escapeControlChars(username)}`).join('')
    const mentions = names && `, mentioning${names}`
    context.print(added, `Commented on “${escapeControlChars(card.title)}”${mentions}.`)
  },
}

/** Replaces `@username` of each member with a mention. */
function withMentions(text: string, { members }: FullBoard): string {
  const users = new Map(members.map(({ user }) => [user.username.toLowerCase(), user]))
  return text.replace(/(?<![\p{L}\p{N}_])@([\p{L}\p{N}_.-]+)/gu, (all, word: string) => {
    // A full stop or a dash after the name is not part of it.
    const name = users.has(word.toLowerCase()) ? word : word.replace(/[.-]+$/, '')
    const user = users.get(name.toLowerCase())
    return user ? `@[${nameOf(user)}](user:${user.id})${word.slice(name.length)}` : all
  })
}

/** The name of a user without what would end a mention. */
function nameOf({ firstname, lastname, username }: User): string {
  const name = [firstname, lastname].filter(Boolean).join(' ')
  const safe = name.replace(/[[\]\s]+/g, ' ').trim() || username
  return safe.slice(0, 255).toWellFormed()
}
