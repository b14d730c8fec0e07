import type { Card } from '@lockstep/client'
import { useId, useState } from 'react'
import { ActivityLine } from '../activity/activity-line.tsx'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { readDraft, useDraftName } from '../card/drafts.ts'
import { reusedText } from '../card/reused-text.ts'
import { confirmAction } from '../ui/confirm.ts'
import { shortDate } from '../ui/dates.ts'
import { t } from './messages.ts'
import type { HistoryEntry } from './use-card-history.ts'

/** A change of the card. An earlier description can be read and used again. */
export function HistoryRow({ entry: { line, earlierText }, card }: { entry: HistoryEntry; card: Card }) {
  const { board_id } = useTools()
  const { view } = useShownBoard()
  const id = useId()
  const draftName = useDraftName(card.id, 'description')
  const [isOpen, setOpen] = useState(false)
  const use = async () => {
    const question = { title: t.replaceDraftTitle, text: t.replaceDraftText, action: t.replaceDraft }
    if (readDraft(draftName) && !(await confirmAction(question))) return
    reusedText.set(earlierText)
  }
  return (
    <ActivityLine line={line} board_id={board_id} timeOf={shortDate}>
      {earlierText !== undefined && (
        <>
          <button
            type="button"
            className="button is-quiet history-show"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            aria-label={isOpen ? t.hideText : t.showText}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? t.hide : t.show}
          </button>
          {isOpen && (
            <div id={id} className="history-text">
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
              <section className="history-earlier" tabIndex={0} aria-label={t.earlierText} dir="auto">
                {earlierText || t.emptyText}
              </section>
              {!view.archived_at && (
                <button type="button" className="button" onClick={() => void use()}>
                  {t.useText}
                </button>
              )}
            </div>
          )}
        </>
      )}
    </ActivityLine>
  )
}
