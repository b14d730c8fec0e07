import type { Card, Column, FullBoard, User } from '@lockstep/client'
import type { BoardState } from '@lockstep/client/react'
import { createContext, useContext } from 'react'
import { type CardLocation, findCard } from './board-model.ts'

/**
 * The board as one render of the page shows it. Components read it with `useShownBoard`. `BoardTools`, for event handlers, has the
 * one that is on the screen: React may render a later one and discard it.
 */
export class ShownBoard {
  readonly state: BoardState
  readonly shownIn: (column: Column) => readonly Card[]
  private readonly meId: string

  constructor(state: BoardState, shownIn: (column: Column) => readonly Card[], meId: string) {
    this.state = state
    this.shownIn = shownIn
    this.meId = meId
  }

  get view(): FullBoard {
    const { view } = this.state
    if (!view) throw new Error('The board is not loaded yet')
    return view
  }
  get status(): BoardState['status'] {
    return this.state.status
  }
  /** Whether the board is archived, so that nothing on it can be changed. A memoized component uses `useReadOnly`. */
  get isReadOnly(): boolean {
    return this.state.view?.archived_at != null
  }
  get isOwner(): boolean {
    return this.view.members.some(({ user_id, role }) => user_id === this.meId && role === 'owner')
  }
  readonly member = (user_id: string): User | undefined =>
    this.state.view?.members.find((member) => member.user_id === user_id)?.user
  readonly find = (card_id: string | undefined): CardLocation | undefined =>
    this.state.view && findCard(this.state.view, card_id)
}

const Context = createContext<ShownBoard | undefined>(undefined)
export const ShownBoardProvider = Context.Provider

export function useShownBoard(): ShownBoard {
  const board = useContext(Context)
  if (!board) throw new Error('useShownBoard must be used on a board page')
  return board
}
