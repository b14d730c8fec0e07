import type { EventData, EventKind, operations } from '@lockstep/contract'
import type { Body, Operation, Params } from '@lockstep/contract/operation'

/** Everything that the live board knows of the wire, in one place. Types only: no schema reaches a bundle. */
export type { BoardMember, FullBoard } from '@lockstep/contract/boards'
export type { Card } from '@lockstep/contract/cards'
export type { Checklist, ChecklistItem } from '@lockstep/contract/checklists'
export type { Column } from '@lockstep/contract/columns'
export type { Label } from '@lockstep/contract/labels'
export type { OnlineUser } from '@lockstep/contract/realtime'

/** An event of a board's log: one of 31 kinds, told apart by `type`. */
export type BoardEvent = {
  [K in EventKind]: {
    type: K
    data: EventData<K>
    seq: number
    user_id: string | null
    timestamp: string
    version: string
  }
}[EventKind]

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

type Fields<O extends Operation> = Params<O> & (Body<O> extends undefined ? unknown : Body<O>)
/** What a change takes: the ids of its path and the fields of its body, side by side. The board is known. */
export type Input<N extends ChangeName> = Omit<Fields<(typeof operations)[N]>, 'board_id'>
/** A change with what it takes. */
export type Change = { [N in ChangeName]: { name: N; input: Input<N> } }[ChangeName]
