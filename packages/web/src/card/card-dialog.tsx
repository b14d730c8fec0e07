import { useBoardSelector } from '@lockstep/client/react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { boardApi } from '../board-state/board-api.ts'
import { type CardLocation, findCard } from '../board-state/board-model.ts'
import { type OpenPicker, useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Attachments } from './attachments.tsx'
import { CardAdd } from './card-add.tsx'
import { CardDates } from './card-dates.tsx'
import { CardHead } from './card-head.tsx'
import { type CardActions, useCardKeys } from './card-keys.ts'
import { CardProperties } from './card-properties.tsx'
import { Checklists } from './checklists.tsx'
import { DeletedCard } from './deleted-card.tsx'
import { Description } from './description.tsx'
import { readDraft, useDraftName } from './drafts.ts'
import { t } from './messages.ts'
import { attach } from './uploads.ts'
import { useConflictDrafts } from './use-conflict-drafts.ts'
import { useDroppedFiles } from './use-dropped-files.ts'
import './card.css'

/** The dialog of a card. It has its own URL. */
export function CardDialog({ view, item }: PanelProps) {
  const tools = useTools()
  const found = findCard(view, item)
  const [last, setLast] = useState(found)
  // Keep the last version, to show it if another user deletes the card.
  if (found && found.card !== last?.card) setLast(found)
  useEffect(() => {
    return () => {
      // After the dialog has closed: until then the board is inert.
      setTimeout(() => tools.focusCard(tools.find(item) ? item : tools.focus.get().card_id))
    }
  }, [tools, item])
  if (found) return <OpenCard found={found} />
  if (last) return <DeletedCard last={last} />
  return (
    <Dialog title={t.cardNotFound} size="small" onClose={() => tools.close()}>
      <div className="dialog-body">
        <p className="hint">{t.cardNotFoundHint}</p>
        <div className="dialog-foot">
          <button type="button" className="button is-primary" onClick={() => tools.close()}>
            {t.backToBoard}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

function OpenCard({ found }: { found: CardLocation }) {
  const tools = useTools()
  const { card } = found
  const title = useRef<HTMLButtonElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const newChecklist = useDraftName(card.id, 'new-checklist')
  const [isAdding, setAdding] = useState(() => readDraft(newChecklist) !== undefined)
  const isOffline = useBoardSelector(boardApi, tools.board_id, ({ status }) => status.phase === 'offline')
  const isOver = useDroppedFiles((files) => void attach(card.id, files, isOffline))
  const actions = useCardActions(found, {
    rename: () => title.current?.click(),
    newChecklist: () => setAdding(true),
    upload: () => chooser.current?.click(),
  })
  useCardKeys(tools, actions)
  useConflictDrafts(card)
  // A picker belongs to the card or to the board, and does not move between them.
  useEffect(() => {
    tools.picker.set(undefined)
    return () => tools.picker.set(undefined)
  }, [tools])

  return (
    <Dialog
      title={card.title}
      size="wide"
      hasOwnHeading
      onClose={() => tools.close()}
      actions={<CardHead found={found} actions={actions} title={title} />}
    >
      <div className={isOver ? 'dialog-body cd is-over' : 'dialog-body cd'}>
        <div className="cd-columns">
          <div className="cd-side">
            <CardProperties found={found} />
            <CardAdd actions={actions} />
            <CardDates card={card} />
          </div>
          <div className="cd-main">
            <Description card={card} onAttach={actions.upload} />
            <Checklists card={card} isAdding={isAdding} setAdding={setAdding} />
            <Attachments card={card} isOffline={isOffline} chooser={chooser} />
          </div>
        </div>
        {isOver && <p className="cd-drop">{t.dropToAttach}</p>}
      </div>
    </Dialog>
  )
}

function useCardActions(
  { card, column }: CardLocation,
  own: Pick<CardActions, 'rename' | 'newChecklist' | 'upload'>,
): CardActions {
  const tools = useTools()
  const [, navigate] = useLocation()
  const openPicker = (what: OpenPicker['what']) => () => tools.picker.set({ what, card_id: card.id })
  return {
    ...own,
    move: openPicker('move'),
    labels: openPicker('labels'),
    assignees: openPicker('assignees'),
    due: openPicker('due'),
    step: (by) => {
      const shown = tools.shownIn(column)
      const next = shown[shown.findIndex(({ id }) => id === card.id) + by]
      if (!next) return announce(by < 0 ? t.firstCard : t.lastCard)
      // Replace the history entry, so that Back returns to the board in one step.
      navigate(`/b/${tools.board_id}/c/${next.id}${filterQuery()}`, { replace: true })
    },
    remove: () => void tools.remove(card.id),
  }
}
