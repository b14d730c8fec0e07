import { useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import { dragPreview } from './drag-preview.ts'
import { dropCard } from './use-drags.ts'

/** A shorter touch is a tap or the start of scrolling. */
const LONG_PRESS_MS = 250
/** A finger that moves further before that scrolls, and afterwards drags. */
const TOLERANCE_PX = 8
/** Distance from an edge at which the board or the column scrolls, and its speed. */
const EDGE_PX = 56
const SCROLL_PX = 12

interface Point {
  clientX: number
  clientY: number
}

/**
 * Drags cards by a long press. Browsers on phones do not start a native drag reliably, so that touches are followed here;
 * the drop is the same as with a mouse.
 */
export function useTouchDrag(tools: BoardTools, strip: { current: HTMLElement | null }) {
  useEffect(() => {
    const element = strip.current
    if (!element) return
    let drag: TouchDrag | undefined
    const begin = (event: TouchEvent) => {
      const card = (event.target as Element).closest<HTMLElement>('[data-card-id]')
      const [touch] = event.touches
      drag?.cancel()
      drag = undefined
      if (
        !card ||
        !touch ||
        tools.isReadOnly ||
        event.touches.length > 1 ||
        (event.target as Element).closest('button, textarea')
      )
        return
      drag = new TouchDrag(tools, element, card, touch)
    }
    const move = (event: TouchEvent) => {
      const [touch] = event.touches
      // Without this the browser would scroll.
      if (touch && drag?.move(touch)) event.preventDefault()
    }
    const end = (event: TouchEvent) => {
      // Without this the browser would send a click, which opens the card.
      if (drag?.end()) event.preventDefault()
      drag = undefined
    }
    const cancel = () => {
      drag?.cancel()
      drag = undefined
    }
    // A long press opens the browser's menu.
    const preventMenu = (event: Event) => {
      if (drag) event.preventDefault()
    }
    element.addEventListener('touchstart', begin, { passive: true })
    element.addEventListener('touchmove', move, { passive: false })
    element.addEventListener('touchend', end)
    element.addEventListener('touchcancel', cancel)
    element.addEventListener('contextmenu', preventMenu, { capture: true })
    return () => {
      cancel()
      element.removeEventListener('touchstart', begin)
      element.removeEventListener('touchmove', move)
      element.removeEventListener('touchend', end)
      element.removeEventListener('touchcancel', cancel)
      element.removeEventListener('contextmenu', preventMenu, { capture: true })
    }
  }, [tools, strip])
}

/** One touch, from the press to the drop. */
class TouchDrag {
  private readonly tools: BoardTools
  private readonly strip: HTMLElement
  private readonly card: HTMLElement
  private readonly start: Point
  private readonly timer: ReturnType<typeof setTimeout>
  private at: Point
  private hasMoved = false
  private preview: HTMLElement | undefined
  private frame = 0

  constructor(tools: BoardTools, strip: HTMLElement, card: HTMLElement, start: Point) {
    this.tools = tools
    this.strip = strip
    this.card = card
    this.start = start
    this.at = start
    // A native drag would take the touch away.
    card.draggable = false
    this.timer = setTimeout(() => this.lift(), LONG_PRESS_MS)
  }

  /** Returns whether the card is being dragged. */
  move({ clientX, clientY }: Point): boolean {
    this.at = { clientX, clientY }
    const isFar = Math.hypot(clientX - this.start.clientX, clientY - this.start.clientY) > TOLERANCE_PX
    if (this.preview) {
      this.hasMoved ||= isFar
      return true
    }
    if (isFar) this.cancel()
    return false
  }

  /** Drops the card, unless the finger stayed where it was. Returns whether the card was lifted. */
  end(): boolean {
    const isLifted = this.preview !== undefined
    const { id, over } = this.tools.dragging.get() ?? {}
    this.cancel()
    if (isLifted && this.hasMoved && id && over) dropCard(this.tools, id, over)
    return isLifted
  }

  cancel() {
    clearTimeout(this.timer)
    cancelAnimationFrame(this.frame)
    this.card.draggable = true
    if (!this.preview) return
    this.preview.remove()
    this.preview = undefined
    this.strip.style.scrollSnapType = ''
    this.tools.dragging.set(undefined)
  }

  private lift() {
    const id = this.card.dataset['cardId']
    const found = this.tools.find(id)
    if (!id || !found) return
    navigator.vibrate?.(10)
    const preview = document.createElement('div')
    preview.className = 'touch-preview'
    const { getOffset, render } = dragPreview(this.card, this.start)
    render({ container: preview })
    const { x, y } = getOffset()
    Object.assign(preview.style, { left: `${-x}px`, top: `${-y}px` })
    document.body.append(preview)
    this.preview = preview
    // The board must scroll freely while the finger is at its edge.
    this.strip.style.scrollSnapType = 'none'
    this.tools.dragging.set({
      kind: 'card',
      id,
      height: this.card.offsetHeight,
      card: found.card,
      fromId: found.column.id,
      over: undefined,
    })
    this.follow()
  }

  /** Runs in every frame: moves the preview, scrolls at the edges, and finds the drop position. */
  private follow() {
    const { clientX, clientY } = this.at
    if (this.preview) this.preview.style.transform = `translate(${clientX}px, ${clientY}px)`
    const column = document
      .elementsFromPoint(clientX, clientY)
      .map((element) => element.closest<HTMLElement>('[data-column-id]'))
      .find((element) => element !== null)
    const list = column?.querySelector('.column-cards')
    scrollAtEdges(this.strip, clientX, this.start.clientX, 'x')
    if (list) scrollAtEdges(list, clientY, this.start.clientY, 'y')
    const column_id = column?.dataset['columnId']
    const index = column_id === undefined ? undefined : this.tools.dropIndexes.get(column_id)?.(clientY)
    this.tools.dragging.update((now) => {
      const over = column_id === undefined || index === undefined ? undefined : { column_id, index }
      const isSame = now?.over?.column_id === over?.column_id && now?.over?.index === over?.index
      return now && !isSame ? { ...now, over } : now
    })
    this.frame = requestAnimationFrame(() => this.follow())
  }
}

/** Scrolls while the finger is at an edge to which it moved. A card that is lifted there stays in view. */
function scrollAtEdges(element: Element, at: number, from: number, axis: 'x' | 'y') {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const [start, end] = axis === 'x' ? [left, right] : [top, bottom]
  const isBack = at < start + EDGE_PX && at < from - TOLERANCE_PX
  const isForward = at > end - EDGE_PX && at > from + TOLERANCE_PX
  if (!isBack && !isForward) return
  const step = isBack ? -SCROLL_PX : SCROLL_PX
  element.scrollBy({ [axis === 'x' ? 'left' : 'top']: step, behavior: 'instant' })
}
