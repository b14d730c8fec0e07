import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview'
import type { Card } from '@lockstep/client'
import { memo, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { numberOf, progressOf } from '../board-state/board-model.ts'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { cardMenu } from '../board-state/card-menu.ts'
import { useMark } from '../board-state/marks.ts'
import { DueChip } from '../ui/due-chip.tsx'
import { Icon } from '../ui/icon.tsx'
import { isWriting } from '../ui/keys.tsx'
import { Menu, type MenuHandle } from '../ui/menu.tsx'
import { Avatars, tinted } from '../ui/people.tsx'
import { useStore, useStorePart } from '../ui/store.ts'
import { dragPreview } from './drag-preview.ts'
import { t } from './messages.ts'
import { showPerson } from './shown-person.ts'
import { TitleEditor } from './title-editor.tsx'

interface CardFaceProps {
  card: Card
  /** Whether it is in a done column. */
  isDone: boolean
  /** Roving tabindex: one card of each column is a Tab stop. */
  isTabStop: boolean
}

/** A card on the board. Memoized: renders only when the card or its state changes. */
export const CardFace = memo(function CardFace({ card, isDone, isTabStop }: CardFaceProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const face = useRef<HTMLDivElement>(null)
  const link = useRef<HTMLAnchorElement>(null)
  const menu = useRef<MenuHandle>(null)
  const focusCount = useStorePart(tools.focus, ({ card_id, count }) => (card_id === card.id ? count : -1))
  const isRenaming = useStorePart(tools.renaming, (card_id) => card_id === card.id)
  const isPending = useStorePart(tools.pending, (ids) => ids.has(card.id))
  const isUnderFiles = useStorePart(tools.filesOver, (card_id) => card_id === card.id)
  const mark = useMark(tools.marks, card.id)

  // Also after the card was mounted again in another column, so that the focus is not lost.
  useEffect(() => {
    if (focusCount >= 0 && tools.focus.get().isHeld) link.current?.focus({ preventScroll: true })
  }, [focusCount, tools])

  useEffect(() => {
    const element = face.current
    if (!element) return
    return draggable({
      element,
      canDrag: () => !tools.isReadOnly && tools.renaming.get() !== card.id,
      getInitialData: () => ({ kind: 'card', id: card.id, height: element.offsetHeight }),
      onGenerateDragPreview: ({ nativeSetDragImage, location }) =>
        setCustomNativeDragPreview({ nativeSetDragImage, ...dragPreview(element, location.current.input) }),
    })
  }, [card.id, tools])

  const { done, all } = progressOf(card)
  const number = numberOf(card)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the context menu is also a button
    <div
      ref={face}
      className={`card${isPending ? ' is-pending' : ''}${mark ? ' is-marked' : ''}${isUnderFiles ? ' is-under-files' : ''}`}
      style={mark && tinted(mark.color)}
      data-card-id={card.id}
      onContextMenu={(event) => {
        // With Shift the browser's own menu opens, for example to open the link in a new tab.
        if (event.shiftKey || isWriting(event.target)) return
        event.preventDefault()
        menu.current?.openAt(event.clientX, event.clientY)
      }}
    >
      {mark && <span className="card-mark">{mark.text}</span>}
      {isRenaming && !isReadOnly ? (
        <TitleEditor card={card} />
      ) : (
        <Link
          ref={link}
          href={`/b/${tools.board_id}/c/${card.id}`}
          className="card-title"
          dir="auto"
          draggable={false}
          tabIndex={isTabStop ? 0 : -1}
          aria-describedby="board-hint"
          onFocus={() => {
            const { card_id, isHeld } = tools.focus.get()
            if (card_id !== card.id || !isHeld) tools.focusCard(card.id)
          }}
          onBlur={(event) => {
            // Without a related target the element was unmounted while focused: then the card keeps the focus.
            if (event.relatedTarget) tools.focus.update((focus) => ({ ...focus, isHeld: false }))
          }}
        >
          {card.title}
        </Link>
      )}
      {card.labels.length > 0 && (
        <span className="card-tags">
          {card.labels.map((label) => (
            <span key={label.id} className="tag" style={tinted(label.color)} dir="auto">
              {label.name}
            </span>
          ))}
        </span>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the link handles the keys */}
      <span
        className="card-foot"
        onClick={({ target, nativeEvent }) =>
          showPerson(target) || link.current?.dispatchEvent(new MouseEvent('click', nativeEvent))
        }
      >
        {number && <span className="card-number">{number}</span>}
        {card.due_on && <DueChip due_on={card.due_on} isDone={isDone} />}
        {card.description && (
          <span title={t.hasDescription}>
            <Icon name="text" size={14} />
            <span className="visually-hidden">{t.hasDescription}</span>
          </span>
        )}
        {all > 0 && <Progress done={done} all={all} />}
        {card.attachments.length > 0 && (
          <span title={t.files({ count: card.attachments.length })}>
            <Icon name="clip" size={14} />
            <span aria-hidden="true">{card.attachments.length}</span>
            <span className="visually-hidden">{t.files({ count: card.attachments.length })}</span>
          </span>
        )}
        {card.comment_count > 0 && (
          <span title={t.comments({ count: card.comment_count })}>
            <Icon name="comment" size={14} />
            <span aria-hidden="true">{card.comment_count}</span>
            <span className="visually-hidden">{t.comments({ count: card.comment_count })}</span>
          </span>
        )}
        <Avatars people={card.assignees} label={t.assignees} most={3} />
      </span>
      <Menu
        ref={menu}
        label={t.actionsFor({ title: card.title })}
        className="icon-button card-more"
        tabIndex={isTabStop ? 0 : -1}
        items={cardMenu(tools, card, isReadOnly)}
      >
        <Icon name="more" />
      </Menu>
    </div>
  )
})

/** A bar while some items are done, and a tick when all are. */
function Progress({ done, all }: { done: number; all: number }) {
  const text = t.progress({ done, all })
  return (
    <span className={done === all ? 'card-complete' : undefined} title={text}>
      {done === all && <Icon name="check" size={14} />}
      {done > 0 && done < all && (
        <span className="meter" aria-hidden="true">
          <b style={{ inlineSize: `${(done / all) * 100}%` }} />
        </span>
      )}
      <span aria-hidden="true">
        {done}/{all}
      </span>
      <span className="visually-hidden">{text}</span>
    </span>
  )
}

/** Shows where the dragged card would be dropped. */
export function Placeholder() {
  const tools = useTools()
  const dragging = useStore(tools.dragging)
  return <div className="placeholder" style={{ blockSize: dragging?.height }} />
}
