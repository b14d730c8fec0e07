import { type Comment, commentOperations, MAX_MENTIONS, mentionedIds } from '@lockstep/contract/comments'
import type { JsonText } from '@lockstep/contract/operation'
import type { Notification } from '../core/notifications.ts'
import { textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import { type Handlers, withPrefetch } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import {
  deleteComment,
  insertComment,
  listComments,
  readComment,
  readCommentCount,
  updateComment,
  withCount,
} from './comment-queries.ts'

const textBytes = textBytesOf('comment')

export const commentHandlers: Handlers<typeof commentOperations> = {
  createComment: withPrefetch(
    ({ db, board_id, params: { card_id } }) => readCommentCount(db, board_id, card_id),
    async ({ db, board_id, params: { card_id }, newId, body: { body }, caller, at, emit }, comment_count) => {
      if (comment_count === undefined) throw new Problem('card_not_found')
      const mention_ids = mentionedIds(body)
      const comment = { board_id, id: newId, card_id, author_id: caller.id, body, mention_ids, at }
      const json = await insertComment(db, comment)
      const notifies = mentionsIn(card_id, newId, counted(mention_ids))
      const growth = { text_bytes: textBytes(comment) }
      emit('comment.created', withCount(json, comment_count + 1), { card_id, growth, notifies })
      return json
    },
  ),

  listComments: (context) =>
    readPage(commentOperations.listComments, context, (page) => {
      const { db, board_id, params } = context
      return listComments(db, { board_id, card_id: params.card_id }, page)
    }),

  async updateComment({ db, board_id, params, body: { body }, at, emit }) {
    const key = { board_id, id: params.comment_id }
    const change = body === undefined ? undefined : { body, mention_ids: mentionedIds(body), at }
    const changed = change && (await updateComment(db, key, change))
    if (!changed) return requireComment(db, key)
    const { json, card_id, comment_count, text_bytes } = changed
    const [before, after] = [changed.old_mention_ids, change.mention_ids].map(counted) as [string[], string[]]
    // Only those who are new in the text are notified.
    const notifies = mentionsIn(
      card_id,
      key.id,
      after.filter((id) => !before.includes(id)),
    )
    const withdraws = mentionsIn(
      card_id,
      key.id,
      before.filter((id) => !after.includes(id)),
    )
    emit('comment.updated', withCount(json, comment_count), { card_id, growth: { text_bytes }, notifies, withdraws })
    return json
  },

  async deleteComment({ db, board_id, params, emit }) {
    const gone = await deleteComment(db, { board_id, id: params.comment_id })
    if (!gone) throw new Problem('comment_not_found')
    const { json, card_id, comment_count, text_bytes, old_mention_ids } = gone
    const withdraws = mentionsIn(card_id, params.comment_id, counted(old_mention_ids))
    emit('comment.deleted', withCount(json, comment_count), { card_id, growth: { text_bytes }, withdraws })
  },
}

/** The mentions that count. The others are stored too: erasing a user replaces their name in all of them. */
const counted = (user_ids: readonly string[]) => user_ids.slice(0, MAX_MENTIONS)

const mentionsIn = (card_id: string, comment_id: string, user_ids: readonly string[]): Notification[] =>
  user_ids.map((user_id) => ({ user_id, reason: 'mentioned', card_id, comment_id }))

async function requireComment(db: Db, key: ResourceKey): Promise<JsonText<Comment>> {
  const comment = await readComment(db, key)
  if (!comment) throw new Problem('comment_not_found')
  return comment
}
