import { type Store, useStorePart } from '../ui/store.ts'

/** How long it stays. */
export const SHOWN_MS = 3_000

/** What just happened to a card. */
export interface Mark {
  color: string
  text: string
}
export type Marks = ReadonlyMap<string, Mark>

export const useMark = (marks: Store<Marks>, card_id: string): Mark | undefined =>
  useStorePart(marks, (all) => all.get(card_id))
