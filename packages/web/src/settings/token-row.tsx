import type { AccessToken } from '@lockstep/client'
import { dayName, fullDate, shortDate } from '../ui/dates.ts'
import { scopeNames, t } from './token-messages.ts'
import './tokens.css'

interface TokenRowProps {
  token: AccessToken
  /** Where it is valid, or who created it. */
  about: string
  onRevoke: () => void
}

/** An access token with its last use, and a button that revokes it. */
export function TokenRow({ token, about, onRevoke }: TokenRowProps) {
  const { name, scope, hint, last_used_at, expires_at } = token
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now()
  return (
    <li className={isExpired ? 'token is-expired' : 'token'}>
      <span className="token-text">
        <strong dir="auto">{name}</strong>
        <small>
          {scopeNames[scope]} · <span dir="auto">{about}</span> · {t.endsWith({ hint })}
        </small>
        <small>
          <span title={last_used_at ? fullDate(last_used_at) : undefined}>
            {last_used_at ? t.lastUsed({ when: shortDate(last_used_at) }) : t.neverUsed}
          </span>
          {' · '}
          <span title={expires_at ? fullDate(expires_at) : undefined}>
            {expires_at === null ? t.neverExpires : isExpired ? t.expired : t.expires({ when: dayName(expires_at) })}
          </span>
        </small>
      </span>
      <button type="button" className="button is-quiet" onClick={onRevoke}>
        {t.revoke} <span className="visually-hidden">{name}</span>
      </button>
    </li>
  )
}
