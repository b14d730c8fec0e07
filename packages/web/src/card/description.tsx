import type { Card } from '@lockstep/client'
import { type MouseEvent, useReducer, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { useMounted } from '../ui/mounted.ts'
import { showToast } from '../ui/toasts.tsx'
import { type DescriptionDraft, DescriptionEditor } from './description-editor.tsx'
import { DraftBar } from './draft-bar.tsx'
import { readDraft, useDiscardSavedDraft, useDraftName, writeDraft } from './drafts.ts'
import { findAuthor } from './find-author.ts'
import { RenderedText } from './rendered-text.tsx'
import { type SaveStep, saveDescription } from './save-description.ts'

const MAX_LENGTH = 65_536
const number = (count: number) => count.toLocaleString('en')

export function Description({ card }: { card: Card }) {
  const tools = useTools()
  const draftName = useDraftName(card.id, 'description')
  const shown = card.description ?? ''
  const [writing, setWriting] = useState<DescriptionDraft>()
  const [note, setNote] = useState<string>()
  const [, rerender] = useReducer((count: number) => count + 1, 0)
  const edit = useRef<HTMLButtonElement>(null)
  const isMounted = useMounted()
  useDiscardSavedDraft(card.id, draftName, shown)
  const draft = writing ? undefined : readDraft(draftName)

  const authorOf = (theirs: string) =>
    findAuthor(
      tools,
      ({ type, data }) => type === 'card.updated' && data.id === card.id && (data.description ?? '') === theirs,
    )
  const onProgress = async (step: SaveStep) => {
    if (step.state === 'rejected') {
      // If the card was closed, the board shows the failure instead.
      if (!isMounted.current) return
      tools.dismiss(step.noticeKey)
      setNote(undefined)
      return setWriting((now) => ({ ...(now ?? step.draft), problem: step.problem }))
    }
    if (step.state === 'conflict') {
      setWriting({ ...step.draft, conflict: 'Someone' })
      const name = await authorOf(step.theirs)
      setWriting((now) => (now?.conflict ? { ...now, conflict: name } : now))
      return
    }
    closeEditor()
    announce('Description saved.')
    if (step.isMerged) setNote(`${await authorOf(step.theirs)} also edited this. Both edits are kept.`)
  }
  const begin = () => {
    setNote(undefined)
    setWriting(draft ? { text: draft.text, base: draft.base } : { text: shown, base: shown })
  }
  const write = (text: string) => {
    setWriting((now) => now && { ...now, text, problem: undefined })
    writeDraft(draftName, writing && text !== writing.base ? { text, base: writing.base } : undefined)
  }
  const save = (base: string) => {
    if (!writing) return
    // Count characters, as the server does.
    const { length } = Array.from(writing.text)
    if (length > MAX_LENGTH) {
      const problem = `Too long: ${number(length)} of ${number(MAX_LENGTH)} characters`
      setWriting({ ...writing, problem })
    } else
      void saveDescription(
        tools,
        { card_id: card.id, draftName },
        { text: writing.text, base },
        (step) => void onProgress(step),
      )
  }
  const closeEditor = () => {
    setWriting(undefined)
    requestAnimationFrame(() => {
      // Unless the user has moved the focus in the meantime.
      if (document.activeElement === document.body) edit.current?.focus()
    })
  }
  const discardMine = () => {
    const mine = readDraft(draftName)
    writeDraft(draftName, undefined)
    closeEditor()
    const restore = () => {
      writeDraft(draftName, mine)
      rerender()
    }
    showToast('Draft discarded', { label: 'Undo', run: restore })
  }
  const click = (event: MouseEvent) => {
    const isLink = (event.target as HTMLElement).closest('a, input') !== null
    if (!isLink && getSelection()?.isCollapsed !== false) begin()
  }

  return (
    <section className="cd-section" aria-label="Description">
      <div className="cd-section-head">
        <Icon name="text" />
        <h3>Description</h3>
        <span className="spacer" />
        {!writing && shown && (
          <button ref={edit} type="button" className="button is-quiet" onClick={begin}>
            Edit
          </button>
        )}
      </div>
      {note && (
        <p className="cd-bar is-good" role="status">
          {note}
        </p>
      )}
      {draft && draft.text !== shown && (
        <DraftBar name={draftName} draft={draft} onRestore={begin} onChange={rerender} />
      )}
      {writing && (
        <DescriptionEditor
          writing={writing}
          theirs={shown}
          onWrite={write}
          onSave={() => save(writing.base)}
          onLeave={closeEditor}
          onDiscard={discardMine}
          onKeepMine={() => save(shown)}
          onKeepTheirs={discardMine}
        />
      )}
      {!writing && shown && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the button above does the same
        // biome-ignore lint/a11y/noStaticElementInteractions: the button above does the same
        <div className="cd-description" onClick={click}>
          <RenderedText text={shown} />
        </div>
      )}
      {!writing && !shown && (
        <button ref={edit} type="button" className="cd-empty" onClick={begin}>
          Add description…
        </button>
      )}
    </section>
  )
}
