import type { Attachment, Card, Checklist } from '@lockstep/client'
import { type ReactNode, useMemo } from 'react'
import { numberOf } from '../board-state/board-model.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { DueChip } from '../ui/due-chip.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Avatars, tinted } from '../ui/people.tsx'
import { PersonName } from './assignee-picker.tsx'
import { AttachmentRow } from './attachment-row.tsx'
import { CardDates } from './card-dates.tsx'
import { kindOf, shownName, sizeOf } from './file-kinds.ts'
import { FilePreview, openPreview } from './file-preview.tsx'
import { t } from './messages.ts'
import { RenderedText } from './rendered-text.tsx'
import './card.css'

interface CardContentProps {
  card: Card
  description: string
  /** Its column. It may be gone. */
  column_id: string | null
  /** Whether the title is part of the content. */
  hasTitle?: boolean
  /** Whether the files can be opened: those of a card that left the board can't. */
  hasFiles?: boolean
  /** Below its contents. */
  children?: ReactNode
}

/** A card that can't be changed: on an archived board, or no longer on a board. */
export function CardContent({
  card,
  description,
  column_id,
  hasTitle = false,
  hasFiles = false,
  children,
}: CardContentProps) {
  const imageIds = useMemo(
    () => new Set(card.attachments.filter((each) => kindOf(each) === 'image').map(({ id }) => id)),
    [card.attachments],
  )
  const number = numberOf(card)
  return (
    <>
      {hasTitle && (
        <div className="cd-title" dir="auto">
          {card.title} {number && <span className="cd-number">{number}</span>}
        </div>
      )}
      <div className="cd-columns">
        <div className="cd-side">
          <Properties card={card} column_id={column_id} />
          <CardDates card={card} />
        </div>
        <div className="cd-main">
          {description && (
            <section className="cd-section" aria-label={t.description}>
              <SectionHead icon="text">{t.description}</SectionHead>
              <RenderedText text={description} {...(hasFiles && { images: imageIds })} />
            </section>
          )}
          {card.checklists.map((checklist) => (
            <ReadOnlyChecklist key={checklist.id} checklist={checklist} />
          ))}
          {card.attachments.length > 0 && <Files attachments={card.attachments} canOpen={hasFiles} />}
          {!description && card.checklists.length === 0 && card.attachments.length === 0 && (
            <p className="hint">{t.noContent}</p>
          )}
          {children}
        </div>
      </div>
    </>
  )
}

const SectionHead = ({ icon, children }: { icon: IconName; children: ReactNode }) => (
  <div className="cd-section-head">
    <Icon name={icon} />
    <h3 dir="auto">{children}</h3>
  </div>
)

function Properties({ card, column_id }: Pick<CardContentProps, 'card' | 'column_id'>) {
  const { view } = useShownBoard()
  const column = view.columns.find(({ id }) => id === column_id)
  return (
    <div className="cd-properties">
      <Property icon="swap" label={t.column}>
        {column && (
          <span className="cd-place">
            <span className="dot" style={tinted(column.color)} />
            <span dir="auto">{column.title}</span>
          </span>
        )}
      </Property>
      <Property icon="calendar" label={t.dueDate}>
        {card.due_on && <DueChip due_on={card.due_on} isDone={column?.is_done_column ?? false} />}
      </Property>
      <Property icon="tag" label={t.labels}>
        {card.labels.length > 0 &&
          card.labels.map((label) => (
            <span key={label.id} className="tag" style={tinted(label.color)} dir="auto">
              {label.name}
            </span>
          ))}
      </Property>
      <Property icon="users" label={t.assignees}>
        {card.assignees.length > 0 &&
          card.assignees.map((user) => (
            <span key={user.id} className="cd-person">
              <PersonName user={user} />
            </span>
          ))}
      </Property>
    </div>
  )
}

const Property = ({ icon, label, children }: { icon: IconName; label: string; children: ReactNode }) => (
  <div className="cd-property">
    <Icon name={icon} />
    <span className="cd-property-name">{label}</span>
    <span className="cd-property-value">{children || <span className="cd-quiet">{t.none}</span>}</span>
  </div>
)

function ReadOnlyChecklist({ checklist: { title, items } }: { checklist: Checklist }) {
  const done = items.filter(({ is_done }) => is_done).length
  return (
    <section className="cd-section" aria-label={t.checklist({ title })}>
      <div className="cd-section-head">
        <Icon name="list" />
        <h3 dir="auto">{title}</h3>
        <span className="spacer" />
        <span className="cd-count">{t.doneOf({ done, total: items.length })}</span>
      </div>
      <ul className="cd-items">
        {items.map((item) => (
          <li key={item.id} className={`cd-item is-fixed${item.is_done ? ' is-done' : ''}`}>
            <span className="cd-tick">
              <input type="checkbox" aria-label={item.content} checked={item.is_done} disabled readOnly />
            </span>
            <span className="cd-item-content" dir="auto">
              {item.content}
            </span>
            <span className="spacer" />
            <Avatars people={item.assignees} label={t.itemAssignees} most={3} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Files({ attachments, canOpen }: { attachments: readonly Attachment[]; canOpen: boolean }) {
  return (
    <section className="cd-section" aria-label={t.attachments}>
      <SectionHead icon="clip">{t.attachments}</SectionHead>
      <ul className="cd-files">
        {attachments.map((attachment) =>
          canOpen ? (
            <AttachmentRow key={attachment.id} attachment={attachment} onPreview={() => openPreview(attachment)} />
          ) : (
            <li key={attachment.id} className="cd-file">
              <span className="cd-thumb">
                <Icon name="file" />
              </span>
              <span className="cd-file-about">
                <span className="cd-file-name" dir="auto">
                  {shownName(attachment.name)}
                </span>
                <span className="cd-file-note">{sizeOf(attachment.size)}</span>
              </span>
            </li>
          ),
        )}
      </ul>
      <FilePreview files={attachments} />
    </section>
  )
}
