import type { FullBoard } from '@lockstep/client'

/** What is shown over a board, under an address of its own. */
export interface PanelProps {
  view: FullBoard
  /** The rest of the address: the card's id. */
  item: string | undefined
}
