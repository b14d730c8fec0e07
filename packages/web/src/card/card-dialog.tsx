import { useBoardSelector } from '@lockstep/client/react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { boardApi } from '../board/board-api.ts'
import { type Found, findCard } from '../board/board-model.ts'
import { useTools } from '../board/board-tools.ts'
import type { PanelProps } from '../board/panel.ts'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { showToast } from '../ui/toasts.tsx'
import { Attachments } from './attachments.tsx'
import { CardAdd } from './card-add.tsx'
import { CardFacts } from './card-facts.tsx'
import { CardHead } from './card-head.tsx'
import { type CardActs, useCardKeys } from './card-keys.ts'
import { Checklists } from './checklists.tsx'
import { Description } from './description.tsx'
import { readDraft, useDraftName } from './drafts.ts'
import { EditableText } from './editable-text.tsx'
import { GoneCard } from './gone-card.tsx'
import { saveTitle } from './save-title.ts'
import { attach } from './uploads.ts'
import { useDroppedFiles } from './use-dropped-files.ts'
import { useTakenNotices } from './use-taken-notices.ts'
import './card.css'
import { filterQuery } from '../board/filter-address.ts'

/** A card with everything that is on it, under an address of its own. */
export function CardDialog({ view, item }: PanelProps) {
  const tools = useTools()
  const found = findCard(view, item)
  const [last, setLast] = useState(found)
  // What was there is shown on when somebody deletes it.
  if (found && found.card !== last?.card) setLast(found)
  useEffect(() => {
    return () => {
      // When the dialog is gone: until then the board cannot have the focus.
      setTimeout(() => tools.focusCard(tools.find(item) ? item : tools.focus.get().card_id))
    }
  }, [tools, item])
  if (found) return <OpenCard found={found} />
  if (last) return <GoneCard last={last} />
  return (
    <Dialog title="There is no such card on this board" size="small" onClose={() => tools.close()}>
      <div className="dialog-body">
        <p className="hint">It may have been deleted, or the address is mistyped.</p>
        <div className="dialog-foot">
          <button type="button" className="button is-primary" onClick={() => tools.close()}>
            Show the board
          </button>
        </div>
      </div>
    </Dialog>
  )
}

function OpenCard({ found }: { found: Found }) {
  const tools = useTools()
  const { card } = found
  const title = useRef<HTMLButtonElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const new_checklist = useDraftName(card.id, 'new-checklist')
  const [isAdding, setAdding] = useState(() => readDraft(new_checklist) !== undefined)
  const is_offline = useBoardSelector(boardApi, tools.board_id, ({ status }) => status.phase === 'offline')
  const isOver = useDroppedFiles((files) => attach(card.id, files, is_offline))
  const acts = useActs(found, {
    rename: () => title.current?.click(),
    newChecklist: () => setAdding(true),
    upload: () => chooser.current?.click(),
  })
  useCardKeys(tools, acts)
  const rename = async (text: string, base: string, draft_name: string) => {
    const outcome = await saveTitle(tools, card.id, draft_name, text, base)
    if (outcome === 'conflict') showToast('Somebody changed the title meanwhile. Yours is kept as a draft.')
  }
  useTakenNotices(card)

  return (
    <Dialog
      title={card.title}
      size="wide"
      has_own_heading
      onClose={() => tools.close()}
      actions={<CardHead found={found} acts={acts} />}
    >
      <div className={isOver ? 'dialog-body cd is-over' : 'dialog-body cd'}>
        <div className="cd-title-row">
          <EditableText
            id={card.id}
            field="title"
            label="Title"
            className="cd-title"
            value={card.title}
            max={255}
            button={title}
            onSave={(...text) => void rename(...text)}
          />
        </div>
        <div className="cd-columns">
          <CardFacts card={card} />
          <div className="cd-main">
            <Description card={card} />
            <Checklists card={card} is_adding={isAdding} setAdding={setAdding} />
            <Attachments card={card} is_offline={is_offline} chooser={chooser} />
          </div>
          <CardAdd card={card} acts={acts} />
        </div>
        {isOver && <p className="cd-drop">Drop to attach</p>}
      </div>
    </Dialog>
  )
}

function useActs({ card, column }: Found, own: Pick<CardActs, 'rename' | 'newChecklist' | 'upload'>): CardActs {
  const tools = useTools()
  const [, navigate] = useLocation()
  const ask = (what: 'move' | 'labels' | 'assignees') => () => tools.asking.set({ what, card_id: card.id })
  return {
    ...own,
    move: ask('move'),
    labels: ask('labels'),
    assignees: ask('assignees'),
    step: (by) => {
      const shown = tools.shownIn(column)
      const next = shown[shown.findIndex(({ id }) => id === card.id) + by]
      if (!next) return announce(by < 0 ? 'This is the first card of the lane.' : 'This is the last card of the lane.')
      // Whoever looks through a lane comes back to the board by one step, not by many.
      navigate(`/b/${tools.board_id}/c/${next.id}${filterQuery()}`, { replace: true })
    },
    remove: () => {
      if (tools.remove(card.id)) tools.close()
    },
  }
}
