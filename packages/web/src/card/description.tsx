import type { Card } from '@lockstep/client'
import { type MouseEvent, useReducer, useRef, useState } from 'react'
import { useTools } from '../board/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { useMounted } from '../ui/mounted.ts'
import { showToast } from '../ui/toasts.tsx'
import { DescriptionEditor, type Writing } from './description-editor.tsx'
import { DraftBar } from './draft-bar.tsx'
import { keepDraft, readDraft, useDraftName, useForgotten } from './drafts.ts'
import { Rendered } from './rendered.tsx'
import { type Step, saveDescription } from './save-description.ts'
import { whoDid } from './who.ts'

const MAX_LENGTH = 65_536
const number = (count: number) => count.toLocaleString('en')

export function Description({ card }: { card: Card }) {
  const tools = useTools()
  const draft_name = useDraftName(card.id, 'description')
  const shown = card.description ?? ''
  const [writing, setWriting] = useState<Writing>()
  const [note, setNote] = useState<string>()
  const [, lookAgain] = useReducer((count: number) => count + 1, 0)
  const edit = useRef<HTMLButtonElement>(null)
  const isMounted = useMounted()
  useForgotten(card.id, draft_name, shown)
  const draft = writing ? undefined : readDraft(draft_name)

  const who = (theirs: string) =>
    whoDid(
      tools,
      ({ type, data }) => type === 'card.updated' && data.id === card.id && (data.description ?? '') === theirs,
    )
  const tell = async (step: Step) => {
    if (step.state === 'refused') {
      // Once the card is closed, the board says it instead.
      if (!isMounted.current) return
      tools.dismiss(step.notice_key)
      setNote(undefined)
      return setWriting((now) => ({ ...(now ?? step.draft), problem: step.problem }))
    }
    if (step.state === 'conflict') {
      setWriting({ ...step.draft, conflict: 'Somebody' })
      const name = await who(step.theirs)
      setWriting((now) => (now?.conflict ? { ...now, conflict: name } : now))
      return
    }
    leave()
    announce('Description saved.')
    if (step.is_merged) setNote(`${await who(step.theirs)} also edited this; both changes are kept.`)
  }
  const begin = () => {
    setNote(undefined)
    setWriting(draft ? { text: draft.text, base: draft.base } : { text: shown, base: shown })
  }
  const write = (text: string) => {
    setWriting((now) => now && { ...now, text, problem: undefined })
    keepDraft(draft_name, writing && text !== writing.base ? { text, base: writing.base } : undefined)
  }
  const save = (base: string) => {
    if (!writing) return
    // By characters, as the service counts.
    const { length } = Array.from(writing.text)
    if (length > MAX_LENGTH) {
      const problem = `This text has ${number(length)} characters. At most ${number(MAX_LENGTH)} fit.`
      setWriting({ ...writing, problem })
    } else
      void saveDescription(
        tools,
        { card_id: card.id, draft_name },
        { text: writing.text, base },
        (step) => void tell(step),
      )
  }
  const leave = () => {
    setWriting(undefined)
    requestAnimationFrame(() => {
      // Unless the focus has gone on meanwhile: a text takes a while to be saved.
      if (document.activeElement === document.body) edit.current?.focus()
    })
  }
  const takeTheirs = () => {
    const mine = readDraft(draft_name)
    keepDraft(draft_name, undefined)
    leave()
    const restore = () => {
      keepDraft(draft_name, mine)
      lookAgain()
    }
    showToast('Your text is discarded', { label: 'Undo', run: restore })
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
        <DraftBar name={draft_name} draft={draft} onRestore={begin} onChange={lookAgain} />
      )}
      {writing && (
        <DescriptionEditor
          writing={writing}
          theirs={shown}
          onWrite={write}
          onSave={() => save(writing.base)}
          onLeave={leave}
          onDiscard={takeTheirs}
          onUseMine={() => save(shown)}
          onUseTheirs={takeTheirs}
        />
      )}
      {!writing && shown && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the button above does the same
        // biome-ignore lint/a11y/noStaticElementInteractions: the button above does the same
        <div className="cd-description" onClick={click}>
          <Rendered text={shown} />
        </div>
      )}
      {!writing && !shown && (
        <button ref={edit} type="button" className="cd-empty" onClick={begin}>
          Add a description…
        </button>
      )}
    </section>
  )
}
