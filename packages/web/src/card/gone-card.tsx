import { useEffect, useState } from 'react'
import type { Found } from '../board/board-model.ts'
import { useTools } from '../board/board-tools.ts'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/dialog.tsx'
import { keepDraft, readDraft, useDraftName } from './drafts.ts'
import { recreateCard } from './recreate-card.ts'
import { Rendered } from './rendered.tsx'
import { whoDid } from './who.ts'

/** A card that somebody deleted while it was open: nothing that was read or written here is lost with it. */
export function GoneCard({ last: { card, column, index } }: { last: Found }) {
  const tools = useTools()
  const draft_name = useDraftName(card.id, 'description')
  const [who, setWho] = useState('somebody')
  const description = readDraft(draft_name)?.text ?? card.description ?? ''
  useEffect(() => {
    const isIt = whoDid(tools, ({ type, data }) => type === 'card.deleted' && data.id === card.id)
    void isIt.then((name) => setWho(name === 'You' || name === 'Somebody' ? name.toLowerCase() : name))
  }, [tools, card.id])
  const files = card.attachments.length
  const steps = card.checklists.flatMap(({ title, items }) => [
    `\n${title}`,
    ...items.map(({ content, is_done }) => `- [${is_done ? 'x' : ' '}] ${content}`),
  ])
  const copy = () => copyText([card.title, description, ...steps].filter(Boolean).join('\n'))
  const recreate = () => {
    const lane = tools.view.columns.find(({ id }) => id === column.id) ?? tools.view.columns[0]
    if (!lane) return
    const card_id = recreateCard(tools, card, description, { column_id: lane.id, position: index })
    keepDraft(draft_name, undefined)
    tools.openCard(card_id)
  }
  return (
    <Dialog title={card.title} size="wide" has_own_heading onClose={() => tools.close()}>
      <div className="dialog-body cd">
        <div className="cd-bar is-danger" role="alert">
          <span>
            “{card.title}” was deleted by {who}.
            {files > 0 && ` Its ${files === 1 ? 'file' : `${files} files`} cannot be brought back.`}
          </span>
          <span className="cd-bar-actions">
            <button type="button" className="button" onClick={() => void copy()}>
              Copy text
            </button>
            <button type="button" className="button" onClick={recreate}>
              Recreate
            </button>
          </span>
        </div>
        <div className="cd-title">{card.title}</div>
        {description && (
          <section className="cd-section" aria-label="Description">
            <Rendered text={description} />
          </section>
        )}
        {card.checklists.map(({ id, title, items }) => (
          <section key={id} className="cd-section" aria-label={`Checklist ${title}`}>
            <h3>{title}</h3>
            <ul className="cd-items">
              {items.map((item) => (
                <li key={item.id} className={`cd-item${item.is_done ? ' is-done' : ''}`}>
                  <input type="checkbox" aria-label={item.content} checked={item.is_done} disabled readOnly />
                  <span className="cd-item-content">{item.content}</span>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
