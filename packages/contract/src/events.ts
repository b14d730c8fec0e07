import type { Static } from 'typebox'
import { attachmentEvents } from './attachments.ts'
import { boardEvents } from './boards.ts'
import { cardEvents } from './cards.ts'
import { checklistEvents } from './checklists.ts'
import { columnEvents } from './columns.ts'
import { commentEvents } from './comments.ts'
import { labelEvents } from './labels.ts'

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
