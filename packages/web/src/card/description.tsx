import type { Card } from '@lockstep/client'
import { type MouseEvent, useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { useMounted } from '../ui/mounted.ts'
import { useStore } from '../ui/store.ts'
import { showToast } from '../ui/toasts.ts'
import { type DescriptionDraft, DescriptionEditor } from './description-editor.tsx'
import { DraftBar } from './draft-bar.tsx'
import { readDraft, useDiscardSavedDraft, useDraftName, writeDraft } from './drafts.ts'
import { kindOf } from './file-kinds.ts'
import { findAuthor } from './find-author.ts'
import { t } from './messages.ts'
import { RenderedText } from './rendered-text.tsx'
import { reusedText } from './reused-text.ts'
import { type SaveStep, saveDescription } from './save-description.ts'
import { saveTask } from './save-task.ts'
import { toggleTask } from './toggle-task.ts'

const MAX_LENGTH = 65_536

interface DescriptionProps {
  card: Card
  /** Chooses files to attach. */
  onAttach: () => void
}

export function Description({ card, onAttach }: DescriptionProps) {
  const tools = useTools()
  const draftName = useDraftName(card.id, 'description')
  const shown = card.description ?? ''
  const [edited, setWriting] = useState<DescriptionDraft>()
  // An editor in which nothing was typed shows the text as it is now.
  const isUntouched = edited !== undefined && edited.text === edited.base && !edited.conflict
  const writing = isUntouched ? { ...edited, text: shown, base: shown } : edited
  const [note, setNote] = useState<string>()
  const [, rerender] = useReducer((count: number) => count + 1, 0)
  const edit = useRef<HTMLButtonElement>(null)
  const section = useRef<HTMLElement>(null)
  const images = useMemo(() => card.attachments.filter((each) => kindOf(each) === 'image'), [card.attachments])
  const imageIds = useMemo(() => new Set(images.map(({ id }) => id)), [images])
  const isMounted = useMounted()
  useDiscardSavedDraft(card.id, draftName, shown)
  const draft = writing ? undefined : readDraft(draftName)
  const reused = useStore(reusedText)
  useEffect(() => {
    if (reused === undefined) return
    reusedText.set(undefined)
    setWriting({ text: reused, base: shown })
    writeDraft(draftName, reused === shown ? undefined : { text: reused, base: shown })
    section.current?.scrollIntoView({ block: 'nearest' })
    section.current?.querySelector('textarea')?.focus()
  }, [reused, shown, draftName])

  const authorOf = useCallback(
    (theirs: string) =>
      findAuthor(
        tools,
        ({ type, data }) => type === 'card.updated' && data.id === card.id && (data.description ?? '') === theirs,
      ),
    [tools, card.id],
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
      setWriting({ ...step.draft, conflict: t.someone })
      const name = await authorOf(step.theirs)
      setWriting((now) => (now?.conflict ? { ...now, conflict: name } : now))
      return
    }
    closeEditor()
    announce(t.descriptionSaved)
    if (!step.isMerged) return
    const who = await authorOf(step.theirs)
    setNote(who === t.you ? t.youAlsoEdited : t.alsoEdited({ who }))
  }
  const begin = () => {
    setNote(undefined)
    setWriting(draft ? { text: draft.text, base: draft.base } : { text: shown, base: shown })
  }
  const write = (text: string) => {
    setWriting(writing && { ...writing, text, problem: undefined })
    writeDraft(draftName, writing && text !== writing.base ? { text, base: writing.base } : undefined)
  }
  const save = (base: string) => {
    if (!writing) return
    // Count characters, as the server does.
    const { length } = Array.from(writing.text)
    if (length > MAX_LENGTH) {
      const problem = t.descriptionTooLong({ length, max: MAX_LENGTH })
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
    focusAfterRender(() => edit.current)
  }
  const discardMine = () => {
    const mine = readDraft(draftName)
    writeDraft(draftName, undefined)
    closeEditor()
    const restore = () => {
      writeDraft(draftName, mine)
      rerender()
    }
    showToast(t.draftDiscarded, { label: t.undo, run: restore })
  }
  const tick = (event: MouseEvent, at: string) => {
    const text = toggleTask(shown, Number(at))
    if (text === undefined) return event.preventDefault()
    void saveTask(tools, card.id, text, shown)
    // The new text has new checkboxes. A tick does not change where they are.
    focusAfterRender(() => section.current?.querySelector<HTMLElement>(`[data-task="${at}"]`) ?? edit.current)
  }
  const click = (event: MouseEvent) => {
    const target = event.target as HTMLElement
    const at = target.dataset['task']
    if (at !== undefined) return tick(event, at)
    const isControl = target.closest('a, label, img') !== null
    if (!isControl && getSelection()?.isCollapsed !== false) begin()
  }

  return (
    <section ref={section} className="cd-section" aria-label={t.description}>
      <div className="cd-section-head">
        <Icon name="text" />
        <h3>{t.description}</h3>
        <span className="spacer" />
        {!writing && shown && (
          <button ref={edit} type="button" className="button is-quiet" onClick={begin}>
            {t.edit}
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
          card_id={card.id}
          writing={writing}
          theirs={shown}
          authorOf={authorOf}
          images={images}
          imageIds={imageIds}
          onWrite={write}
          onSave={() => save(writing.base)}
          onLeave={closeEditor}
          onDiscard={discardMine}
          onKeepMine={() => save(shown)}
          onKeepTheirs={discardMine}
          onAttach={onAttach}
        />
      )}
      {!writing && shown && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the button above does the same
        // biome-ignore lint/a11y/noStaticElementInteractions: the button above does the same
        <div className="cd-description" onClick={click}>
          <RenderedText text={shown} images={imageIds} canTick />
        </div>
      )}
      {!writing && !shown && (
        <button ref={edit} type="button" className="cd-empty" onClick={begin}>
          {t.addDescription}
        </button>
      )}
    </section>
  )
}
