import type { Card } from '@lockstep/client'
import { useState } from 'react'
import { type CardLocation, numberOf } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { CardContent } from '../card/card-content.tsx'
import { cardText } from '../card/card-text.ts'
import { readDraft, useDraftName, writeDraft } from '../card/drafts.ts'
import { recreateCard } from '../card/recreate-card.ts'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { t } from './messages.ts'
import { RemovedCard } from './removed-card.tsx'
import { useRemovedItem } from './use-removed-item.ts'

interface RemovedCardDialogProps {
  card_id: string
  /** The card as it was on the board, if it left while it was open. */
  last: CardLocation | undefined
}

/** The dialog of a card that is not on the board: in the archive, in the trash, deleted for good, or unknown. */
export function RemovedCardDialog({ card_id, last }: RemovedCardDialogProps) {
  const tools = useTools()
  const { item, isGone, failure, reload } = useRemovedItem(card_id)
  const draftName = useDraftName(card_id, 'description')
  const description = readDraft(draftName)?.text
  const isOffline = useOffline()
  const [hasLeft, setLeft] = useState(false)
  const card = item?.card ?? last?.card
  const close = () => tools.close()
  if (!card) {
    const isLoading = !isGone && failure === undefined && !isOffline
    return <CardNotFound isLoading={isLoading} failure={failure} onRetry={reload} />
  }
  return (
    <Dialog title={card.title} size="wide" hasOwnHeading onClose={close} actions={<Title card={card} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls; and no button may take the keys of who was just typing */}
      <section className="dialog-body cd" tabIndex={0} aria-label={card.title} data-first="">
        {last && (
          <p className="visually-hidden" role="alert">
            {t.leftTheBoard({ title: card.title })}
          </p>
        )}
        {item && !hasLeft ? (
          <RemovedCard
            item={item}
            card={card}
            description={description}
            onLeave={(_, how) => {
              // A restored card opens when the board shows it.
              if (how === 'restored') return
              if (last) setLeft(true)
              else close()
            }}
          />
        ) : (
          last && <LostCard last={last} description={description} isFinal={isGone || hasLeft} draftName={draftName} />
        )}
      </section>
    </Dialog>
  )
}

const Title = ({ card }: { card: Card }) => (
  <>
    <div className="cd-title-row">
      <div className="cd-title" dir="auto">
        {card.title}
      </div>
    </div>
    {numberOf(card) && <span className="cd-number">{numberOf(card)}</span>}
  </>
)

interface LostCardProps {
  last: CardLocation
  /** Unsaved text. */
  description: string | undefined
  /** It can't be restored. */
  isFinal: boolean
  draftName: string
}

/** What is known of a card that left while it was open. Its text can be copied, and the card created again without its files. */
function LostCard({ last: { card, column, index }, description, isFinal, draftName }: LostCardProps) {
  const tools = useTools()
  const { view, isReadOnly } = useShownBoard()
  const { title, attachments } = card
  const text = description ?? card.description ?? ''
  const target = view.columns.find(({ id }) => id === column.id) ?? view.columns[0]
  const recreate = (column_id: string) => {
    const card_id = recreateCard(tools, card, text, { column_id, position: index })
    writeDraft(draftName, undefined)
    tools.openCard(card_id)
  }
  return (
    <>
      <div className="cd-bar is-danger">
        <span>
          {(isFinal ? t.cardIsGone : t.leftTheBoard)({ title })}
          {isFinal && attachments.length > 0 && ` ${t.filesLost({ count: attachments.length })}`}
        </span>
        <span className="cd-bar-actions">
          <button type="button" className="button" onClick={() => void copyText(cardText(card, text))}>
            {t.copyText}
          </button>
          {isFinal && target && !isReadOnly && (
            <button type="button" className="button" onClick={() => recreate(target.id)}>
              {t.recreate}
            </button>
          )}
        </span>
      </div>
      <CardContent card={card} description={text} column_id={column.id} />
    </>
  )
}

interface CardNotFoundProps {
  isLoading: boolean
  failure: unknown
  onRetry: () => void
}

function CardNotFound({ isLoading, failure, onRetry }: CardNotFoundProps) {
  const tools = useTools()
  return (
    <Dialog title={isLoading ? t.loading : t.cardNotFound} size="small" onClose={() => tools.close()}>
      <div className="dialog-body">
        {!isLoading && <p className="hint">{t.cardNotFoundHint}</p>}
        {failure !== undefined && <Failure error={failure} onRetry={onRetry} />}
        <div className="dialog-foot">
          <button type="button" className="button is-primary" onClick={() => tools.close()}>
            {t.backToBoard}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
