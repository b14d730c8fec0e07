import { useEffect, useState } from 'react'
import type { CardLocation } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/dialog.tsx'
import { readDraft, useDraftName, writeDraft } from './drafts.ts'
import { findAuthor } from './find-author.ts'
import { t } from './messages.ts'
import { recreateCard } from './recreate-card.ts'
import { RenderedText } from './rendered-text.tsx'

/** Shown when the open card is deleted by another user. Its text can still be copied, and the card recreated. */
export function DeletedCard({ last: { card, column, index } }: { last: CardLocation }) {
  const tools = useTools()
  const draftName = useDraftName(card.id, 'description')
  const [who, setWho] = useState<string>(t.someone)
  const description = readDraft(draftName)?.text ?? card.description ?? ''
  useEffect(() => {
    void findAuthor(tools, ({ type, data }) => type === 'card.deleted' && data.id === card.id).then(setWho)
  }, [tools, card.id])
  const files = card.attachments.length
  const steps = card.checklists.flatMap(({ title, items }) => [
    `\n${title}`,
    ...items.map(({ content, is_done }) => `- [${is_done ? 'x' : ' '}] ${content}`),
  ])
  const copy = () => copyText([card.title, description, ...steps].filter(Boolean).join('\n'))
  const recreate = () => {
    const target = tools.view.columns.find(({ id }) => id === column.id) ?? tools.view.columns[0]
    if (!target) return
    const card_id = recreateCard(tools, card, description, { column_id: target.id, position: index })
    writeDraft(draftName, undefined)
    tools.openCard(card_id)
  }
  return (
    <Dialog title={card.title} size="wide" hasOwnHeading onClose={() => tools.close()}>
      <div className="dialog-body cd">
        <div className="cd-bar is-danger" role="alert">
          <span>
            {who === t.you ? t.youDeletedCard({ title: card.title }) : t.deletedCard({ who, title: card.title })}
            {files > 0 && ` ${t.filesLost({ count: files })}`}
          </span>
          <span className="cd-bar-actions">
            <button type="button" className="button" onClick={() => void copy()}>
              {t.copyText}
            </button>
            <button type="button" className="button" onClick={recreate}>
              {t.recreate}
            </button>
          </span>
        </div>
        <div className="cd-title" dir="auto">
          {card.title}
        </div>
        {description && (
          <section className="cd-section" aria-label={t.description}>
            <RenderedText text={description} />
          </section>
        )}
        {card.checklists.map(({ id, title, items }) => (
          <section key={id} className="cd-section" aria-label={t.checklist({ title })}>
            <h3 dir="auto">{title}</h3>
            <ul className="cd-items">
              {items.map((item) => (
                <li key={item.id} className={`cd-item${item.is_done ? ' is-done' : ''}`}>
                  <input type="checkbox" aria-label={item.content} checked={item.is_done} disabled readOnly />
                  <span className="cd-item-content" dir="auto">
                    {item.content}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
