import type { FullBoard, LoggedEvent } from '@lockstep/client'
import { EventTeller } from './event-teller.ts'
import { KnownNames } from './known-names.ts'
import type { Sentence } from './sentence.ts'

/** Who did it: a user, a rule of the board, or the service where items made room for another one. */
export interface Actor {
  kind: 'person' | 'rule' | 'service'
  id: string
  name: string
}
export interface Told {
  seq: number
  at: string
  type: string
  actor: Actor
  sentence: Sentence
}

const rule: Actor = { kind: 'rule', id: 'rule', name: 'A rule' }
const service: Actor = { kind: 'service', id: 'service', name: 'Lockstep' }

/**
 * The log of a board in sentences, in the order of its events. An event says only how things are afterwards: what was before
 * comes from the events ahead of it, and where these do not reach, the sentence says no more than is known. Events that
 * say again what the one before them said are left out.
 */
export function tellEvents(events: readonly LoggedEvent[], view: FullBoard): Told[] {
  const names = new KnownNames(events, view)
  const teller = new EventTeller(names)
  return events.map(withActor).flatMap((event) => {
    const told = teller.tell(event)
    if (!told) return []
    const { seq, timestamp: at, type, user_id } = event
    const person: Actor = { kind: 'person', id: user_id ?? '', name: names.person(user_id ?? '') }
    const actor = user_id !== null ? person : told.is_rule ? rule : service
    return [{ seq, at, type, actor, sentence: told.sentence }]
  })
}

/** What follows from another change says nobody in its `user_id`; the log knows who caused it. */
const withActor = (event: LoggedEvent): LoggedEvent => ({ ...event, user_id: event.actor_id ?? event.user_id })

/** The whole sentence, for those who listen and for tests. */
export const textOf = ({ verb, object, rest }: Sentence): string =>
  [verb, object.text, ...rest.map(({ text }) => text)].filter(Boolean).join(' ')
