/** Part of a sentence, with the card it links to if the card still exists. */
export interface SentencePart {
  text: string
  card_id?: string
}
/** What was done, without the actor: "moved", "“Fix login”", "to Review". */
export interface Sentence {
  verb: string
  object: SentencePart
  rest: readonly SentencePart[]
  /** Plural noun for grouped objects; empty if they can't be grouped. */
  noun: string
}
