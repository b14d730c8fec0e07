export {
  isRepeated,
  positionOf,
  type TruncatedEvent,
  type WebhookEvent,
  type WebhookMessage,
  type WebhookResync,
  type WebhookTest,
} from './messages.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookErrorCode,
  type WebhookHeaders,
} from './verify.ts'
