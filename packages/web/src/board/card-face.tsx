import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview'
import type { Card } from '@lockstep/client'
import { memo, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { progressOf } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { cardMenu } from '../board-state/card-menu.ts'
import { useMark } from '../board-state/marks.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Avatars, tinted } from '../ui/people.tsx'
import { useStore, useStorePart } from '../ui/store.ts'
import { dragPreview } from './drag-preview.ts'
import { TitleEditor } from './title-editor.tsx'

interface CardFaceProps {
  card: Card
  /** Roving tabindex: one card of each column is a Tab stop. */
  isTabStop: boolean
}

/** A card on the board. Memoized: renders only when the card or its state changes. */
export const CardFace = memo(function CardFace({ card, isTabStop }: CardFaceProps) {
  const tools = useTools()
  const face = useRef<HTMLDivElement>(null)
  const link = useRef<HTMLAnchorElement>(null)
  const focusCount = useStorePart(tools.focus, ({ card_id, count }) => (card_id === card.id ? count : -1))
  const isRenaming = useStorePart(tools.renaming, (card_id) => card_id === card.id)
  const isPending = useStorePart(tools.pending, (ids) => ids.has(card.id))
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
      canDrag: () => tools.renaming.get() !== card.id,
      getInitialData: () => ({ kind: 'card', id: card.id, height: element.offsetHeight }),
      onGenerateDragPreview: ({ nativeSetDragImage, location }) =>
        setCustomNativeDragPreview({ nativeSetDragImage, ...dragPreview(element, location.current.input) }),
    })
  }, [card.id, tools])

  const { done, all } = progressOf(card)
  const hasFoot = all > 0 || card.assignees.length > 0 || card.attachments.length > 0 || card.description
  return (
    <div
      ref={face}
      className={`card${isPending ? ' is-pending' : ''}${mark ? ' is-marked' : ''}`}
      style={mark && tinted(mark.color)}
      data-card-id={card.id}
    >
      {mark && <span className="card-mark">{mark.text}</span>}
      {card.labels.length > 0 && (
        <span className="card-tags">
          {card.labels.map((label) => (
            <span key={label.id} className="tag" style={tinted(label.color)}>
              {label.name}
            </span>
          ))}
        </span>
      )}
      {isRenaming ? (
        <TitleEditor card={card} />
      ) : (
        <Link
          ref={link}
          href={`/b/${tools.board_id}/c/${card.id}`}
          className="card-title"
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
      {hasFoot && (
        // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the link handles the keys
        <span
          className="card-foot"
          onClick={({ nativeEvent }) => link.current?.dispatchEvent(new MouseEvent('click', nativeEvent))}
        >
          {card.description && (
            <span title="Has a description">
              <Icon name="text" size={14} />
              <span className="visually-hidden">Has a description</span>
            </span>
          )}
          {all > 0 && (
            <span className="card-progress" title={`${done} of ${all} done`}>
              <span className="meter" aria-hidden="true">
                <b style={{ inlineSize: `${(done / all) * 100}%` }} />
              </span>
              <span aria-hidden="true">
                {done}/{all}
              </span>
              <span className="visually-hidden">{`${done} of ${all} done`}</span>
            </span>
          )}
          {card.attachments.length > 0 && (
            <span title={card.attachments.length === 1 ? '1 file' : `${card.attachments.length} files`}>
              <Icon name="clip" size={14} />
              {card.attachments.length}
              <span className="visually-hidden"> files</span>
            </span>
          )}
          <span className="spacer" />
          <Avatars people={card.assignees} label="Assigned" most={3} />
        </span>
      )}
      <CardMenu card={card} isTabStop={isTabStop} />
    </div>
  )
})

function CardMenu({ card, isTabStop }: CardFaceProps) {
  const tools = useTools()
  return (
    <Menu
      label={`Actions for ${card.title}`}
      className="icon-button card-more"
      tabIndex={isTabStop ? 0 : -1}
      items={cardMenu(tools, card)}
    >
      <Icon name="more" />
    </Menu>
  )
}

/** Shows where the dragged card would be dropped. */
export function Placeholder() {
  const tools = useTools()
  const dragging = useStore(tools.dragging)
  return <div className="placeholder" style={{ blockSize: dragging?.height }} />
}
