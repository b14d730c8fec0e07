import type { User } from '@lockstep/client'
import { useEffect, useState } from 'react'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { t } from './messages.ts'

export interface UserSearch {
  state: 'idle' | 'searching' | 'found' | 'failed'
  users: readonly User[]
  error?: unknown
}
const PAUSE_MS = 250
const MIN_LETTERS = 2
const MAX_RESULTS = 8
const idle: UserSearch = { state: 'idle', users: [] }

/** Searches users while typing. The previous results stay until there are new ones. */
export function useUserSearch(text: string): UserSearch {
  const term = text.trim()
  const [search, setSearch] = useState(idle)
  useEffect(() => {
    if (term.length < MIN_LETTERS) {
      setSearch(idle)
      return
    }
    setSearch(({ users }) => ({ state: 'searching', users }))
    const abort = new AbortController()
    const timer = setTimeout(() => {
      client.findUsers({ search: term, names: 'true', limit: MAX_RESULTS }, { signal: abort.signal, maxTries: 2 }).then(
        (users) => {
          setSearch({ state: 'found', users })
          // An empty list announces its own text.
          if (users.length > 0) announce(t.found({ count: users.length }))
        },
        (error: unknown) => {
          if (!abort.signal.aborted) setSearch({ state: 'failed', users: [], error })
        },
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [term])
  return search
}
