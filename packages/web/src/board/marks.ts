import { type Store, useStorePart } from '../ui/store.ts'

/** What somebody else just did with a card. */
export interface Mark {
  color: string
  text: string
}
export type Marks = ReadonlyMap<string, Mark>

export const useMark = (marks: Store<Marks>, card_id: string): Mark | undefined =>
  useStorePart(marks, (all) => all.get(card_id))
