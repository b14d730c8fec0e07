import { useBoardSelector } from '@lockstep/client/react'
import { useEffect, useState } from 'react'
import { boardApi } from '../board/board-api.ts'
import { useTools } from '../board/board-tools.ts'
import { keep, readKept } from '../ui/kept.ts'

/** What somebody wrote and has not saved, and the text from which he began. */
export interface Draft {
  text: string
  base: string
  at: string
}

/** Where the browser keeps nothing, drafts live as long as the page. */
const inMemory = new Map<string, Draft>()

export function readDraft(name: string): Draft | undefined {
  try {
    return inMemory.get(name) ?? (JSON.parse(readKept(name) ?? 'null') as Draft | null) ?? undefined
  } catch {
    return undefined
  }
}

export function keepDraft(name: string, draft: Omit<Draft, 'at'> | undefined) {
  const dated = draft && { ...draft, at: new Date().toISOString() }
  if (dated) inMemory.set(name, dated)
  else inMemory.delete(name)
  keep(name, dated && JSON.stringify(dated))
}

/** The name under which what is written about a thing is kept: each user of a browser has his own. */
export function useDraftName(id: string, field: string): string {
  return `draft/${useTools().me.id}/${id}/${field}`
}

/** A draft that was saved while its page was closed is none any more. */
export function useForgotten(id: string, draft_name: string, value: string) {
  const isPending = useBoardSelector(boardApi, useTools().board_id, ({ pending }) =>
    pending.some(({ change }) => Object.values(change.input).includes(id)),
  )
  useEffect(() => {
    if (!isPending && readDraft(draft_name)?.text === value) keepDraft(draft_name, undefined)
  }, [isPending, draft_name, value])
}

/** A field that begins with what was typed there last and not sent. */
export function useKeptText(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(name)?.text ?? '')
  const write = (next: string) => {
    setText(next)
    keepDraft(name, next ? { text: next, base: '' } : undefined)
  }
  return [text, write]
}
