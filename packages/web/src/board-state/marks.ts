import { type Store, useStorePart } from '../ui/store.ts'

/** How long a mark is shown. */
export const MARK_MS = 3_000

/** A short highlight on a card that just changed. */
export interface Mark {
  color: string
  text: string
}
export type Marks = ReadonlyMap<string, Mark>

export const useMark = (marks: Store<Marks>, card_id: string): Mark | undefined =>
  useStorePart(marks, (all) => all.get(card_id))
