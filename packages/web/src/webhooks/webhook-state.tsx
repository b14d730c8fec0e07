import type { Webhook } from '@lockstep/client'
import { fullDate, shortDate } from '../ui/dates.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { preciseTime } from './precise-time.ts'

const states: Record<Webhook['state'], { icon: IconName; label: string }> = {
  active: { icon: 'check', label: t.active },
  retrying: { icon: 'clock', label: t.retrying },
  paused: { icon: 'warn', label: t.paused },
  disabled: { icon: 'pause', label: t.disabled },
}
const pausedTexts = { failing: t.pausedFailing, gone: t.pausedGone, token_invalid: t.pausedToken }

export function StateChip({ state }: Pick<Webhook, 'state'>) {
  const { icon, label } = states[state]
  return (
    <span className={`webhook-state is-${state}`}>
      <Icon name={icon} /> {label}
    </span>
  )
}

/** What the state means. */
export function stateText({ state, paused_reason, failed_attempts, next_attempt_at }: Webhook): string {
  if (state === 'paused') return pausedTexts[paused_reason ?? 'failing']
  if (state === 'disabled') return t.disabledText
  if (state === 'active') return t.activeText
  const isWaiting = next_attempt_at !== null && Date.parse(next_attempt_at) > Date.now()
  const next = isWaiting ? ` ${t.nextAttempt({ time: preciseTime(next_attempt_at) })}` : ''
  return t.retryingText({ count: failed_attempts }) + next
}

/** How far behind it is, and when it was last used. */
export function Facts({ webhook: { behind, last_delivered_at } }: { webhook: Webhook }) {
  return (
    <>
      {behind > 0 && <span>{t.behind({ count: behind })}</span>}
      <span title={last_delivered_at ? fullDate(last_delivered_at) : undefined}>
        {last_delivered_at ? t.lastDelivery({ when: shortDate(last_delivered_at) }) : t.noDelivery}
      </span>
    </>
  )
}
