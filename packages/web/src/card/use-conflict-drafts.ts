import type { Card } from '@lockstep/client'
import { useBoardSelector } from '@lockstep/client/react'
import { useEffect } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { useTools } from '../board-state/board-tools.ts'
import { readDraft, writeDraft } from './drafts.ts'

/** Turns conflicting changes of this card into drafts, and dismisses them on the board. */
export function useConflictDrafts({ id }: Card) {
  const tools = useTools()
  const failedChanges = useBoardSelector(boardApi, tools.board_id, (state) => state.failedChanges)
  useEffect(() => {
    for (const { key, reason, change } of failedChanges) {
      if (reason !== 'conflict' || change.name !== 'updateCard' || change.input.card_id !== id) continue
      for (const field of ['title', 'description'] as const) {
        const name = `draft/${tools.me.id}/${id}/${field}`
        const text = change.input[field]
        if (text && !readDraft(name)) writeDraft(name, { text, base: '' })
      }
      tools.dismiss(key)
    }
  }, [failedChanges, tools, id])
}
