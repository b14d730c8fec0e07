/** Some words, and the card that they lead to if it is still there. */
export interface Words {
  text: string
  card_id?: string
}
/** What was done, as what follows a name: "moved", "“Fix login”", "to Review". */
export interface Sentence {
  verb: string
  object: Words
  rest: readonly Words[]
  /** What several such objects are called; nothing where they cannot be counted together. */
  noun: string
}
