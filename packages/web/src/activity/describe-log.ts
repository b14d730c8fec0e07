import type { FullBoard, LoggedEvent } from '@lockstep/client'
import { EventDescriber, KnownResources } from '@lockstep/client/describe'
import { sentenceOf } from './describe-event.ts'
import { t } from './messages.ts'
import { NameLookup } from './name-lookup.ts'
import type { Sentence } from './sentence.ts'

/** Who did it: a user, an automation rule, or the server when it rebalances positions. */
export interface Actor {
  kind: 'person' | 'rule' | 'service'
  id: string
  name: string
}
export interface DescribedEvent {
  seq: number
  at: string
  type: string
  actor: Actor
  sentence: Sentence
}

const rule: Actor = { kind: 'rule', id: 'rule', name: t.aRule }
const service: Actor = { kind: 'service', id: 'service', name: t.lockstep }

/**
 * Describes the events of a board in sentences, in log order. An event contains only the new state; the previous state comes
 * from earlier events. Where it is unknown, the sentence is less specific. Events that repeat the previous one are left out.
 */
export function describeLog(events: readonly LoggedEvent[], view: FullBoard): DescribedEvent[] {
  const names = new NameLookup(events, view)
  const describer = new EventDescriber(new KnownResources(), names.known)
  return events.map(withActor).flatMap((event) => {
    const message = describer.describe(event)
    if (message.isRepeated) return []
    const { seq, timestamp: at, type, user_id } = event
    const person: Actor = { kind: 'person', id: user_id ?? '', name: names.person(user_id ?? '') }
    const actor = user_id !== null ? person : message.isByRule ? rule : service
    return [{ seq, at, type, actor, sentence: sentenceOf(message, names, user_id) }]
  })
}

/** Events that follow from another change have no `user_id`; `actor_id` says who caused it. */
const withActor = (event: LoggedEvent): LoggedEvent => ({ ...event, user_id: event.actor_id ?? event.user_id })

/** The sentence as plain text. */
export const sentenceText = ({ verb, object, rest }: Sentence): string =>
  [verb, object.text, ...rest.map(({ text }) => text)].filter(Boolean).join(' ')
