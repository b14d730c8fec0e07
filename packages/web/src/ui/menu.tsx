import { type ReactNode, type Ref, useImperativeHandle, useRef, useState } from 'react'
import { lazyComponent, whenIdle } from './lazy-component.tsx'
import type { MenuAnchor, MenuEntry } from './menu-types.ts'

/** Not part of the first load: the library is larger than the board. */
const OpenMenu = lazyComponent(async () => (await import('./open-menu.tsx')).OpenMenu)
whenIdle(() => void OpenMenu.fetch())

export interface MenuHandle {
  /** Opens the menu at a point of the window, as a context menu. */
  openAt: (x: number, y: number) => void
}
interface MenuProps {
  /** Accessible name of the button. */
  label: string
  items: readonly MenuEntry[]
  children: ReactNode
  className?: string
  tabIndex?: number
  ref?: Ref<MenuHandle>
}

/** A menu button. The menu itself is mounted only while it is open, because a board has one per card. */
export function Menu({ label, items, children, className = 'icon-button', tabIndex, ref }: MenuProps) {
  const [anchor, setAnchor] = useState<MenuAnchor>()
  const trigger = useRef<HTMLButtonElement>(null)
  const open = () => setAnchor(trigger.current ?? undefined)
  useImperativeHandle(
    ref,
    () => ({ openAt: (x, y) => setAnchor({ getBoundingClientRect: () => new DOMRect(x, y, 0, 0) }) }),
    [],
  )
  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={anchor !== undefined}
        tabIndex={tabIndex}
        onClick={(event) => {
          event.stopPropagation()
          if (anchor) setAnchor(undefined)
          else open()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === ' ') event.stopPropagation()
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          event.stopPropagation()
          open()
        }}
      >
        {children}
      </button>
      {anchor && (
        <OpenMenu
          label={label}
          items={items}
          anchor={anchor}
          trigger={trigger.current}
          onClose={() => setAnchor(undefined)}
        />
      )}
    </>
  )
}
