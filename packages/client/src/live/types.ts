import type { Card, FullBoard, LoggedEvent, Operations } from '../types.gen.ts'

/** Everything that the live board knows of the wire, in one place. */
export type {
  BoardMember,
  Card,
  Checklist,
  ChecklistItem,
  Column,
  FullBoard,
  Label,
  OnlineUser,
} from '../types.gen.ts'

/** An event of a board's log: one of 31 kinds, told apart by `type`. */
export type BoardEvent = LoggedEvent

/** The changes of a board that can be made through a live board. Uploads go their own way: a file is not kept in a queue. */
export type ChangeName =
  | 'updateBoard'
  | 'deleteBoard'
  | 'inviteMember'
  | 'updateMember'
  | 'removeMember'
  | 'createColumn'
  | 'updateColumn'
  | 'deleteColumn'
  | 'moveColumn'
  | 'createCard'
  | 'updateCard'
  | 'deleteCard'
  | 'moveCard'
  | 'assignCard'
  | 'unassignCard'
  | 'addCardLabel'
  | 'removeCardLabel'
  | 'createLabel'
  | 'updateLabel'
  | 'deleteLabel'
  | 'createChecklist'
  | 'updateChecklist'
  | 'deleteChecklist'
  | 'moveChecklist'
  | 'createItem'
  | 'updateItem'
  | 'deleteItem'
  | 'moveItem'
  | 'assignItem'
  | 'unassignItem'
  | 'deleteAttachment'

/** What a change takes: the ids of its path and the fields of its body, side by side. The board is known. */
export type Input<N extends ChangeName> = Omit<Operations[N]['input'], 'board_id'>
/** Fields of a card as the user saw them. */
export type Guard = Partial<Pick<Card, 'title' | 'description'>>
/** How a change is made. */
export interface ChangeOptions<N extends ChangeName = ChangeName> {
  /**
   * What the user saw when he began to write. Should somebody have made something else of it meanwhile, nothing is
   * overwritten: the change ends as a `conflict`, with what he wrote and what is there.
   */
  unless_changed?: (N extends 'updateCard' ? Guard : never) | undefined
}
/** A change with what it takes. */
export type Change = { [N in ChangeName]: { name: N; input: Input<N> } }[ChangeName]
/** A snapshot that a page has stored. */
export interface StoredBoard {
  /** Of the snapshot. */
  position: string
  /** Reads the rest of it, where that is needed. */
  read: () => Promise<FullBoard>
}
