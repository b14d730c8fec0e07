import Type, { type Static } from 'typebox'
import {
  author,
  Changes,
  member,
  NewId,
  named,
  nothing,
  operation,
  ownerOrAuthor,
  Paging,
  Timestamp,
  Uuid,
  VisibleText,
} from './operation.ts'
import { create, remove, update } from './resources.ts'
import { User } from './users.ts'

/** So many of the users whom a text mentions are notified and listed. */
export const MAX_MENTIONS = 50
/** A mention in a text: a readable name, which clients show, and the id, which decides who is meant. */
const mention = /@\[[^[\]\r\n]{1,255}\]\(user:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\)/gi

/** The ids of the users that a text mentions as `@[Ada Lovelace](user:<id>)`: each once, in the order of the text. */
export const mentionedIds = (text: string): string[] => [
  ...new Set([...text.matchAll(mention)].map(([, id = '']) => id.toLowerCase())),
]

/** What users write in a comment. */
export const commentFields = { body: Type.String() }

const shape = Type.Object({
  id: Uuid,
  card_id: Uuid,
  author: User,
  ...commentFields,
  mentions: Type.Array(User, {
    description:
      'The users whom the text mentions, in its order, if they are members of the board now. Others are only text.',
  }),
  created_at: Timestamp,
  edited_at: Type.Union([Timestamp, Type.Null()], { description: 'When the text was last changed; null: never.' }),
})
export interface Comment extends Static<typeof shape> {}
export const Comment = named<Comment>('Comment', shape)

const eventShape = Type.Object({
  ...shape.properties,
  comment_count: Type.Integer({ minimum: 0, description: 'The number of comments of the card after the change.' }),
})
/** A comment in an event, with the new number of comments of its card. */
export interface CommentEvent extends Static<typeof eventShape> {}
export const CommentEvent = named<CommentEvent>('CommentEvent', eventShape)

const CardPath = Type.Object({ card_id: Uuid })
const CommentPath = Type.Object({ comment_id: Uuid })
const CommentBody = VisibleText(16_384)
const MENTIONS =
  '`@[Ada Lovelace](user:<id>)` in the text mentions a member of the board; up to 50 different users count. For a user who is not a member it is only text.'

export const commentOperations = {
  createComment: operation({
    method: 'POST',
    path: '/cards/{card_id}/comments',
    tag: 'comments',
    summary: 'Comment on a card',
    description: `${MENTIONS} The \`comment_count\` of the card changes; its \`updated_at\` does not.`,
    access: member('card'),
    params: CardPath,
    body: Type.Object({ ...NewId, body: CommentBody }),
    returns: { status: 201, schema: Comment },
    effect: create('comment'),
    emits: ['comment.created'],
    problems: ['id_taken'],
  }),
  listComments: operation({
    method: 'GET',
    path: '/cards/{card_id}/comments',
    tag: 'comments',
    summary: 'List the comments of a card, newest first',
    description:
      'Ordered by `created_at` and `id`. `Link` is the next page, with older comments. A comment that exists all the while is listed once.',
    access: member('card'),
    params: CardPath,
    query: Type.Object(Paging({ default: 30 })),
    returns: { status: 200, schema: Type.Array(Comment) },
  }),
  updateComment: operation({
    method: 'PATCH',
    path: '/comments/{comment_id}',
    tag: 'comments',
    summary: 'Change the text of a comment',
    description: 'Only its author may do this. The same text again changes nothing.',
    access: author('comment'),
    params: CommentPath,
    body: Changes({ body: CommentBody }),
    returns: { status: 200, schema: Comment },
    effect: update('comment'),
    emits: ['comment.updated'],
  }),
  deleteComment: operation({
    method: 'DELETE',
    path: '/comments/{comment_id}',
    tag: 'comments',
    summary: 'Delete a comment',
    description: 'Its author and the owners of the board may do this.',
    access: ownerOrAuthor('comment'),
    params: CommentPath,
    returns: nothing,
    effect: remove('comment'),
    emits: ['comment.deleted'],
  }),
}

export const commentEvents = {
  'comment.created': CommentEvent,
  'comment.updated': CommentEvent,
  'comment.deleted': CommentEvent,
}
