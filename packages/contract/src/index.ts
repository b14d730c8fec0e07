import { administrationOperations } from './administration.ts'
import { attachmentOperations } from './attachments.ts'
import { authOperations } from './auth.ts'
import { automationOperations } from './automations.ts'
import { boardOperations, memberOperations } from './boards.ts'
import { cardOperations } from './cards.ts'
import { checklistOperations, itemOperations } from './checklists.ts'
import { columnOperations } from './columns.ts'
import { commentOperations } from './comments.ts'
import type { EventKind } from './events.ts'
import { healthOperations } from './health.ts'
import { inboxOperations } from './inbox.ts'
import { adminInvitationOperations, invitationOperations, linkOperations } from './invitations.ts'
import { labelOperations } from './labels.ts'
import type { Operation } from './operation.ts'
import { realtimeOperations } from './realtime.ts'
import { removalOperations } from './removals.ts'
import type { Effect } from './resources.ts'
import { tokenOperations } from './tokens.ts'
import { userOperations } from './users.ts'
import { webhookOperations } from './webhooks.ts'

export * from './events.ts'

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
  ...webhookOperations,
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
