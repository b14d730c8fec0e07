import type { Card, RemovedItem } from '@lockstep/client'
import { CardContent } from '../card/card-content.tsx'
import { cardText } from '../card/card-text.ts'
import { copyText } from '../ui/clipboard.ts'
import { t } from './messages.ts'
import { RemovedBar } from './removed-bar.tsx'
import type { OnLeave } from './use-restore.tsx'
import './removed.css'

interface RemovedCardProps {
  item: RemovedItem
  card: Card
  /** Unsaved text, or the description. */
  description?: string | undefined
  onLeave: OnLeave
  /** Whether the title is part of the content. */
  hasTitle?: boolean
}

/** A card that left the board, read-only. */
export function RemovedCard(props: RemovedCardProps) {
  const { item, card, description = card.description ?? '', onLeave, hasTitle = false } = props
  return (
    <>
      <RemovedBar item={item} onLeave={onLeave}>
        <button type="button" className="button" onClick={() => void copyText(cardText(card, description))}>
          {t.copyText}
        </button>
      </RemovedBar>
      <CardContent card={card} description={description} column_id={item.column_id} hasTitle={hasTitle} />
    </>
  )
}
