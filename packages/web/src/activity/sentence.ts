import type { EventMessage } from '@lockstep/client/describe'

/** Part of a sentence, with the card it links to if the card still exists. */
export interface SentencePart {
  text: string
  card_id?: string
}
/** What kind of objects are counted in a line for several events. */
export type GroupKind = Exclude<EventMessage['on'], 'board' | 'comment'>
/** What was done, without the actor: "moved", "“Fix login”", "to Review". */
export interface Sentence {
  verb: string
  object: SentencePart
  rest: readonly SentencePart[]
  /** The kind of grouped objects; empty if they can't be grouped. */
  groupedAs: GroupKind | ''
}
