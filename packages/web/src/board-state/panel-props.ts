import type { FullBoard } from '@lockstep/client'

/** Props of a dialog over a board that has its own URL. */
export interface PanelProps {
  view: FullBoard
  /** The last part of the URL: the card's id. */
  item: string | undefined
}
