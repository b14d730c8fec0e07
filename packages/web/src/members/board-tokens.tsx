import type { BoardToken } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { client } from '../session.ts'
import { revokeToken } from '../settings/revoke-token.ts'
import { t as tokenTexts } from '../settings/token-messages.ts'
import { TokenRow } from '../settings/token-row.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/** The access tokens that are limited to the board, for its owners. Hidden when there are none, or when they are turned off. */
export function BoardTokens({ board_id }: { board_id: string }) {
  const [tokens, setTokens] = useState<readonly BoardToken[]>([])
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    client.listBoardTokens({ board_id }).then(setTokens, () => setTokens([]))
  }, [board_id])
  if (tokens.length === 0) return null
  const revoke = async (token: BoardToken) => {
    if (!(await revokeToken(token, () => client.revokeBoardToken({ board_id, token_id: token.id })))) return
    setTokens((now) => now.filter(({ id }) => id !== token.id))
    focusAfterRender(() => heading.current)
  }
  return (
    <section aria-labelledby="board-tokens" className="members-tokens">
      <h3 id="board-tokens" ref={heading} tabIndex={-1}>
        {t.accessTokens}
      </h3>
      <ul className="tokens">
        {tokens.map((token) => (
          <TokenRow
            key={token.id}
            token={token}
            about={tokenTexts.by({ name: nameOf(token.user) })}
            onRevoke={() => void revoke(token)}
          />
        ))}
      </ul>
    </section>
  )
}
