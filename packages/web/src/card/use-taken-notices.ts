import type { Card } from '@lockstep/client'
import { useBoardSelector } from '@lockstep/client/react'
import { useEffect } from 'react'
import { boardApi } from '../board/board-api.ts'
import { useTools } from '../board/board-tools.ts'
import { keepDraft, readDraft } from './drafts.ts'

/** The dialog offers what could not be saved as a draft, so the board need not tell of it as well. */
export function useTakenNotices({ id }: Card) {
  const tools = useTools()
  const notices = useBoardSelector(boardApi, tools.board_id, (state) => state.failedChanges)
  useEffect(() => {
    for (const { key, reason, change } of notices) {
      if (reason !== 'conflict' || change.name !== 'updateCard' || change.input.card_id !== id) continue
      for (const field of ['title', 'description'] as const) {
        const name = `draft/${tools.me.id}/${id}/${field}`
        const text = change.input[field]
        if (text && !readDraft(name)) keepDraft(name, { text, base: '' })
      }
      tools.dismiss(key)
    }
  }, [notices, tools, id])
}
