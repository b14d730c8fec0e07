import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { type CardLocation, findCard } from '../board-state/board-model.ts'
import { type OpenPicker, useReadOnly, useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { Attachments } from '../card/attachments.tsx'
import { CardAdd } from '../card/card-add.tsx'
import { CardContent } from '../card/card-content.tsx'
import { CardDates } from '../card/card-dates.tsx'
import { CardHead } from '../card/card-head.tsx'
import { type CardActions, useCardKeys } from '../card/card-keys.ts'
import { CardProperties } from '../card/card-properties.tsx'
import { Checklists } from '../card/checklists.tsx'
import { Description } from '../card/description.tsx'
import { readDraft, useDraftName } from '../card/drafts.ts'
import { t } from '../card/messages.ts'
import { attach } from '../card/uploads.ts'
import { useConflictDrafts } from '../card/use-conflict-drafts.ts'
import { useDroppedFiles } from '../card/use-dropped-files.ts'
import { RemovedCardDialog } from '../removed/removed-card-dialog.tsx'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { openLayers } from '../ui/layers.ts'
import { lazyComponent } from '../ui/lazy-component.tsx'
import '../card/card.css'

/** Loaded with the dialog, and not part of it: the rest of the card is shown first. */
const CardComments = lazyComponent(async () => (await import('../comments/card-comments.tsx')).CardComments)
void CardComments.fetch()

/** The dialog of a card. It has its own URL. */
export function CardDialog({ view, item }: PanelProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const found = findCard(view, item)
  const [last, setLast] = useState(found)
  // Keep the last version, to show it if another user archives or deletes the card.
  if (found && found.card !== last?.card) setLast(found)
  useEffect(() => {
    return () => {
      // After the dialog has closed: until then the board is inert. Not if the next dialog has opened meanwhile.
      setTimeout(() => {
        if (openLayers().length === 0) tools.focusCard(tools.find(item) ? item : tools.focus.get().card_id)
      })
    }
  }, [tools, item])
  if (found) return isReadOnly ? <ReadOnlyCard found={found} /> : <OpenCard found={found} />
  return <RemovedCardDialog card_id={item ?? ''} last={last} />
}

/** A card of an archived board. */
function ReadOnlyCard({ found }: { found: CardLocation }) {
  const tools = useTools()
  const { card, column } = found
  const title = useRef<HTMLButtonElement>(null)
  const isOffline = useOffline()
  const refuse = () => void tools.canChange()
  const newComment = useRef<HTMLTextAreaElement>(null)
  const actions = useCardActions(found, { rename: refuse, newChecklist: refuse, upload: refuse, comment: refuse })
  useCardKeys(tools, actions)
  return (
    <Dialog
      title={card.title}
      size="wide"
      hasOwnHeading
      onClose={() => tools.close()}
      actions={<CardHead found={found} actions={actions} title={title} />}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls and may have no focusable content */}
      <section className="dialog-body cd" tabIndex={0} aria-label={card.title} data-first="">
        <CardContent card={card} description={card.description ?? ''} column_id={column.id} hasFiles>
          <CardComments card={card} isOffline={isOffline} area={newComment} onAttach={refuse} />
        </CardContent>
      </section>
    </Dialog>
  )
}

function OpenCard({ found }: { found: CardLocation }) {
  const tools = useTools()
  const { card } = found
  const title = useRef<HTMLButtonElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const newComment = useRef<HTMLTextAreaElement>(null)
  const newChecklist = useDraftName(card.id, 'new-checklist')
  const [isAdding, setAdding] = useState(() => readDraft(newChecklist) !== undefined)
  const isOffline = useOffline()
  const isOver = useDroppedFiles((files) => void attach(card.id, files, isOffline))
  const actions = useCardActions(found, {
    rename: () => title.current?.click(),
    newChecklist: () => setAdding(true),
    upload: () => chooser.current?.click(),
    comment: () => newComment.current?.focus(),
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
            <CardComments card={card} isOffline={isOffline} area={newComment} onAttach={actions.upload} />
          </div>
        </div>
        {isOver && <p className="cd-drop">{t.dropToAttach}</p>}
      </div>
    </Dialog>
  )
}

function useCardActions(
  { card, column }: CardLocation,
  own: Pick<CardActions, 'rename' | 'newChecklist' | 'upload' | 'comment'>,
): CardActions {
  const tools = useTools()
  const [, navigate] = useLocation()
  const openPicker = (what: OpenPicker['what']) => () => tools.openPicker(what, card.id)
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
    remove: (as) => void tools.remove(card.id, as),
  }
}
