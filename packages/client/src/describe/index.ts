export { EventDescriber, type EventMessage, type MessageKey } from './describe-event.ts'
export { KnownResources } from './known-resources.ts'
