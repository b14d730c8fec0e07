import { useBoardSelector } from '@lockstep/client/react'
import { useEffect, useState } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { useTools } from '../board-state/board-tools.ts'
import { readStored, writeStored } from '../ui/browser-storage.ts'

/** Unsaved text, and the saved text it is based on. */
export interface Draft {
  text: string
  base: string
  at: string
}

/** If the browser's storage is unavailable, drafts last as long as the page. */
const inMemory = new Map<string, Draft>()

export function readDraft(name: string): Draft | undefined {
  try {
    return inMemory.get(name) ?? (JSON.parse(readStored(name) ?? 'null') as Draft | null) ?? undefined
  } catch {
    return undefined
  }
}

export function writeDraft(name: string, draft: Omit<Draft, 'at'> | undefined) {
  const dated = draft && { ...draft, at: new Date().toISOString() }
  if (dated) inMemory.set(name, dated)
  else inMemory.delete(name)
  writeStored(name, dated && JSON.stringify(dated))
}

/** Storage key of a draft. Every user of the browser has their own drafts. */
export function useDraftName(id: string, field: string): string {
  return `draft/${useTools().me.id}/${id}/${field}`
}

/** Deletes a draft whose text was saved while the page was closed. */
export function useDiscardSavedDraft(id: string, draftName: string, value: string) {
  const isPending = useBoardSelector(boardApi, useTools().board_id, ({ pending }) =>
    pending.some(({ change }) => Object.values(change.input).includes(id)),
  )
  useEffect(() => {
    if (!isPending && readDraft(draftName)?.text === value) writeDraft(draftName, undefined)
  }, [isPending, draftName, value])
}

/** State of a field that starts with its draft. */
export function useDraftText(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(name)?.text ?? '')
  const write = (next: string) => {
    setText(next)
    writeDraft(name, next ? { text: next, base: '' } : undefined)
  }
  return [text, write]
}
