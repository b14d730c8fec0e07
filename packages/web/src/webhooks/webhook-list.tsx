import type { Webhook } from '@lockstep/client'
import { Link } from 'wouter'
import { filterQuery } from '../board-state/filter-address.ts'
import { t } from './messages.ts'
import { Facts, StateChip, stateText } from './webhook-state.tsx'

interface WebhookListProps {
  webhooks: readonly Webhook[]
  onOpen: (webhook_id: string) => void
}

export function WebhookList({ webhooks, onOpen }: WebhookListProps) {
  return (
    <ul className="webhooks" aria-label={t.title}>
      {webhooks.map((webhook) => (
        <WebhookRow key={webhook.id} webhook={webhook} onOpen={() => onOpen(webhook.id)} />
      ))}
    </ul>
  )
}

function WebhookRow({ webhook, onOpen }: { webhook: Webhook; onOpen: () => void }) {
  const { id, board_id, name, url, state } = webhook
  return (
    <li className="webhook">
      <div className="webhook-head">
        <Link
          href={`/b/${board_id}/webhooks/${id}${filterQuery()}`}
          className="webhook-name"
          data-webhook-id={id}
          dir="auto"
          title={url}
          onClick={onOpen}
        >
          {name}
        </Link>
        <StateChip state={state} />
      </div>
      {(state === 'retrying' || state === 'paused') && <p>{stateText(webhook)}</p>}
      <p className="webhook-facts">
        <code dir="ltr">{hostOf(url)}</code>
        <Facts webhook={webhook} />
      </p>
    </li>
  )
}

const hostOf = (url: string) => URL.parse(url)?.host ?? url
