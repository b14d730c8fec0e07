import type { Card, Column, FullBoard, LoggedEvent, Operations } from '../types.gen.ts'
import type { ChangeName } from './model.gen.ts'

/** The wire types that the live board uses. */
export type {
  BoardMember,
  Card,
  FullBoard,
  OnlineUser,
} from '../types.gen.ts'

/** An event of a board's log: discriminated by `type`. */
export type BoardEvent = LoggedEvent

/** The changes that a live board can make. Uploads are not among them: files are not queued. */
export type { ChangeName } from './model.gen.ts'

/** The input of a change: path ids and body fields in one object, without `board_id`. */
export type Input<N extends ChangeName> = Omit<Operations[N]['input'], 'board_id'>
/** Fields of a card with the values that the user saw. */
export type ExpectedFields = Partial<Pick<Card, 'title' | 'description'>>
/** Options of a change. */
export interface ChangeOptions<N extends ChangeName = ChangeName> {
  /**
   * Optimistic concurrency: the values that the user saw when they started editing. If someone else has changed them
   * since, nothing is overwritten and the change ends as a `conflict` with both texts.
   */
  unlessChanged?: (N extends 'updateCard' ? ExpectedFields : never) | undefined
}
/** What an undo of a deletion brings back. It is shown until the server has restored it, and is not sent. */
export type RestoredItem = { on: 'card'; item: Card } | { on: 'column'; item: Column }
/** A change: the name of an operation and its input. */
export type Change = { [N in ChangeName]: { name: N; input: Input<N>; restores?: RestoredItem } }[ChangeName]
/** A stored snapshot. */
export interface StoredBoard {
  /** Position of the snapshot. */
  position: string
  /** Loads the board; called only if it is needed. */
  read: () => Promise<FullBoard>
}
