import Type, { type Static } from 'typebox'
import { Column } from './columns.ts'
import { Label } from './labels.ts'
import {
  Changes,
  evenArchived,
  member,
  NewId,
  Nullable,
  named,
  nothing,
  Optional,
  operation,
  owner,
  ownerOrSelf,
  Paging,
  Text,
  Timestamp,
  Title,
  Uuid,
} from './operation.ts'
import { create, ofMember, other, remove, update } from './resources.ts'
import { User } from './users.ts'

const Role = Type.Enum(['owner', 'member'])
const memberShape = Type.Object({ board_id: Uuid, user_id: Uuid, role: Role, user: User })
export interface BoardMember extends Static<typeof memberShape> {}
export const BoardMember = named<BoardMember>('BoardMember', memberShape)

const shape = Type.Object({
  id: Uuid,
  title: Type.String(),
  description: Nullable(Type.String()),
  created_by: Uuid,
  updated_by: Uuid,
  labels: Type.Array(Label),
  members: Type.Array(BoardMember),
  archived_at: Type.Union([Timestamp, Type.Null()], { description: 'An archived board is read-only.' }),
})
export interface Board extends Static<typeof shape> {}
export const Board = named<Board>('Board', shape)

const listedShape = Type.Object({
  ...shape.properties,
  open_cards: Type.Integer({ minimum: 0, description: 'The number of cards outside done columns.' }),
  my_cards: Type.Integer({ minimum: 0, description: 'The number of open cards that are assigned to you.' }),
  changed_at: Type.String({ format: 'date-time', description: 'The time of the last write to the board.' }),
})
/** A board in the list of a user's boards. */
export interface ListedBoard extends Static<typeof listedShape> {}
export const ListedBoard = named<ListedBoard>('ListedBoard', listedShape)

const fullShape = Type.Object({ ...shape.properties, columns: Type.Array(Column) })
/** A board with everything on it. */
export interface FullBoard extends Static<typeof fullShape> {}
export const FullBoard = named<FullBoard>('FullBoard', fullShape)

const deletedShape = Type.Object({ id: Uuid })
export interface DeletedBoard extends Static<typeof deletedShape> {}
export const DeletedBoard = named<DeletedBoard>('DeletedBoard', deletedShape)

const Quota = Type.Object({ used: Type.Integer(), limit: Nullable(Type.Integer()) })
const usageShape = Type.Object({
  text_bytes: Quota,
  cards: Quota,
  file_bytes: Quota,
  log_bytes_per_minute: Quota,
})
/** How much a board contains. Not part of the board or of an event. */
export interface BoardUsage extends Static<typeof usageShape> {}
export const BoardUsage = named<BoardUsage>('BoardUsage', usageShape)

const BoardPath = Type.Object({ board_id: Uuid })
const MemberPath = Type.Object({ board_id: Uuid, user_id: Uuid })
const Description = Text(65_536)

export const boardOperations = {
  createBoard: operation({
    method: 'POST',
    path: '/boards',
    tag: 'boards',
    summary: 'Create a board and become its owner',
    description: 'The board has no columns and no labels at first. It counts towards your limit of boards.',
    access: 'authenticated',
    body: Type.Object({ ...NewId, title: Title, description: Optional(Description) }),
    returns: { status: 201, schema: Board },
    effect: create('board'),
    emits: [],
    problems: ['id_taken', 'owned_board_limit'],
  }),
  listBoards: operation({
    method: 'GET',
    path: '/boards',
    tag: 'boards',
    summary: 'List the boards you are a member of',
    description:
      'Oldest first. A page ends with the board that fills 1 MiB. Only this list has `open_cards`, `my_cards` and `changed_at`. With an access token of one board, it has only that board.',
    access: 'authenticated',
    token: { scope: 'read', board_tokens: true },
    query: Type.Object({
      archived: Type.Optional(
        Type.Enum(['true', 'false'], { description: 'Only archived boards, or only the others.' }),
      ),
      ...Paging(),
    }),
    returns: { status: 200, schema: Type.Array(ListedBoard) },
  }),
  getBoard: operation({
    method: 'GET',
    path: '/boards/{board_id}',
    tag: 'boards',
    summary: 'Read a board with its columns, cards, labels and members',
    description: '`Board-Position` is the position of exactly the returned state.',
    access: member('board'),
    params: BoardPath,
    returns: { status: 200, schema: FullBoard },
  }),
  updateBoard: operation({
    method: 'PATCH',
    path: '/boards/{board_id}',
    tag: 'boards',
    summary: 'Change the title or the description of a board',
    description: 'Fields that are left out do not change.',
    access: owner('board'),
    params: BoardPath,
    body: Changes({ title: Title, description: Nullable(Description) }),
    returns: { status: 200, schema: Board },
    effect: update('board'),
    emits: ['board.updated'],
  }),
  deleteBoard: operation({
    method: 'DELETE',
    path: '/boards/{board_id}',
    tag: 'boards',
    summary: 'Delete a board and everything on it',
    description:
      'Also deletes its files and its history. Cannot be undone. Its sockets receive `board.deleted` and close with 1000.',
    access: evenArchived(owner('board')),
    params: BoardPath,
    returns: nothing,
    effect: remove('board'),
    emits: ['board.deleted'],
  }),
  archiveBoard: operation({
    method: 'POST',
    path: '/boards/{board_id}/archive',
    tag: 'boards',
    summary: 'Archive a board',
    description:
      'Its members can read it. Changes are rejected with 409 `board_archived`, except restoring or deleting it and removing members.',
    access: evenArchived(owner('board')),
    params: BoardPath,
    returns: { status: 200, schema: Board },
    effect: other('board', 'board.updated'),
    emits: ['board.updated'],
  }),
  restoreBoard: operation({
    method: 'POST',
    path: '/boards/{board_id}/restore',
    tag: 'boards',
    summary: 'Make an archived board usable again',
    description: 'If the board is not archived, nothing changes.',
    access: evenArchived(owner('board')),
    params: BoardPath,
    returns: { status: 200, schema: Board },
    effect: other('board', 'board.updated'),
    emits: ['board.updated'],
  }),
  getBoardUsage: operation({
    method: 'GET',
    path: '/boards/{board_id}/usage',
    tag: 'boards',
    summary: 'Read the usage and the limits of a board',
    description:
      'Archived cards and the trash count too; when a limit is reached, the oldest of the trash is deleted for good. Text counts as JSON, plus 200 bytes for each object. `log_bytes_per_minute` is what recent changes have written to the history; it drains at the allowed rate. A `limit` is null when quotas are off.',
    access: member('board'),
    params: BoardPath,
    returns: { status: 200, schema: BoardUsage },
  }),
}

const invited = Type.Object({ user_id: Uuid, role: Type.Literal('member') })
export interface Invited extends Static<typeof invited> {}
export const Invited = named<Invited>('Invited', invited)

export const memberOperations = {
  inviteMember: operation({
    method: 'POST',
    path: '/boards/{board_id}/invite',
    tag: 'members',
    summary: 'Make a user a member of a board',
    description:
      'The user becomes a member at once. For a person without an account, create an invitation link instead.',
    access: owner('board'),
    params: BoardPath,
    body: Type.Object({ user_id: Uuid }),
    returns: { status: 201, schema: Invited },
    effect: ofMember('create', 'board.member_added'),
    emits: ['board.member_added'],
    problems: ['user_not_found', 'already_a_member'],
  }),
  listMembers: operation({
    method: 'GET',
    path: '/boards/{board_id}/members',
    tag: 'members',
    summary: 'List the members of a board',
    description: 'With their profiles and roles, in the order in which they joined.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(BoardMember) },
  }),
  updateMember: operation({
    method: 'PATCH',
    path: '/boards/{board_id}/members/{user_id}',
    tag: 'members',
    summary: 'Change the role of a member',
    description: 'A board needs at least one owner.',
    access: owner('board'),
    params: MemberPath,
    body: Changes({ role: { ...Role, description: 'Accepted in upper or lower case.' } }),
    returns: { status: 200, schema: BoardMember },
    effect: ofMember('update', 'board.updated'),
    emits: ['board.updated'],
    problems: ['member_not_found', 'last_owner'],
  }),
  removeMember: operation({
    method: 'DELETE',
    path: '/boards/{board_id}/members/{user_id}',
    tag: 'members',
    summary: 'Remove a member, or leave a board',
    description:
      'Emits an event for each removed assignment, then the event of the removal. The last owner cannot be removed.',
    access: evenArchived(ownerOrSelf('board')),
    params: MemberPath,
    returns: nothing,
    effect: ofMember('delete', 'board.member_removed'),
    emits: ['card.unassigned', 'checklist_item.unassigned', 'board.member_removed'],
    problems: ['member_not_found', 'last_owner', 'board_log_limit'],
  }),
}

export const boardEvents = {
  'board.updated': Board,
  'board.deleted': DeletedBoard,
  'board.member_added': BoardMember,
  'board.member_removed': BoardMember,
}
