import type { Static } from 'typebox'
import { administrationOperations } from './administration.ts'
import { attachmentEvents, attachmentOperations } from './attachments.ts'
import { authOperations } from './auth.ts'
import { automationOperations } from './automations.ts'
import { boardEvents, boardOperations, memberOperations } from './boards.ts'
import { cardEvents, cardOperations } from './cards.ts'
import { checklistEvents, checklistOperations, itemOperations } from './checklists.ts'
import { columnEvents, columnOperations } from './columns.ts'
import { commentEvents, commentOperations } from './comments.ts'
import { healthOperations } from './health.ts'
import { inboxOperations } from './inbox.ts'
import { adminInvitationOperations, invitationOperations, linkOperations } from './invitations.ts'
import { labelEvents, labelOperations } from './labels.ts'
import type { Operation } from './operation.ts'
import { realtimeOperations } from './realtime.ts'
import { removalOperations } from './removals.ts'
import type { Effect } from './resources.ts'
import { tokenOperations } from './tokens.ts'
import { userOperations } from './users.ts'

/** Every operation of the service, by name, in the order of the documentation. */
export const operations = {
  ...authOperations,
  ...linkOperations,
  ...userOperations,
  ...healthOperations,
  ...boardOperations,
  ...memberOperations,
  ...invitationOperations,
  ...columnOperations,
  ...cardOperations,
  ...labelOperations,
  ...checklistOperations,
  ...itemOperations,
  ...commentOperations,
  ...attachmentOperations,
  ...removalOperations,
  ...automationOperations,
  ...realtimeOperations,
  ...inboxOperations,
  ...tokenOperations,
  ...administrationOperations,
  ...adminInvitationOperations,
} satisfies Record<string, Operation & (Reads | Changes)>

interface Reads {
  emits?: undefined
}
/** An operation that changes a board declares its events and its effect. Its response is stored, so it has no secret. */
interface Changes {
  emits: readonly EventKind[]
  effect: Effect
  is_secret?: undefined
}

/** Every event kind, with the schema of its `data`. */
export const events = {
  ...boardEvents,
  ...columnEvents,
  ...cardEvents,
  ...labelEvents,
  ...checklistEvents,
  ...attachmentEvents,
  ...commentEvents,
}

export type EventKind = keyof typeof events
export type EventData<K extends EventKind> = Static<(typeof events)[K]>
